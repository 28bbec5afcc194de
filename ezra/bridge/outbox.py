"""What is to be written, kept on disk until the memory has it.

One file for each item, named by its id, in a folder for each agent, graph and memory::

    outbox/<key>/queue/<id>.json      waits, in the order of the ids
    outbox/<key>/refused/<id>.json    was refused for good, with the reason

A file is there whole or not at all: it is written beside its place, synced, and renamed. An item
leaves when the memory has acknowledged it. Its id is the id of the record that it makes, so that
sending it again, after an answer that was lost, makes no second one. Several processes may append
and send at once: locks of the operating system, which end with the process, keep them apart.

Nothing here is a coroutine: who runs an event loop calls it in a thread. A hook imports this at
every call of its coding agent: of other packages it needs the standard library only.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, TypeAlias
from uuid import UUID

from tiers.errors import Conflict, EzraError, NotFound, UsageError
from tiers.ids import IdFactory, system_clock
from tiers.saved_file import replace_file, sync_folder

from .config import BridgeConfig
from .own_files import locked, usable

ITEMS_MAX = 10_000
BYTES_MAX = 64 * 1024 * 1024
"""Of everything in an outbox, what was refused included."""

ITEM_BYTES_MAX = 4 * 1024 * 1024
LOCK_SECONDS = 10.0
"""How long another process of this machine is waited for."""

_MS = timedelta(milliseconds=1)
_STATES = ("queue", "refused")
_SUFFIX = ".json"
_HEAD_BYTES = 4_096
_SHOWN_BYTES = 4_096
_TIMED_VERSION = 7

Kind: TypeAlias = Literal[
    "remember",
    "forget",
    "send",
    "reply",
    "ack",
    "log",
    "task_start",
    "task_update",
    "task_done",
    "task_fail",
    "suspend_tasks",
]


class OutboxFull(EzraError):
    """There is no room for one more item. Nothing was written."""

    def __init__(self, items: int, size: int, items_max: int, bytes_max: int) -> None:
        super().__init__(
            f"the outbox is full: {items:,} of {items_max:,} items, {size:,} of {bytes_max:,} bytes"
            " wait; reach the memory and run 'ezra bridge sync', or drop what was refused"
        )
        self.items = items
        self.size = size


@dataclass(frozen=True)
class Item:
    """One thing to be written.

    Attributes:
        id: A UUID that sorts by time; of the record that it makes, too.
        at: When it was said, ISO 8601 in UTC.
        agent: As whom.
        machine: Where.
        graph: In which graph.
        target: In which memory: an address, or a folder.
        kind: What is to be done.
        arguments: With what; JSON values.
        attempts: How often the memory was reached with it and failed.
        reason: Why it was refused, when it was.
        refused_at: When.
    """

    id: str
    at: str
    agent: str
    machine: str
    graph: str
    target: str
    kind: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    attempts: int = 0
    reason: str | None = None
    refused_at: str | None = None

    @property
    def moment(self) -> datetime:
        """When it was said."""
        return datetime.fromisoformat(self.at)


@dataclass(frozen=True)
class Route:
    """Whose items they are, and where they go.

    Attributes:
        key: Names the route in names of files.
        target: The memory.
        graph: The graph.
        agent: The agent.
        machine: This machine.
    """

    key: str
    target: str
    graph: str
    agent: str
    machine: str

    @property
    def document(self) -> dict[str, Any]:
        """What an item says of its way."""
        return {name: one for name, one in asdict(self).items() if name != "key"}


class Outbox:
    """The outbox of one agent of one graph in one memory.

    Args:
        state: The folder of the bridge's files.
        route: Whose it is.
        clock: Where the time comes from.
        items_max: The most items of all outboxes in the folder.
        bytes_max: The most bytes of theirs.
    """

    def __init__(
        self,
        state: Path,
        route: Route,
        *,
        clock: Callable[[], datetime] = system_clock,
        items_max: int = ITEMS_MAX,
        bytes_max: int = BYTES_MAX,
    ) -> None:
        self.route = route
        self._all = state / "outbox"
        self._own = self._all / route.key
        self._clock = clock
        self._items_max = items_max
        self._bytes_max = bytes_max

    def append(self, kind: Kind, arguments: Mapping[str, Any]) -> Item:
        """Keep one more item behind all others; when this returns it is on the disk.

        Raises:
            OutboxFull: There is no room.
            UsageError: It is larger than ``ITEM_BYTES_MAX``, or its arguments are no JSON values.
            ConfigError: The folder cannot be written.
        """
        with self._usable(), self._writing():
            item = self._new_item(kind, arguments)
            data = _bytes_of(item)
            self._check_room(len(data))
            _put(self._folder("queue") / f"{item.id}{_SUFFIX}", data)
        return item

    def pending(self, limit: int = ITEMS_MAX) -> tuple[Item, ...]:
        """Return what waits, oldest first; what cannot be read is put to what was refused."""
        return self._read("queue", limit)

    def refused(self, limit: int = ITEMS_MAX) -> tuple[Item, ...]:
        """Return what was refused for good, oldest first."""
        return self._read("refused", limit)

    def is_empty(self) -> bool:
        """Whether nothing waits."""
        return not self._names("queue")

    def counts(self) -> tuple[int, int]:
        """Return how much waits, and how much was refused."""
        return len(self._names("queue")), len(self._names("refused"))

    def done(self, item_id: str) -> None:
        """Forget an item that the memory has; of one that is gone it does nothing."""
        with self._usable():
            self._file("queue", item_id).unlink(missing_ok=True)

    def failed(self, item: Item) -> Item:
        """Note that the memory was reached with an item and failed; return it as it is now."""
        now = replace(item, attempts=item.attempts + 1)
        with self._usable(), self._writing():
            _put(self._folder("queue") / f"{item.id}{_SUFFIX}", _bytes_of(now))
        return now

    def refuse(self, item: Item, reason: str) -> Item:
        """Put an item to what was refused, with the reason, and return it."""
        now = replace(item, reason=reason, refused_at=self._clock().isoformat())
        with self._usable(), self._writing():
            # First there, then not here: who dies between has it twice, and sends it once more.
            _put(self._folder("refused") / f"{item.id}{_SUFFIX}", _bytes_of(now))
            self._file("queue", item.id).unlink(missing_ok=True)
        return now

    def retry(self, item_id: str) -> Item:
        """Put what was refused back to its place among what waits, and return it.

        Raises:
            NotFound: Nothing of that id was refused.
        """
        with self._usable(), self._writing():
            item = replace(self._refused(item_id), attempts=0, reason=None, refused_at=None)
            _put(self._folder("queue") / f"{item.id}{_SUFFIX}", _bytes_of(item))
            self._file("refused", item_id).unlink(missing_ok=True)
        return item

    def drop(self, item_id: str) -> Item:
        """Give up what was refused, and return it.

        Raises:
            NotFound: Nothing of that id was refused.
        """
        item = self._refused(item_id)
        with self._usable():
            self._file("refused", item_id).unlink(missing_ok=True)
        return item

    @contextmanager
    def sending(self, wait_seconds: float = LOCK_SECONDS) -> Iterator[None]:
        """Be the only one that sends this agent's items, for the length of the block.

        Raises:
            Conflict: Another process sends them, and went on doing so.
            ConfigError: The folder cannot be written.
        """
        with self._usable():
            self._folder("queue")
        with self._lock(self._own / "send.lock", wait_seconds):
            yield

    def _new_item(self, kind: Kind, arguments: Mapping[str, Any]) -> Item:
        now, waiting = self._clock(), self._names("queue")
        last = time_of(waiting[-1]) if waiting else None
        # In order also where the clock went back, or another process was here this millisecond.
        earliest = now if last is None else max(now, last + _MS)
        return Item(
            id=IdFactory(lambda: earliest).new(),
            at=now.astimezone(UTC).isoformat(),
            **self.route.document,
            kind=kind,
            arguments=dict(arguments),
        )

    def _check_room(self, size: int) -> None:
        if size > ITEM_BYTES_MAX:
            raise UsageError("item", f"{size:,} bytes", f"at most {ITEM_BYTES_MAX:,} bytes")
        items = taken = 0
        for state in _STATES:
            for file in self._all.glob(f"*/{state}/*{_SUFFIX}"):
                with contextlib.suppress(FileNotFoundError):  # it was sent meanwhile
                    taken += file.stat().st_size
                    items += 1
        if items + 1 > self._items_max or taken + size > self._bytes_max:
            raise OutboxFull(items, taken, self._items_max, self._bytes_max)

    def _names(self, state: str) -> list[str]:
        """Return the ids in a folder, in order; others' files are passed over."""
        try:
            found = [one.name for one in (self._own / state).iterdir()]
        except FileNotFoundError:
            return []
        names = [one.removesuffix(_SUFFIX) for one in found if one.endswith(_SUFFIX)]
        return sorted(name for name in names if _is_id(name))

    def _read(self, state: Literal["queue", "refused"], limit: int) -> tuple[Item, ...]:
        items = []
        with self._usable():
            for name in self._names(state)[:limit]:
                item = self._item(state, name)
                if item is not None:
                    items.append(item)
        return tuple(items)

    def _item(self, state: Literal["queue", "refused"], name: str) -> Item | None:
        path = self._file(state, name)
        try:
            with path.open("rb") as file:
                data = file.read(ITEM_BYTES_MAX + _HEAD_BYTES)
        except FileNotFoundError:
            return None  # it was sent meanwhile
        try:
            item = Item(**json.loads(data))
        except (ValueError, TypeError) as error:
            item = self._unreadable(name, data)
            if state == "queue":
                # Kept, for people to look at; it must not stop the others.
                self.refuse(item, f"cannot be read: {type(error).__name__}")
                return None
        return replace(item, id=name)

    def _unreadable(self, name: str, data: bytes) -> Item:
        text = data[:_SHOWN_BYTES].decode("utf-8", "replace")
        return Item(
            id=name,
            at=self._clock().astimezone(UTC).isoformat(),
            **self.route.document,
            kind="unreadable",
            arguments={"text": text},
        )

    def _refused(self, item_id: str) -> Item:
        found = self._item("refused", item_id) if _is_id(item_id) else None
        if found is None:
            raise NotFound("refused item", item_id)
        return found

    def _file(self, state: str, item_id: str) -> Path:
        return self._own / state / f"{item_id}{_SUFFIX}"

    def _folder(self, state: str) -> Path:
        folder = self._own / state
        if not folder.is_dir():
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            for one in (self._own, self._all, self._all.parent):
                sync_folder(one)
        return folder

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Be the only one that writes files; remove what a process that died has left."""
        with self._lock(self._all / "append.lock", LOCK_SECONDS):
            for draft in self._own.glob("*/.*.tmp"):
                draft.unlink(missing_ok=True)
            yield

    @contextmanager
    def _lock(self, path: Path, wait_seconds: float) -> Iterator[None]:
        with locked(path, self._all, wait_seconds) as is_held:
            if not is_held:
                raise Conflict("outbox", "nobody else at it", "another process of this machine")
            yield

    def _usable(self) -> AbstractContextManager[None]:
        return usable(self._all)


def outbox_of(config: BridgeConfig, clock: Callable[[], datetime] = system_clock) -> Outbox:
    """Return the outbox of the agent, graph and memory that a configuration names.

    Raises:
        ConfigError: It names no agent.
    """
    route = Route(config.key, config.target, config.graph, config.named_agent, config.machine)
    return Outbox(config.state, route, clock=clock)


def time_of(record_id: str) -> datetime | None:
    """Return when an id was made, to the millisecond, where it says so: UUIDs of version 7 do."""
    try:
        given = UUID(record_id)
        if given.version == _TIMED_VERSION:
            return datetime.fromtimestamp((given.int >> 80) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        pass  # no id, or a time that no calendar has
    return None


def all_outboxes(state: Path) -> tuple[Route, ...]:
    """Return the routes that anything waits on, or was refused on, by their names of files."""
    routes = {}
    for kept in _STATES:
        for file in sorted((state / "outbox").glob(f"*/{kept}/*{_SUFFIX}")):
            key = file.parent.parent.name
            if key in routes:
                continue
            try:
                document = json.loads(file.read_bytes())
                names = {
                    name: str(document[name]) for name in ("target", "graph", "agent", "machine")
                }
            except (OSError, ValueError, KeyError, TypeError):
                continue
            routes[key] = Route(key=key, **names)
    return tuple(routes[key] for key in sorted(routes))


def _is_id(name: str) -> bool:
    try:
        return str(UUID(name)) == name
    except ValueError:
        return False


def _bytes_of(item: Item) -> bytes:
    try:
        return json.dumps(asdict(item), ensure_ascii=True, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise UsageError("arguments", item.kind, "values that JSON can carry") from error


def _put(file: Path, data: bytes) -> None:
    """Put a file in its place, whole and durable."""
    replace_file(file, data)
    sync_folder(file.parent)
