"""Sources declared in a file, TOML or YAML, or as plain dictionaries of the same shape.

Secrets are in the environment: where a value may hold one, ``${NAME}`` stands for the variable.
No message says a value of such a place.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from tiers.errors import ConfigError, refused
from tiers.fields import Misfit

from .mcp_tools import McpSource
from .mongo import MongoSource
from .rest import RestSource
from .source import Source
from .specs import AnySpec, McpSpec, MongoSpec, RestSpec, SourceSpec, SqlSpec
from .sql import SqlSource

VARIABLE = "EZRA_MESH_FILE"
FILE_BYTES_MAX = 1024 * 1024
SOURCES_MAX = 100
TIMEOUT_SECONDS = 2.0
"""Of one answer, where neither the source nor the settings say."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET_HEADER = re.compile(r"auth|token|key|secret|cookie|password", re.IGNORECASE)
_SPEC: TypeAdapter[SourceSpec] = TypeAdapter(AnySpec)


def sources_of_file(path: Path, seconds: float = TIMEOUT_SECONDS) -> dict[str, Source]:
    """Return the sources that a file declares, by name; nothing is connected yet.

    Args:
        path: TOML, or YAML where it ends with ``.yaml`` or ``.yml``.
        seconds: How long an answer may take where a source does not say.

    Raises:
        ConfigError: The file cannot be read, or something in it is not acceptable: names the key.
    """
    found = _parsed(path)
    extra = sorted(set(found) - {"sources"})
    if extra:
        raise ConfigError(VARIABLE, f"{path}: {extra[0]}: only 'sources' stands at the top")
    declared = found.get("sources")
    if not isinstance(declared, dict) or not declared:
        raise ConfigError(VARIABLE, f"{path}: sources: at least one is needed, by name")
    if len(declared) > SOURCES_MAX:
        raise ConfigError(VARIABLE, f"{path}: sources: at most {SOURCES_MAX}")
    sources: dict[str, Source] = {}
    for name, fields in declared.items():
        sources[str(name)] = _source(str(name), fields, seconds, VARIABLE, f"{path}: sources.")
    return sources


def source_of(name: str, declared: Mapping[str, Any], seconds: float = TIMEOUT_SECONDS) -> Source:
    """Return a source declared as a dictionary, as a file would have it under ``sources.<name>``.

    Raises:
        ConfigError: Something is not acceptable: names the key.
    """
    return _source(name, dict(declared), seconds, "connectors", "")


def _source(name: str, fields: object, seconds: float, key: str, at: str) -> Source:
    where = f"{at}{name}"
    if not _NAME.fullmatch(name):
        raise ConfigError(key, f"{where}: a name has small letters, digits, _ and -")
    if not isinstance(fields, dict):
        raise ConfigError(key, f"{where}: kind and more is needed")
    try:
        spec = _SPEC.validate_python(_resolved(fields, key, where))
    except ValidationError as error:
        raise ConfigError(key, f"{where}{_problem(error)}") from None  # it would show the values
    return _built(name, spec, seconds)


def _built(name: str, spec: SourceSpec, seconds: float) -> Source:
    match spec:
        case SqlSpec():
            return SqlSource(name, spec, seconds)
        case MongoSpec():
            return MongoSource(name, spec, seconds)
        case RestSpec():
            return RestSource(name, spec, seconds)
        case _:
            return McpSource(name, cast("McpSpec", spec), seconds)


def _parsed(path: Path) -> dict[str, Any]:
    def unreadable(why: str) -> ConfigError:
        return ConfigError(VARIABLE, f"{path} cannot be read: {why}")

    with refused(unreadable), path.expanduser().open("rb") as file:
        content = file.read(FILE_BYTES_MAX + 1)
    if len(content) > FILE_BYTES_MAX:
        raise ConfigError(VARIABLE, f"{path} has more than {FILE_BYTES_MAX} bytes")
    try:
        text = content.decode()
        found = _yaml(text) if path.suffix in {".yaml", ".yml"} else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(VARIABLE, f"{path}: {_first_line(error)}") from None
    if not isinstance(found, dict):
        raise ConfigError(VARIABLE, f"{path}: sources: at least one is needed, by name")
    return found


def _yaml(text: str) -> object:
    """Return what YAML says.

    Raises:
        ValueError: It is none, or uses aliases, by which few bytes become very many values.
    """
    import yaml  # noqa: PLC0415 - only who writes YAML pays for it

    class Plain(yaml.SafeLoader):
        """Refuses aliases as it comes to them: to look for them before would read all twice."""

        def get_event(self) -> yaml.Event:
            event: yaml.Event = super().get_event()  # type: ignore[no-untyped-call]
            if isinstance(event, yaml.AliasEvent):
                raise ValueError("aliases are not accepted")
            return event

    try:
        return cast("object", yaml.load(text, Loader=Plain))  # noqa: S506 - it is a SafeLoader
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        raise ValueError(f"no YAML{line}") from None


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else "nested too deep"


def _resolved(fields: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    """Return what is declared, with variables of the environment put in where they may stand."""
    found = dict(fields)
    if isinstance(url := found.get("url"), str):
        _check_no_password(url, key, f"{where}.url")
        found["url"] = _expanded(url, key, f"{where}.url")
    for name in ("headers", "env"):
        if isinstance(held := found.get(name), dict):
            found[name] = {
                inner: _secret(inner, value, key, f"{where}.{name}.{inner}")
                for inner, value in held.items()
            }
    return found


def _secret(name: object, value: object, key: str, where: str) -> object:
    if not isinstance(value, str):
        return value
    if _SECRET_HEADER.search(str(name)) and not _REFERENCE.search(value):
        raise ConfigError(key, f"{where}: a secret stands in the environment: write ${{NAME}}")
    found = _expanded(value, key, where)
    if not found.isprintable():
        raise ConfigError(key, f"{where}: has control characters")
    return found


def _check_no_password(url: str, key: str, where: str) -> None:
    try:
        password = urlsplit(_REFERENCE.sub("", url)).password
    except ValueError:
        raise ConfigError(key, f"{where}: is no address") from None
    if password:
        raise ConfigError(key, f"{where}: a password stands in the environment: write ${{NAME}}")


def _expanded(text: str, key: str, where: str) -> str:
    def variable(found: re.Match[str]) -> str:
        value = os.environ.get(found[1])
        if value is None:
            raise ConfigError(key, f"{where}: the variable {found[1]} is not set")
        return value

    return _REFERENCE.sub(variable, text)


def _problem(error: ValidationError) -> str:
    """Return where the first thing is that does not fit, and why; never what it is."""
    first = Misfit.first_of(error)
    kinds = {"sql", "mongodb", "rest", "mcp", "enum", "integer", "date", "text", "entity"}
    parts = [str(part) for part in first.place]
    # A union names its branch in the place, which is no key of the file.
    shown = [part for at, part in enumerate(parts) if not (at in {0, 5} and part in kinds)]
    place = "".join(f".{part}" for part in shown)
    return f"{place}: {first.problem}"
