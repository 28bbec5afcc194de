"""From a command to its answer: what is known, what it may carry, and in which session it runs."""

from __future__ import annotations

import asyncio
from typing import Any

from bson import Timestamp

from .admin import ADMIN
from .engine import Command, Engine
from .errors import CommandError, only
from .reads import READS
from .search import SEARCH_COMMANDS
from .sessions import Session, Transaction, no_such_transaction
from .values import Document
from .writes import WRITES

COMMANDS = {**ADMIN, **READS, **WRITES, **SEARCH_COMMANDS}

# What any command may carry beside its own fields.
ENVELOPE = frozenset(
    {
        *("$db", "$clusterTime", "$readPreference", "lsid", "txnNumber"),
        *("autocommit", "startTransaction"),
    }
)
_COMMON = ENVELOPE | {"comment", "let", "maxTimeMS", "readConcern", "writeConcern"}
_NUMBERED = frozenset({"insert", "update", "delete"})
_AT_A_MOMENT = frozenset({"find", "aggregate"})
_IN_TRANSACTION = _NUMBERED | _AT_A_MOMENT | {"getMore", "killCursors"}
_READ_LEVELS = frozenset({"local", "available", "majority", "snapshot", "linearizable"})


async def answer(engine: Engine, command: Command, connection: object) -> Document:
    """Return the reply, an error's included."""
    try:
        _check(engine, command)
        if "autocommit" in command.body:
            return await _in_transaction(engine, command, connection)
        if "txnNumber" in command.body:
            return await _once(engine, command)
        if (command.body.get("readConcern") or {}).get("level") == "snapshot":
            return await _at_a_moment(engine, command)
        return await _run(engine, command)
    except CommandError as error:
        return error.reply()


async def _run(engine: Engine, command: Command) -> Document:
    handler, _ = COMMANDS[command.name]
    return await handler(engine, command)


async def _at_a_moment(engine: Engine, command: Command) -> Document:
    """Answer a question of a snapshot: the version stands in the place of the cluster's time."""
    if command.name not in _AT_A_MOMENT:
        raise CommandError(72, f"Command {command.name} does not support read concern snapshot")
    asked = command.body["readConcern"].get("atClusterTime")
    version = None if asked is None else asked.inc
    with engine.sessions.moment(version, engine.named(command)) as version:
        reply = await _run(engine, command)
    reply["cursor"]["atClusterTime"] = Timestamp(1, version)
    return reply


def _check(engine: Engine, command: Command) -> None:
    """Refuse a command that is unknown, or carries what is."""
    name, body = command.name, command.body
    if name in {"commitTransaction", "abortTransaction"}:
        only(_COMMON | {name}, body, name)
        if "autocommit" not in body:
            raise CommandError(20, f"{name} must be run within a transaction")
    elif name not in COMMANDS:
        raise CommandError(59, f"no such command: '{name}'")
    else:
        only(_COMMON | COMMANDS[name][1] | {name}, body, name)
    if body.get("let"):
        raise CommandError(238, "the stand-in for MongoDB does not implement let")
    concern = body.get("readConcern") or {}
    only(frozenset({"level", "afterClusterTime", "atClusterTime"}), concern, "readConcern")
    if concern.get("level", "local") not in _READ_LEVELS:
        raise CommandError(9, f"unknown read concern level {concern['level']!r}")
    if "txnNumber" in body and "lsid" not in body:
        raise CommandError(72, "Transaction number requires a session ID to be specified")


def session_id(body: Document) -> bytes:
    """Return the id of the session that a command belongs to."""
    return bytes(body["lsid"]["id"])


async def _once(engine: Engine, command: Command) -> Document:
    """Run a numbered write once, and give the same answer to everybody who asks again."""
    if command.name not in _NUMBERED:
        raise CommandError(50768, f"txnNumber is not allowed with {command.name}")
    session = engine.sessions.session(session_id(command.body))
    number = command.body["txnNumber"]
    if number < session.number:
        raise _too_old(session, number)
    if number == session.number and session.answer is not None:
        return await asyncio.shield(session.answer)
    if session.transaction is not None:
        engine.sessions.end(session.transaction)
    pending: asyncio.Future[Document] = asyncio.get_running_loop().create_future()
    session.number, session.answer, session.transaction = number, pending, None
    try:
        reply = await _run(engine, command)
    except CommandError as error:
        # A write that failed as a whole was not done, and may be tried under its number.
        session.answer = None
        pending.set_result(error.reply())
        raise
    except asyncio.CancelledError:
        session.answer = None
        pending.cancel()
        raise
    pending.set_result(reply)
    return reply


def _too_old(session: Session, number: int) -> CommandError:
    return CommandError(
        225, f"Cannot use transaction {number} because a newer one, {session.number}, has started"
    )


async def _in_transaction(engine: Engine, command: Command, connection: object) -> Document:
    """Run one statement of a transaction; an error ends it."""
    body, sessions = command.body, engine.sessions
    if body["autocommit"] is not False:
        raise CommandError(72, "autocommit must be false in a multi-document transaction")
    session = sessions.session(session_id(body))
    if command.name in {"commitTransaction", "abortTransaction"}:
        return _ended(engine, command, session)
    transaction = _transaction_of(engine, command, session)
    transaction.connection = connection
    try:
        reply = await _seen_from(engine, command, transaction)
    except CommandError:
        sessions.end(transaction)
        raise
    if "writeErrors" in reply:
        sessions.end(transaction)
    return reply


async def _seen_from(engine: Engine, command: Command, transaction: Transaction) -> Document:
    if command.name not in _IN_TRANSACTION:
        raise CommandError(263, f"Cannot run '{command.name}' in a multi-document transaction.")
    with engine.sessions.view(transaction, engine.named(command)):
        return await _run(engine, command)


def _transaction_of(engine: Engine, command: Command, session: Session) -> Transaction:
    number: int = command.body["txnNumber"]
    if number < session.number:
        raise _too_old(session, number)
    if command.body.get("startTransaction"):
        if number == session.number:
            raise CommandError(117, f"Transaction {number} has been started already")
        return engine.sessions.begin(session, number)
    transaction = session.transaction
    if transaction is None or transaction.number != number:
        raise no_such_transaction(number, "it was never started")
    if transaction.state != "open":
        raise no_such_transaction(number, f"it has been {transaction.state}")
    return transaction


def _ended(engine: Engine, command: Command, session: Session) -> Document:
    """Commit or abort; a commit may be asked for again."""
    number, transaction = command.body["txnNumber"], session.transaction
    if transaction is None or transaction.number != number:
        raise no_such_transaction(number, "it was never started")
    if command.name == "commitTransaction":
        if transaction.state == "aborted":
            raise no_such_transaction(number, "it has been aborted")
        if transaction.state == "open":
            engine.sessions.commit(transaction)
    elif transaction.state == "committed":
        raise CommandError(256, f"Transaction {number} has been committed.")
    elif transaction.state == "aborted":
        raise no_such_transaction(number, "it has been aborted")
    else:
        engine.sessions.end(transaction)
    return {"ok": 1.0}


def split(body: dict[str, Any]) -> tuple[Document, Document]:
    """Return a command's own fields and its envelope, for the record."""
    own = {name: value for name, value in body.items() if name not in ENVELOPE}
    envelope = {name: value for name, value in body.items() if name in ENVELOPE}
    return own, envelope
