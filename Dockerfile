# ezra with its locked dependencies and the embedding model, for the service in compose.yaml.
FROM python:3.11-slim-bookworm

WORKDIR /opt/ezra
COPY scripts/requirements-image.lock scripts/requirements-image.lock
RUN pip install --no-cache-dir --require-hashes \
    -r scripts/requirements-image.lock -c scripts/requirements-image.lock
COPY pyproject.toml README.md LICENSE CHANGELOG.md ./
COPY ezra ezra
COPY metaagents metaagents
COPY tiers tiers
RUN pip install --no-cache-dir --no-deps .
COPY scripts/container scripts/container

RUN useradd --create-home ezra && install -d -m 700 -o ezra -g ezra /var/lib/ezra
USER ezra
WORKDIR /home/ezra
RUN ezra embedder install

ENV EZRA_HOME=/var/lib/ezra EZRA_SERVE_HOST=0.0.0.0
EXPOSE 8765
VOLUME /var/lib/ezra
ENTRYPOINT ["/opt/ezra/scripts/container"]
CMD ["serve"]
