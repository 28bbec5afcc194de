"""Commands that write: insert, update, delete.

Each document is written on its own, as in MongoDB: a statement that fails leaves what it wrote
before. A write that meets a document of an open transaction waits, and is then matched again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from .engine import Command, Engine, Handler
from .errors import TRANSIENT, Blocked, CommandError, only, refuse
from .filters import compile_filter
from .planning import matching
from .sessions import write_conflict
from .store import Collection, checked_id, with_id
from .updates import compile_update, differs, is_update_operators, upserted
from .values import Document, Key, key_of

_UPDATE_FIELDS = frozenset({"q", "u", "multi", "upsert"})
_DELETE_FIELDS = frozenset({"q", "limit"})
_MAX_STATEMENTS = 100_000
_MAX_TRIES = 100

Statement = Callable[[int, Any], Awaitable[None]]
Change = Callable[[Document], Document | None]
Changed = tuple[Document, Document | None]  # the same document twice when nothing differs


async def _when_free(engine: Engine, write: Callable[[], Any]) -> Any:
    """Do ``write`` as soon as no open transaction is in its way."""
    deadline = engine.sessions.deadline()
    while True:
        try:
            return write()
        except Blocked:
            await engine.sessions.wait(deadline)


async def _insert_one(engine: Engine, target: Collection, document: Document) -> None:
    id_key = checked_id(document)
    if target.validator is not None:
        target.validator.check(document)
    await _when_free(engine, lambda: engine.sessions.insert(target, id_key, document))


async def _change_one(
    engine: Engine, target: Collection, id_key: Key, query: Document, change: Change
) -> Changed | None:
    """Change or remove one document; ``None`` when it does not match any more."""
    test = compile_filter(query)

    def write() -> Changed | None:
        before = target.get(id_key)
        if before is None or not test(before):
            return None
        after = change(before)
        if after is not None:
            if not differs(before, after):
                return before, before
            if target.validator is not None:
                target.validator.check(after)
        engine.sessions.write(target, id_key, after)
        return before, after

    done: Changed | None = await _when_free(engine, write)
    return done


async def _change_first(
    engine: Engine, target: Collection, query: Document, change: Change
) -> list[Changed]:
    """Change the first document that matches, if there is one."""
    for _ in range(_MAX_TRIES):
        found = matching(target, query, limit=1)
        if not found:
            return []
        done = await _change_one(engine, target, key_of(found[0]["_id"]), query, change)
        if done is not None:
            return [done]
    raise write_conflict(labels=())


async def _change_all(
    engine: Engine, target: Collection, query: Document, change: Change
) -> list[Changed]:
    """Change all documents that match."""
    ids = [key_of(found["_id"]) for found in matching(target, query)]
    tried = [await _change_one(engine, target, id_key, query, change) for id_key in ids]
    return [done for done in tried if done is not None]


async def _change_or_insert(
    engine: Engine, target: Collection, query: Document, update: Document
) -> tuple[list[Changed], Document | None]:
    """Upsert; return what was changed, or what was inserted.

    A duplicate key is met with another try when the filter matches by then: a racing upsert
    has inserted the document, and MongoDB tries again by itself.
    """
    change = compile_update(update)
    for _ in range(_MAX_TRIES):
        changed = await _change_first(engine, target, query, change)
        if changed:
            return changed, None
        document = with_id(upserted(query, update))
        try:
            await _insert_one(engine, target, document)
        except CommandError as error:
            if error.code != 11000 or not matching(target, query, limit=1):
                raise
        else:
            return [], document
    raise write_conflict(labels=())


async def _run(command: Command, statements: Any, statement: Statement) -> list[Document]:
    """Run statements in turn up to the first that fails; return ``writeErrors``."""
    if not command.body.get("ordered", True):
        refuse("a batch that is not ordered")
    if not isinstance(statements, list) or not 0 < len(statements) <= _MAX_STATEMENTS:
        raise CommandError(16, "Write batch sizes must be between 1 and 100000")
    for index, given in enumerate(statements):
        try:
            await statement(index, given)
        except CommandError as error:
            if TRANSIENT in error.labels or error.code == 238:
                raise
            return [error.write_error(index)]
    return []


def _reply(problems: list[Document], facts: Document) -> Document:
    return {**facts, **({"writeErrors": problems} if problems else {}), "ok": 1.0}


async def insert(engine: Engine, command: Command) -> Document:
    """Answer ``insert``."""
    body, target = command.body, engine.collection(command)
    facts = {"n": 0}

    async def statement(_: int, document: Any) -> None:
        await _insert_one(engine, target, with_id(document))
        facts["n"] += 1

    problems = await _run(command, body.get("documents"), statement)
    return _reply(problems, facts)


async def update(engine: Engine, command: Command) -> Document:
    """Answer ``update``."""
    body, target = command.body, engine.collection(command)
    facts: dict[str, Any] = {"n": 0, "nModified": 0}
    new: list[Document] = []

    async def statement(index: int, given: Any) -> None:
        only(_UPDATE_FIELDS, given, "update")
        query, multi = given["q"], bool(given.get("multi"))
        change = compile_update(given["u"])
        if multi and not is_update_operators(given["u"]):
            raise CommandError(9, "multi update is not supported for replacement-style update")
        if multi and given.get("upsert"):
            refuse("an upsert of several documents")
        inserted = None
        if given.get("upsert"):
            changed, inserted = await _change_or_insert(engine, target, query, given["u"])
        elif multi:
            changed = await _change_all(engine, target, query, change)
        else:
            changed = await _change_first(engine, target, query, change)
        if inserted is not None:
            new.append({"index": index, "_id": inserted["_id"]})
        facts["n"] += len(changed) + (inserted is not None)
        facts["nModified"] += sum(before is not after for before, after in changed)

    problems = await _run(command, body.get("updates"), statement)
    return _reply(problems, {**facts, **({"upserted": new} if new else {})})


def _removed(_: Document) -> None:
    return None


async def delete(engine: Engine, command: Command) -> Document:
    """Answer ``delete``."""
    body, target = command.body, engine.collection(command)
    facts = {"n": 0}

    async def statement(_: int, given: Any) -> None:
        only(_DELETE_FIELDS, given, "delete")
        if given.get("limit") not in {0, 1}:
            raise CommandError(9, "The limit field in delete objects must be 0 or 1")
        if given["limit"]:
            done = await _change_first(engine, target, given["q"], _removed)
        else:
            done = await _change_all(engine, target, given["q"], _removed)
        facts["n"] += len(done)

    problems = await _run(command, body.get("deletes"), statement)
    return _reply(problems, facts)


WRITES: dict[str, tuple[Handler, frozenset[str]]] = {
    "insert": (insert, frozenset({"documents", "ordered"})),
    "update": (update, frozenset({"updates", "ordered"})),
    "delete": (delete, frozenset({"deletes", "ordered"})),
}
