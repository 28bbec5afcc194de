"""Who a coding agent is at the bridge, where its memory and its files are, which notes it watches.

A hook reads this at every call of its coding agent: it imports the standard library only, and of
``tiers`` what does so too.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from tiers.addresses import checked_base_url
from tiers.errors import ConfigError, refused
from tiers.saved_file import place_of, replace_file

FILE_NAME = "bridge.toml"
FILE_BYTES_MAX = 65_536
NAME_CHARS_MAX = 256
LIST_CHARS_MAX = 16_384
ALERT_TAG = "ingest-failure"
GRAPH = "bridge"
HALF_LIFE_DAYS = 45.0
HALF_LIFE_DAYS_MAX = 36_500.0
TIMEOUT_SECONDS = 10.0
"""Of one request: an agent that works waits for it."""
TIMEOUT_SECONDS_MAX = 600.0
WAIT_SECONDS = 2.0
"""Commands that have an embedded memory for themselves are over sooner than that."""
WAIT_SECONDS_MAX = 60.0

AGENT_VARIABLE = "EZRA_BRIDGE_AGENT"
STATE_VARIABLE = "EZRA_BRIDGE_STATE"
URL_VARIABLE = "EZRA_URL"
WATCH_VARIABLE = "EZRA_BRIDGE_WATCH_DIRS"
TYPES_VARIABLE = "EZRA_BRIDGE_TYPES"
RELATIONS_VARIABLE = "EZRA_BRIDGE_RELATIONS"
MEMORY_VARIABLE = "EZRA_BRIDGE_MEMORY_PATH"

_VARIABLES: Mapping[str, str] = {
    "agent": AGENT_VARIABLE,
    "graph": "EZRA_BRIDGE_GRAPH",
    "machine": "EZRA_BRIDGE_MACHINE",
    "half_life_days": "EZRA_BRIDGE_HALF_LIFE_DAYS",
    "timeout_seconds": "EZRA_BRIDGE_TIMEOUT_SECONDS",
    "wait_seconds": "EZRA_BRIDGE_WAIT_SECONDS",
    "url": URL_VARIABLE,
    "home": "EZRA_HOME",
    "token_file": "EZRA_TOKEN_FILE",
    "watch_dirs": WATCH_VARIABLE,
    "note_types": TYPES_VARIABLE,
    "note_relations": RELATIONS_VARIABLE,
    "memory_path": MEMORY_VARIABLE,
    "alert_tag": "EZRA_BRIDGE_ALERT_TAG",
}
_PATHS = ("home", "token_file", "memory_path")
_LISTS = ("watch_dirs", "note_types", "note_relations")
_NUMBERS: Mapping[str, float] = {
    "half_life_days": HALF_LIFE_DAYS_MAX,
    "timeout_seconds": TIMEOUT_SECONDS_MAX,
    "wait_seconds": WAIT_SECONDS_MAX,
}


@dataclass(frozen=True)
class BridgeConfig:
    """Who asks, as whom, and where.

    Attributes:
        state: Folder of the outbox, of the current task and of what else this machine notes.
        agent: The agent's name in the graph; needed for writing.
        graph: The session graph, which is made when it is missing.
        machine: What this machine is called.
        half_life_days: After so many days a memory counts half in recall.
        timeout_seconds: Of one request.
        wait_seconds: So long a command waits for another process that has the embedded data.
        url: The server, where there is one.
        home: The folder of embedded data, where there is no server; ``bridge_config`` gives one
            of the user's where nobody names one, so that every working directory has the same.
        token_file: A file with the server's token.
        watch_dirs: Folders of Markdown notes, as ``roots_of`` reads them; the folder
            of the command if empty.
        note_types: What the notes of a folder are, as ``notes.rules.rules_of`` reads it.
        note_relations: Own fields of notes that name other notes, with commas between.
        memory_path: Folder of the agent's own notes, for ``sync-memories``.
        alert_tag: Unread messages with this tag say that something failed.
    """

    state: Path
    agent: str | None = None
    graph: str = GRAPH
    machine: str = ""
    half_life_days: float = HALF_LIFE_DAYS
    timeout_seconds: float = TIMEOUT_SECONDS
    wait_seconds: float = WAIT_SECONDS
    url: str | None = None
    home: Path | None = None
    token_file: Path | None = None
    watch_dirs: str = ""
    note_types: str = ""
    note_relations: str = ""
    memory_path: Path | None = None
    alert_tag: str = ALERT_TAG

    @property
    def named_agent(self) -> str:
        """The agent's name.

        Raises:
            ConfigError: There is none; says how to give it.
        """
        if self.agent is None:
            reason = (
                "is not set, and who writes needs a name: run 'ezra bridge setup --agent NAME', "
                f"or set {AGENT_VARIABLE}"
            )
            raise ConfigError(AGENT_VARIABLE, reason)
        return self.agent

    @property
    def target(self) -> str:
        """The memory that is meant, as one line: a server's address, or a folder."""
        if self.url is not None:
            return self.url.rstrip("/")
        return str((self.home or Path(".ezra")).expanduser().absolute())

    @property
    def key(self) -> str:
        """Names this agent of this graph in this memory in names of files; 16 hex digits."""
        parts = "\n".join((self.target, self.graph, self.agent or ""))
        return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def at(self, *, url: str | None = None, home: Path | None = None) -> BridgeConfig:
        """Return the same for another memory, as options of a command name it.

        Raises:
            ConfigError: The address of the server cannot be one.
        """
        if url is None and home is None:
            return self
        return replace(self, url=None if url is None else _address(url, URL_VARIABLE), home=home)


