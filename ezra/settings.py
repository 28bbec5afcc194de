"""Settings: from arguments, then ``EZRA_*`` variables, then defaults that need no server."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from tiers.embedding.installed import default_model_folder
from tiers.errors import ConfigError
from tiers.records import Name


class Settings(BaseSettings):
    """How a runtime is built. Every field can be set as ``EZRA_<NAME>``.

    Attributes:
        home: Folder of the embedded data; one process owns it at a time.
        tenant: The isolation boundary of everything this runtime reads and writes.
        embedder: ``auto`` uses the installed model and answers without dense recall when there
            is none; ``off`` never loads it; ``required`` refuses to start without it.
        models: Folder of installed models; default: the user's cache folder.
        ring_capacity: Turns kept hot per agent (the original's default: 8).
        summary_ttl_hours: Life of a warm summary (the original's default: 24).
        turns_per_summary: Turns compressed into one summary.
        promote_at_uses: Uses that make an archival fact core (the original's default: 3).
        core_cap: Core facts per graph.
        context_tokens: Budget of an assembled context.
        step_timeout_seconds: Deadline of one store or embedder call inside a turn; a tier that
            is later is left out and the turn says so.
        model_timeout_seconds: Deadline of the language model in ``complete``.
        background: Whether the meta-agents run by themselves.
        learning_seconds: From one learning pass to the next.
        lifecycle_seconds: From one lifecycle pass to the next (the original's default: 300).

    Raises:
        ConfigError: A value is not acceptable; names the setting and why.
    """

    model_config = SettingsConfigDict(env_prefix="EZRA_", extra="forbid", frozen=True)

    home: Path = Path(".ezra")
    tenant: Name = "default"
    embedder: Literal["auto", "off", "required"] = "auto"
    models: Path | None = None
    ring_capacity: int = Field(default=8, ge=1, le=256)
    summary_ttl_hours: float = Field(default=24.0, gt=0)
    turns_per_summary: int = Field(default=8, ge=1, le=128)
    promote_at_uses: int = Field(default=3, ge=1)
    core_cap: int = Field(default=200, ge=1, le=5000)
    context_tokens: int = Field(default=4000, ge=64)
    step_timeout_seconds: float = Field(default=2.0, gt=0)
    model_timeout_seconds: float = Field(default=60.0, gt=0)
    background: bool = True
    learning_seconds: float = Field(default=1.0, gt=0)
    lifecycle_seconds: float = Field(default=300.0, gt=0)

    def __init__(self, **given: Any) -> None:  # noqa: ANN401 - any setting, checked below
        try:
            super().__init__(**given)
        except ValidationError as error:
            first = error.errors()[0]
            key = "EZRA_" + "_".join(str(part) for part in first["loc"]).upper()
            reason = f"{first['msg']}, got {first.get('input')!r}"
            raise ConfigError(key, reason) from error

    @property
    def summary_ttl(self) -> timedelta:
        """Life of a warm summary."""
        return timedelta(hours=self.summary_ttl_hours)

    def models_folder(self) -> Path:
        """Return the folder of installed models."""
        if self.models is not None:
            return self.models
        return default_model_folder(os.environ)
