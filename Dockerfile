# ezra with its locked dependencies and the embedding model, for the service in compose.yaml.
FROM python:3.11-slim

WORKDIR /opt/ezra
COPY scripts/requirements.lock scripts/requirements.lock
RUN pip install --no-cache-dir --require-hashes -r scripts/requirements.lock
COPY pyproject.toml README.md LICENSE CHANGELOG.md ./
COPY ezra ezra
COPY metaagents metaagents
COPY tiers tiers
RUN pip install --no-cache-dir --no-deps .

RUN useradd --create-home ezra
USER ezra
WORKDIR /home/ezra
RUN ezra embedder install

ENTRYPOINT ["ezra"]
CMD ["worker"]