def bridge_config(environment: Mapping[str, str] | None = None) -> BridgeConfig:
    """Return the configuration: the environment's, else the file's, else the defaults.

    Where neither a server nor a folder is named, the memory is the user's own: ``data_folder``.

    Args:
        environment: Variables; those of this process if not given.

    Raises:
        ConfigError: A value is not acceptable, or the file is not.
    """
    given = os.environ if environment is None else environment
    state = state_folder(given)
    found = _checked(state, read_file(state / FILE_NAME), _of_variables(given))
    if found.url is None and found.home is None:
        return replace(found, home=data_folder(given))
    return found


def data_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of the user's own embedded memory, whatever the working directory is.

    Raises:
        ConfigError: There is no home directory to put it in.
    """
    base = environment.get("XDG_DATA_HOME", "").strip() or "~/.local/share"
    try:
        return (Path(base).expanduser() / "ezra").absolute()
    except RuntimeError as error:
        raise ConfigError("EZRA_HOME", "there is no home directory; name a folder") from error


def state_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of the bridge's own files.

    Raises:
        ConfigError: There is no home directory to put it in.
    """
    named = environment.get(STATE_VARIABLE, "").strip()
    try:
        if named:
            return Path(named).expanduser().absolute()
        base = environment.get("XDG_STATE_HOME", "").strip() or "~/.local/state"
        return (Path(base).expanduser() / "ezra" / "bridge").absolute()
    except RuntimeError as error:
        raise ConfigError(STATE_VARIABLE, "there is no home directory; name a folder") from error


def read_file(path: Path) -> dict[str, Any]:
    """Return what a configuration file says; nothing when it is not there.

    Raises:
        ConfigError: It cannot be read, or says something unknown.
    """
    try:
        with path.open("rb") as file:
            data = file.read(FILE_BYTES_MAX + 1)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(str(path), f"cannot be read: {error.strerror or error}") from error
    if len(data) > FILE_BYTES_MAX:
        raise ConfigError(str(path), f"has more than {FILE_BYTES_MAX:,} bytes")
    import tomllib  # noqa: PLC0415 - who has no file does not pay for reading one

    try:
        values = tomllib.loads(data.decode())
    except ValueError as error:
        raise ConfigError(str(path), f"is no TOML: {error}") from error
    for name in values:
        if name not in _VARIABLES:
            raise ConfigError(f"{path}: {name}", f"is unknown; known: {', '.join(_VARIABLES)}")
    return values


def write_file(state: Path, changes: Mapping[str, str | float | None]) -> Path:
    """Write the configuration file: what it says already, with changes; return its path.

    The file is only its owner's, and is replaced in one step.

    Args:
        state: The folder it is in; made when missing.
        changes: By name; ``None`` leaves what is there, an empty text removes it.

    Raises:
        ConfigError: A value is not acceptable, or the file cannot be written.
    """
    path = state / FILE_NAME
    filed = {name: one for name, one in read_file(path).items() if changes.get(name) != ""}
    given = {name: one for name, one in changes.items() if one is not None and one != ""}
    _checked(state, filed, given)
    values = {**filed, **given}
    lines = [f"{name} = {_shown(values[name])}\n" for name in _VARIABLES if name in values]
    with refused(lambda why: ConfigError(str(path), f"cannot be written: {why}")):
        state.mkdir(parents=True, exist_ok=True, mode=0o700)
        replace_file(place_of(path), "".join(lines).encode())
    return path


