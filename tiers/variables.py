"""Settings as the environment names them, and names that are none."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any, get_origin

from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource

from .errors import ConfigError

log = logging.getLogger(__name__)

_NO_SETTINGS = ("url", "token", "bridge_")
"""How variables begin that others read: the client of a server, and the bridge."""
_LIKENESS = 0.8
"""``mongo_uri`` is as near to ``mongodb_uri``, and ``home_dir`` to nothing."""


class NamedVariables(EnvSettingsSource):
    """Looks at those settings only that the environment names: a few, of a hundred.

    Looking at all of them takes as long as opening a store.
    """

    def __call__(self) -> dict[str, Any]:
        """Return what the environment sets; what it seems to mean to set is said in the log."""
        for variable, meant in _misspelled(self.env_vars, self.settings_cls):
            log.warning("%s is no setting and counts for nothing; near it: %s", variable, meant)
        found: dict[str, Any] = {}
        for name, field in self.settings_cls.model_fields.items():
            if f"{self.env_prefix}{name}".lower() not in self.env_vars:
                continue
            value, key, is_complex = self.get_field_value(field, name)
            try:
                found[key] = self.prepare_field_value(name, field, value, is_complex)
            except ValueError:
                raise ConfigError(
                    f"{self.env_prefix}{name}".upper(), _no_json(field, value)
                ) from None
        return found


def _no_json(field: FieldInfo, value: object) -> str:
    """Return what is accepted where a text is not the JSON that a setting takes."""
    is_object = get_origin(field.annotation) is dict
    example = '{"name": "value"}' if is_object else '["value"]'
    return f"{'an object' if is_object else 'a list'} in JSON, as {example}, got {value!r}"


def _misspelled(
    variables: Iterable[str], settings: type[BaseSettings]
) -> Iterator[tuple[str, str]]:
    """Return variables of the environment that look like a setting and are none, and that one."""
    for variable in variables:
        prefix, given, name = variable.lower().partition("ezra_")
        if prefix or not given or name in settings.model_fields or name.startswith(_NO_SETTINGS):
            continue
        if near := near_variable(name, settings):
            yield variable.upper(), near


def near_variable(name: str, settings: type[BaseSettings]) -> str | None:
    """Return the variable of the setting whose name looks most like one that is none."""
    near = get_close_matches(name, settings.model_fields, 1, _LIKENESS)
    return f"EZRA_{near[0]}".upper() if near else None
