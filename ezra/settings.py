"""Settings: from arguments, then ``EZRA_*`` variables, then defaults that need no server."""

from __future__ import annotations

import logging
import math
import os
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import (
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from metaagents.guard.policy import GuardPolicy, checked_changes
from tiers.embedding.installed import default_model_folder
from tiers.errors import ConfigError
from tiers.fields import Misfit
from tiers.fleet import DAYS_MAX, WINDOW_MAX, WINDOW_MIN
from tiers.history.signing import is_public_key
from tiers.plans import AnyGrain, checked_plan
from tiers.quarantine import Action
from tiers.records import Name
from tiers.variables import NamedVariables, near_variable

from .ranking.priors import (
    CLASS_WEIGHTS,
    DECAY_HALF_DAYS,
    DECAY_OFFSET_DAYS,
    Priors,
    ScopeClass,
)

log = logging.getLogger(__name__)

CLASS_SETTINGS = tuple(f"recall_weight_{name}" for name in CLASS_WEIGHTS)

EMBEDDERS = ("auto", "off", "required", "gemini", "openai")
SECONDS_MAX = 86_400 * DAYS_MAX
"""Of any span: never, as far as calendars go. What is longer has no place in them."""
FASTEMBED = "fastembed:"
"""Before the name of a model of the fastembed library."""

_SECRETS = frozenset(
    "EZRA_REDIS_URL EZRA_QDRANT_URL EZRA_QDRANT_API_KEY EZRA_MONGODB_URI EZRA_GEMINI_API_KEY "
    "EZRA_OPENAI_API_KEY EZRA_SIGNING_KEY EZRA_NLI_API_KEY EZRA_RERANK_API_KEY".split()
)


class Settings(BaseSettings):
    """How a runtime is built. Every field can be set as ``EZRA_<NAME>``.

    Attributes:
        home: Folder of the embedded data; one process owns it at a time.
        tenant: The isolation boundary of everything this runtime reads and writes.
        redis_url: Puts the hot tier on a Redis: ``redis://``, ``rediss://``, ``unix://``,
            ``redis+sentinel://`` or ``redis+cluster://``. Embedded if not given.
        redis_prefix: Before every key, so that several runtimes can share a Redis.
        redis_connections: The most connections to Redis.
        qdrant_url: Puts the warm tier on a Qdrant server: ``http://`` or ``https://``. Embedded
            if not given.
        qdrant_api_key: For a Qdrant server that asks for one.
        qdrant_prefix: Before the name of every collection.
        qdrant_shards: Shards of a new collection; the server's default if not given.
        qdrant_replicas: Copies of each shard of a new collection; the server's default likewise.
        qdrant_quantization: How vectors are held in memory beside the exact ones on disk.
        mongodb_uri: Puts the cold tier on MongoDB or Atlas: ``mongodb://`` or ``mongodb+srv://``.
            Embedded if not given.
        mongodb_database: Name of the database.
        mongodb_driver: ``pymongo``, or ``motor`` for teams that must keep it.
        mongodb_connections: The most connections to MongoDB.
        server_timeout_seconds: The whole time of one operation on a server, retries included.
        embedder: ``auto`` uses the installed model and answers without dense recall when there
            is none; ``off`` never loads it; ``required`` refuses to start without it; ``gemini``
            and ``openai`` ask a provider; ``fastembed:`` and a name is one of fastembed's models.
        models: Folder of installed models; default: the user's cache folder.
        embedding_model: The provider's name of its embedding model; its usual one if not given.
        embedding_dimensions: Length of a provider's vectors; the model's usual one if not given.
        llm: Who answers in ``complete``: nobody (an echo that says so), ``gemini`` or ``openai``.
        llm_model: The provider's name of its language model.
        gemini_api_key: For Gemini.
        gemini_base_url: Another address of the Gemini API.
        openai_api_key: For an OpenAI-compatible endpoint; local ones need none.
        openai_base_url: Its address; OpenAI's own if not given.
        requests_per_minute: The most requests per minute to a provider; unlimited if not given.
        ring_capacity: Turns kept hot per agent (the original's default: 8).
        summary_ttl_hours: Life of a warm summary (the original's default: 24).
        turns_per_summary: Turns compressed into one summary.
        time_zone: Where days, weeks and months begin, by its IANA name: ``Europe/Berlin``.
        prompts: What a language model is told to write summaries and episodes with, by grain
            (``working``, ``daily``, …); as JSON. An agent's own prompts come first.
        guard: What the write guard does instead of its defaults, as JSON: ``<source>.<detector>``
            to ``allow``, ``redact``, ``quarantine`` or ``block``, with ``*`` for every one.
        retention_plan: How long turns, summaries and episodes keep their content, where a graph
            says nothing else: ``keep``, ``free``, ``starter``, ``pro``, or such as
            ``working=48h,daily=30d``.
        superseded_facts_days: Days that a fact keeps its content after it gave way to another
            (Martha's default: 90).
        forgotten_facts_days: The same after somebody asked to forget it (Martha's default: 30).
        retention_share_max: The share of all records of a grain that one retention pass touches
            without being forced to.
        retention_records_min: So few records are never too large a share.
        meta_agents_model: ``auto`` lets the meta-agents use the configured language model;
            ``off`` keeps them to what needs none.
        work_lease_seconds: After so long, work of a runtime that died is taken over by another.
        index_backlog_max: So many records may wait to be indexed before writers wait for the
            index, 10 s at most for each write.
        promote_at_uses: Uses that make an archival fact core (the original's default: 3).
        core_cap: Core facts per graph; above it some are demoted.
        core_facts_max: Core facts in one context.
        core_share: The most of a context's tokens that they take.
        context_tokens: Budget of an assembled context.
        model_window_tokens: What the model can hold. Contexts then show the last 12 to 20 messages,
            as far as ``context_tokens`` allow, and begin alike from turn to turn. Not minded if not
            given.
        context_shrink_above: From this share of the window on, used by the turn before, 4 are
            shown and the rest is left to recall (the original's default: 0.8).
        context_grow_below: Below this share there are 12 to 20 again.
        step_timeout_seconds: Deadline of one store or embedder call inside a turn; a tier that
            is later is left out and the turn says so.
        model_timeout_seconds: Deadline of the language model in ``complete``.
        signing_key: An Ed25519 private key that signs belief logs: PEM, or 32 bytes in
            hexadecimal or base64.
        signing_key_file: A file that holds it; ``signing-key.pem`` in ``home`` if neither is
            given and a tier is embedded, made when it is first needed.
        former_keys: Public keys, in hexadecimal digits, of homes that belief logs were moved here
            from. What they have signed counts when a log is verified; nothing is signed by them.
        sign_seconds: From one signed head of a growing belief log to the next, at least.
        resolution_timeout_seconds: How long an ``on_contradiction`` callback may take to decide
            (the original's default: 30).
        contradiction_similarity: Cosine of two claims without a key above which the judge is
            asked (the original's default: 0.85); the rules look at every claim that was found.
        nli_url: Address of a cross-encoder that judges contradictions, TEI-style; the rules that
            come with ezra judge if not given.
        nli_api_key: For a cross-encoder that asks for one.
        nli_contradiction_label: What the cross-encoder calls a contradiction; some say
            ``LABEL_0`` or ``LABEL_2``.
        judge: Who judges contradictions of claims without a key: ``rules``, ``nli`` (with
            ``nli_url``) or ``llm``; ``auto`` is ``nli`` where there is an address, else ``rules``.
        reranker: ``fastembed:`` and the name of one of its cross-encoders, which is run here.
        rerank_url: Address of a reranker, which is sent what a recall found and moves it; recall
            keeps its own order if not given, and whenever the reranker does not answer.
        rerank_api_key: For a reranker that asks for one.
        rerank_style: What it speaks: ``tei`` (Text Embeddings Inference) or ``cohere`` (Cohere,
            Jina, vLLM and others; the address ends with a version, or ``/v2`` is asked).
        rerank_model: Its name for the model; ``rerank-v3.5`` for ``cohere`` if not given.
        rerank_candidates: How many of the best of a recall are sent to it.
        rerank_timeout_seconds: How long it may take.
        recall_weight_session: What a hit counts that was said or believed in this graph, where
            recall asks everywhere (the original's default: 1.3). 0 leaves such hits out; what is
            no number of at least 0 counts as the default. The same for the next three.
        recall_weight_user: For facts and rules of the asking agent's user (1.1).
        recall_weight_agent: For those that the asking agent wrote (1.0).
        recall_weight_tenant: For documents and what is inherited (1.0).
        recall_decay_offset_days: For so many days nothing fades in recall (Atlas: 180).
        recall_half_life_days: So many days after that, half of a score is left (Atlas: 1825).
        recall_receipts: Whether every recall keeps a receipt of what it saw.
        mesh_file: A file, TOML or YAML, that declares live sources and what they may be asked; none
            if not given.
        background: Whether the meta-agents run by themselves.
        learning_seconds: From one pass of indexing and counting uses to the next.
        extract_seconds: From one pass of learning from turns and judging facts to the next; turns
            that come in between are read together.
        lifecycle_seconds: From one lifecycle pass over active graphs to the next (the original's
            default: 300).
        closed_lifecycle_seconds: The same over closed graphs (the original's default: 3600).
        heartbeat_seconds: The sign of life of an agent that speaks is written so often at most.
        agent_timeout_seconds: An agent without a sign of life for so long is let go; above
            ``heartbeat_seconds``, so that one late beat costs nobody its place.
        archive_after_days: Idle days after which a closed graph is archived (the original's
            default: 90).
        serve_host: Where ``ezra serve`` listens: a name or an address. Beyond loopback it needs a
            token that counts.
        serve_port: The port; 0 takes a free one.
        tokens_file: Who may ask the server; ``tokens.json`` in ``home`` if not given. It holds
            hashes, and is changed by ``ezra token`` while a server runs.
        serve_jwt_issuer: The identity provider whose tokens let in besides the server's own: its
            address, as they have it in ``iss``.
        serve_jwt_audience: What its tokens for this server have in ``aud``.
        serve_jwt_keys_url: Where its keys are; found by its discovery document if not given.
        serve_jwt_claim: The claim that says what a bearer may do: an object with ``role`` and,
            where they limit it, ``graph_id``, ``agent_id``, ``user_id``, ``topics``, ``tenant``.
        serve_requests_per_minute: The most requests per minute of one token; unlimited if not
            given. A server that needs no token limits nobody.
        serve_body_bytes_max: The largest request that the server reads.
        serve_head_seconds: How long the head of a request may take to arrive.
        serve_body_seconds: How long its body may.
        serve_requests_at_work: The most requests that are answered at a time, feeds among them;
            whoever asks for more is told so, except for the server's health.
        serve_requests_at_work_per_peer: Of these, of one address. Behind a proxy, which is one
            address, give it as many as there are.
        serve_log: How the server's log is written on standard error: ``json``, an object a line,
            or ``text`` for people. Ids and numbers either way.
        otlp_endpoint: Where spans are sent, by OTLP over HTTP: ``http://127.0.0.1:4318``. Nothing
            is sent if not given. Needs the extra ``telemetry``; what a collector asks for besides
            comes from OpenTelemetry's own ``OTEL_EXPORTER_OTLP_HEADERS`` and the like.

    Raises:
        ConfigError: A value is not acceptable; names the setting and why.
    """

    model_config = SettingsConfigDict(env_prefix="EZRA_", extra="forbid", frozen=True)

    home: Path = Path(".ezra")
    tenant: Name = "default"
    redis_url: SecretStr | None = None
    redis_prefix: Name = "ezra"
    redis_connections: int = Field(default=64, ge=1, le=10_000)
    qdrant_url: SecretStr | None = None
    qdrant_api_key: SecretStr | None = None
    qdrant_prefix: Name = "ezra"
    qdrant_shards: int | None = Field(default=None, ge=1, le=1024)
    qdrant_replicas: int | None = Field(default=None, ge=1, le=64)
    qdrant_quantization: Literal["none", "scalar", "binary"] = "none"
    mongodb_uri: SecretStr | None = None
    mongodb_database: Name = "ezra"
    mongodb_driver: Literal["pymongo", "motor"] = "pymongo"
    mongodb_connections: int = Field(default=64, ge=1, le=10_000)
    server_timeout_seconds: float = Field(default=10.0, gt=0, le=SECONDS_MAX)
    embedder: str = "auto"
    models: Path | None = None
    embedding_model: Name | None = None
    embedding_dimensions: int | None = Field(default=None, ge=1, le=16_384)
    llm: Literal["none", "gemini", "openai"] = "none"
    llm_model: Name | None = None
    gemini_api_key: SecretStr | None = None
    gemini_base_url: str | None = None
    openai_api_key: SecretStr | None = None
    openai_base_url: str | None = None
    requests_per_minute: int | None = Field(default=None, ge=1)
    ring_capacity: int = Field(default=8, ge=1, le=256)
    summary_ttl_hours: float = Field(default=24.0, gt=0, le=24 * DAYS_MAX)
    turns_per_summary: int = Field(default=8, ge=1, le=128)
    time_zone: str = "UTC"
    prompts: dict[AnyGrain, str] = Field(default_factory=dict)
    guard: dict[str, Action] = Field(default_factory=dict)
    retention_plan: str = "keep"
    superseded_facts_days: float = Field(default=90.0, gt=0, le=DAYS_MAX)
    forgotten_facts_days: float = Field(default=30.0, gt=0, le=DAYS_MAX)
    retention_share_max: float = Field(default=0.5, gt=0, le=1)
    retention_records_min: int = Field(default=200, ge=0)
    meta_agents_model: Literal["auto", "off"] = "auto"
    work_lease_seconds: float = Field(default=120.0, ge=1, le=86_400)
    index_backlog_max: int = Field(default=1_000, ge=1, le=1_000_000)
    promote_at_uses: int = Field(default=3, ge=1)
    core_cap: int = Field(default=200, ge=1, le=5000)
    core_facts_max: int = Field(default=48, ge=1, le=5000)
    core_share: float = Field(default=0.5, gt=0, le=1)
    context_tokens: int = Field(default=4000, ge=64)
    model_window_tokens: int | None = Field(default=None, ge=WINDOW_MIN, le=WINDOW_MAX)
    context_shrink_above: float = Field(default=0.8, gt=0, le=1)
    context_grow_below: float = Field(default=0.5, gt=0, le=1)
    step_timeout_seconds: float = Field(default=2.0, gt=0, le=SECONDS_MAX)
    model_timeout_seconds: float = Field(default=60.0, gt=0, le=SECONDS_MAX)
    signing_key: SecretStr | None = None
    signing_key_file: Path | None = None
    former_keys: tuple[str, ...] = ()
    sign_seconds: float = Field(default=300.0, gt=0, le=SECONDS_MAX)
    resolution_timeout_seconds: float = Field(default=30.0, gt=0, le=SECONDS_MAX)
    contradiction_similarity: float = Field(default=0.85, gt=0, le=1)
    nli_url: str | None = None
    nli_api_key: SecretStr | None = None
    nli_contradiction_label: Name = "contradiction"
    judge: Literal["auto", "rules", "nli", "llm"] = "auto"
    reranker: str | None = None
    rerank_url: str | None = None
    rerank_api_key: SecretStr | None = None
    rerank_style: Literal["tei", "cohere"] = "tei"
    rerank_model: Name | None = None
    rerank_candidates: int = Field(default=40, ge=1, le=200)
    rerank_timeout_seconds: float = Field(default=2.0, gt=0, le=600)
    recall_weight_session: float = CLASS_WEIGHTS["session"]
    recall_weight_user: float = CLASS_WEIGHTS["user"]
    recall_weight_agent: float = CLASS_WEIGHTS["agent"]
    recall_weight_tenant: float = CLASS_WEIGHTS["tenant"]
    recall_decay_offset_days: float = Field(default=DECAY_OFFSET_DAYS, ge=0, le=DAYS_MAX)
    recall_half_life_days: float = Field(default=DECAY_HALF_DAYS, gt=0, le=DAYS_MAX)
    recall_receipts: bool = False
    mesh_file: Path | None = None
    background: bool = True
    learning_seconds: float = Field(default=1.0, gt=0, le=SECONDS_MAX)
    extract_seconds: float = Field(default=15.0, gt=0, le=SECONDS_MAX)
    lifecycle_seconds: float = Field(default=300.0, gt=0, le=SECONDS_MAX)
    closed_lifecycle_seconds: float = Field(default=3600.0, gt=0, le=SECONDS_MAX)
    heartbeat_seconds: float = Field(default=30.0, gt=0, le=SECONDS_MAX)
    agent_timeout_seconds: float = Field(default=300.0, gt=0, le=SECONDS_MAX)
    archive_after_days: float = Field(default=90.0, gt=0, le=DAYS_MAX)
    serve_host: str = Field(default="127.0.0.1", min_length=1, max_length=253)
    serve_port: int = Field(default=8765, ge=0, le=65_535)
    tokens_file: Path | None = None
    serve_jwt_issuer: str | None = None
    serve_jwt_audience: str | None = None
    serve_jwt_keys_url: str | None = None
    serve_jwt_claim: Name = "ezra"
    serve_requests_per_minute: int | None = Field(default=12_000, ge=1)
    serve_body_bytes_max: int = Field(default=4_194_304, ge=1_024, le=268_435_456)
    serve_head_seconds: float = Field(default=10.0, gt=0, le=600)
    serve_body_seconds: float = Field(default=30.0, gt=0, le=3_600)
    serve_requests_at_work: int = Field(default=1_000, ge=1, le=60_000)
    serve_requests_at_work_per_peer: int = Field(default=500, ge=1, le=60_000)
    serve_log: Literal["json", "text"] = "json"
    otlp_endpoint: str | None = None

    @field_validator("*", mode="before")
    @classmethod
    def _blank_is_unset(cls, value: object, info: ValidationInfo) -> object:
        """Take an empty variable as not set where that is possible, as container files write it."""
        default = cls.model_fields[str(info.field_name)].default
        can_be_unset = default is None or isinstance(default, Path)
        return default if can_be_unset and isinstance(value, str) and not value.strip() else value

    @field_validator(*CLASS_SETTINGS, mode="before")
    @classmethod
    def _weight_or_default(cls, value: object, info: ValidationInfo) -> object:
        """Fall back on the default: a weight that cannot be meant must not stop an installation."""
        name = str(info.field_name)
        default = cls.model_fields[name].default
        try:
            weight = float(str(value))
        except ValueError:
            weight = -1.0
        if 0 <= weight < math.inf:
            return weight
        log.warning(
            "EZRA_%s is %r, no number of at least 0: %g counts", name.upper(), value, default
        )
        return default

    @field_validator("embedder", "reranker")
    @classmethod
    def _is_known(cls, value: str | None, info: ValidationInfo) -> str | None:
        choices = EMBEDDERS if info.field_name == "embedder" else ()
        if value is None or value in choices or fastembed_name(value):
            return value
        accepted = [*map(repr, choices), "fastembed: and the name of a model"]
        message = f"must be {', '.join(accepted[:-1])}{' or ' if choices else ''}{accepted[-1]}"
        raise ValueError(message)

    @model_validator(mode="after")
    def _has_one_reranker(self) -> Self:
        if self.reranker is not None and self.rerank_url is not None:
            raise ConfigError("EZRA_RERANKER", "and EZRA_RERANK_URL are two; one can rerank")
        return self

    @field_validator("time_zone")
    @classmethod
    def _is_a_zone(cls, name: str) -> str:
        try:
            return ZoneInfo(name.strip()).key
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            message = "must be the IANA name of a time zone, such as UTC or Europe/Berlin"
            raise ValueError(message) from error

    @field_validator("guard")
    @classmethod
    def _names_what_is_guarded(cls, changes: dict[str, Action]) -> dict[str, Action]:
        return checked_changes(changes)

    @field_validator("former_keys")
    @classmethod
    def _are_public_keys(cls, keys: tuple[str, ...]) -> tuple[str, ...]:
        if not all(map(is_public_key, keys)):
            message = "must be public keys, each of 64 lower-case hexadecimal digits"
            raise ValueError(message)
        return keys

    @field_validator("retention_plan")
    @classmethod
    def _is_a_plan(cls, text: str) -> str:
        return checked_plan(text)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - pydantic's signature
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Look into files only where one is named: it costs as much as reading the environment."""
        places = ((dotenv_settings, "env_file"), (file_secret_settings, "secrets_dir"))
        files = [source for source, place in places if getattr(source, place)]
        return (init_settings, NamedVariables(settings_cls), *files)

    def __init__(self, **given: Any) -> None:  # noqa: ANN401 - any setting, checked below
        try:
            super().__init__(**given)
        except ValidationError as error:
            first = Misfit.first_of(error)
            name, *inside = map(str, first.place or ("",))
            key = f"EZRA_{name}".upper()
            if first.place and first.place[0] not in type(self).model_fields:
                # The value stays unsaid: in a misspelled address there may be a password.
                near = near_variable(str(first.place[0]), type(self))
                known = f"; near it: {near}" if near else ""
                raise ConfigError(key, f"no such field{known}") from None
            shown = "a secret" if key in _SECRETS else repr(first.value)
            where = f"{'.'.join(inside)}: " if inside else ""
            raise ConfigError(key, f"{where}{first.accepted}, got {shown}") from error

    @model_validator(mode="after")
    def _silence_outlasts_a_beat(self) -> Self:
        if self.agent_timeout_seconds <= self.heartbeat_seconds:
            beat = self.heartbeat_seconds
            reason = f"must be above EZRA_HEARTBEAT_SECONDS ({beat:g}), got "
            raise ConfigError(
                "EZRA_AGENT_TIMEOUT_SECONDS", f"{reason}{self.agent_timeout_seconds:g}"
            )
        return self

    @model_validator(mode="after")
    def _grows_where_it_would_not_shrink(self) -> Self:
        if self.context_grow_below > self.context_shrink_above:
            most = self.context_shrink_above
            reason = f"must be at most EZRA_CONTEXT_SHRINK_ABOVE ({most:g}), got "
            raise ConfigError("EZRA_CONTEXT_GROW_BELOW", f"{reason}{self.context_grow_below:g}")
        return self

    @model_validator(mode="after")
    def _provider_has_an_audience(self) -> Self:
        if (self.serve_jwt_issuer is None) != (self.serve_jwt_audience is None):
            missing = "ISSUER" if self.serve_jwt_issuer is None else "AUDIENCE"
            reason = "is needed: tokens are those of an issuer for an audience"
            raise ConfigError(f"EZRA_SERVE_JWT_{missing}", reason)
        return self

    @property
    def needs_home(self) -> bool:
        """Whether a tier is embedded that keeps its data in ``home``."""
        return self.qdrant_url is None or self.mongodb_uri is None

    @property
    def zone(self) -> ZoneInfo:
        """The time zone of days, weeks and months."""
        return ZoneInfo(self.time_zone)

    @property
    def priors(self) -> Priors:
        """How age and scope class count in recall."""
        weights: dict[ScopeClass, float] = {
            "session": self.recall_weight_session,
            "user": self.recall_weight_user,
            "agent": self.recall_weight_agent,
            "tenant": self.recall_weight_tenant,
        }
        return Priors(self.recall_decay_offset_days, self.recall_half_life_days, weights)

    @property
    def guard_policy(self) -> GuardPolicy:
        """What the write guard does."""
        return GuardPolicy(self.guard)

    @property
    def summary_ttl(self) -> timedelta:
        """Life of a warm summary."""
        return timedelta(hours=self.summary_ttl_hours)

    @property
    def tokens_path(self) -> Path:
        """The file of tokens."""
        return self.tokens_file or self.home / "tokens.json"

    def models_folder(self) -> Path:
        """Return the folder of installed models."""
        if self.models is not None:
            return self.models
        return default_model_folder(os.environ)


def fastembed_name(value: str | None) -> str | None:
    """Return the name of a model of fastembed's that a setting asks for; ``None``: of none."""
    name = (value or "").removeprefix(FASTEMBED).strip()
    return name if name and value is not None and value.startswith(FASTEMBED) else None