def _of_variables(environment: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, variable in _VARIABLES.items():
        value = environment.get(variable, "").strip()
        if value:
            values[name] = value
    # Whoever names a memory in the environment means that one, whatever the file says.
    if "home" in values and "url" not in values:
        values["url"] = None
    return values


def _checked(state: Path, filed: Mapping[str, Any], given: Mapping[str, Any]) -> BridgeConfig:
    """Return the configuration of what the file says and of what is given, which is stronger.

    A value that is not acceptable is called what it was set by: the file, or a variable.
    """
    values: dict[str, Any] = {}
    for name, value in {**filed, **given}.items():
        called = _VARIABLES[name] if name in given else f"{state / FILE_NAME}: {name}"
        if value is None:
            continue
        if name in _NUMBERS:
            values[name] = _number(called, value, _NUMBERS[name])
        elif name in _PATHS:
            values[name] = _path(called, value)
        elif name in _LISTS:
            values[name] = _name(called, value, LIST_CHARS_MAX)
        elif name == "url":
            values[name] = _address(value, called)
        else:
            values[name] = _name(called, value)
    values.setdefault("machine", (platform.node() or "unnamed")[:NAME_CHARS_MAX])
    known = {one.name for one in fields(BridgeConfig)}
    return BridgeConfig(state=state, **{name: one for name, one in values.items() if name in known})


def _name(variable: str, value: object, most: int = NAME_CHARS_MAX) -> str:
    """Return a name, as ``tiers.fields.Name`` accepts it."""
    text = value.strip() if isinstance(value, str) else ""
    if not text or not text.isprintable() or len(text) > most:
        reason = f"must be a name of 1 to {most} printable characters, got {value!r:.80}"
        raise ConfigError(variable, reason)
    return text


def _address(value: object, called: str) -> str:
    """Return a server's address, as ``Ezra.connect`` accepts it: nobody waits for another one."""
    return checked_base_url(value if isinstance(value, str) else "", called)


def _path(variable: str, value: object) -> Path:
    try:
        return Path(_name(variable, value)).expanduser()
    except RuntimeError as error:
        raise ConfigError(variable, f"{value!r:.80} names no home directory") from error


def _number(variable: str, value: object, most: float) -> float:
    try:
        number = float(value) if isinstance(value, str | int | float) else math.nan
    except ValueError:
        number = math.nan
    if not 0 < number <= most:
        raise ConfigError(
            variable, f"must be a number above 0, {most:g} at most, got {value!r:.80}"
        )
    return number


def _shown(value: object) -> str:
    """Return a value as TOML writes it; JSON's texts are texts of TOML."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


ROOTS_MAX = 64


@dataclass(frozen=True, slots=True)
class Root:
    """A watched folder.

    Attributes:
        name: What its shelf is called after; the folder's own name unless another is configured.
        path: Where it is, without links on the way.
    """

    name: str
    path: Path


def roots_of(listed: str, folder: Path) -> tuple[Root, ...]:
    """Return the watched folders.

    Args:
        listed: A list with ``:`` (``;`` on Windows) between, each ``path`` or ``name=path``; empty
            for ``folder`` alone.
        folder: What paths are relative to.

    Raises:
        ConfigError: Two have one name, or one is inside of another.
    """
    entries = [one.strip() for one in listed.split(os.pathsep) if one.strip()] or ["."]
    if len(entries) > ROOTS_MAX:
        raise ConfigError(WATCH_VARIABLE, f"it has {len(entries)} folders; {ROOTS_MAX} at most")
    roots: list[Root] = []
    for entry in entries:
        name, is_named, path = entry.partition("=")
        where = folder / Path(path if is_named else entry).expanduser()
        # Links are resolved, so that one folder is the same by whichever way it is named.
        real = Path(os.path.realpath(where))
        root = Root((name.strip() if is_named else real.name) or "root", real)
        _check_apart(root, roots)
        roots.append(root)
    return tuple(roots)


def _check_apart(root: Root, others: Sequence[Root]) -> None:
    for other in others:
        if root.name == other.name:
            reason = f"two folders are called {root.name!r}; name one of them: name=path"
            raise ConfigError(WATCH_VARIABLE, reason)
        if root.path.is_relative_to(other.path) or other.path.is_relative_to(root.path):
            raise ConfigError(WATCH_VARIABLE, f"{root.path} and {other.path}: one is in the other")
