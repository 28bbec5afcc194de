"""Commands about the server, its databases, collections and indexes."""

from __future__ import annotations

from datetime import UTC, datetime

from .engine import Command, Engine, Handler
from .errors import CommandError, refuse
from .filters import compile_filter
from .schema import checked_validator
from .store import Collection
from .uniqueness import Index, checked_spec
from .values import Document

VERSION = (8, 0, 0)
_WIRE_VERSION = 25


def hello_reply(engine: Engine, address: str, command: Command) -> Document:
    """Answer a greeting; ``address`` is the server's own host and port."""
    primary = "isWritablePrimary" if command.name == "hello" else "ismaster"
    reply: Document = {
        "helloOk": True,
        primary: True,
        "maxBsonObjectSize": 16 * 1024 * 1024,
        "maxMessageSizeBytes": 48_000_000,
        "maxWriteBatchSize": 100_000,
        "localTime": datetime.now(UTC),
        "logicalSessionTimeoutMinutes": 30,
        "connectionId": 1,
        "minWireVersion": 0,
        "maxWireVersion": _WIRE_VERSION,
        "readOnly": False,
        "ok": 1.0,
    }
    if engine.knobs.mode == "replica_set":
        reply |= {
            "setName": "rs0",
            "setVersion": 1,
            "secondary": False,
            "hosts": [address],
            "primary": address,
            "me": address,
        }
    return reply


async def ping(engine: Engine, command: Command) -> Document:
    """Answer ``ping``."""
    return {"ok": 1.0}


async def build_info(engine: Engine, command: Command) -> Document:
    """Answer ``buildInfo``; ``modules`` says what this is."""
    return {
        "version": ".".join(map(str, VERSION)),
        "versionArray": [*VERSION, 0],
        "gitVersion": "none: a stand-in for tests",
        "modules": ["ezra-stand-in"],
        "maxBsonObjectSize": 16 * 1024 * 1024,
        "ok": 1.0,
    }


async def end_sessions(engine: Engine, command: Command) -> Document:
    """Answer ``endSessions``: open transactions of the sessions are rolled back."""
    for session_id in command.body["endSessions"]:
        engine.sessions.end_session(bytes(session_id["id"]))
    return {"ok": 1.0}


async def list_collections(engine: Engine, command: Command) -> Document:
    """Answer ``listCollections``."""
    wanted = compile_filter(command.body.get("filter") or {})
    entries: list[Document] = []
    for target in engine.store.collections(command.database):
        entry: Document = {"name": target.name, "type": "collection"}
        if not command.body.get("nameOnly"):
            entry |= {"options": _options(target), "info": {"readOnly": False}}
            entry["idIndex"] = target.declared["_id_"].spec
        if wanted(entry):
            entries.append(entry)
    size = (command.body.get("cursor") or {}).get("batchSize")
    return engine.cursor_reply(f"{command.database}.$cmd.listCollections", entries, size)


def _options(target: Collection) -> Document:
    rules = target.validator
    if rules is None:
        return {}
    return {"validator": rules.expression, "validationLevel": "strict", "validationAction": "error"}


async def create(engine: Engine, command: Command) -> Document:
    """Answer ``create``."""
    body, target = command.body, engine.collection(command)
    rules = checked_validator(body)
    if target.is_created:
        raise CommandError(48, f"Collection {target.namespace} already exists.")
    target.create()
    target.validator = rules
    return {"ok": 1.0}


async def coll_mod(engine: Engine, command: Command) -> Document:
    """Answer ``collMod``: another validator."""
    body, target = command.body, _existing(engine, command)
    rules = checked_validator(body)
    if "validator" in body:
        target.validator = rules
    return {"ok": 1.0}


async def drop_database(engine: Engine, command: Command) -> Document:
    """Answer ``dropDatabase``."""
    engine.drop_database(command.database)
    return {"dropped": command.database, "ok": 1.0}


def _existing(engine: Engine, command: Command) -> Collection:
    target = engine.collection(command)
    if not target.is_created:
        raise CommandError(26, f"ns does not exist: {target.namespace}")
    return target


async def list_indexes(engine: Engine, command: Command) -> Document:
    """Answer ``listIndexes``."""
    target = _existing(engine, command)
    specs = [index.spec for index in target.declared.values()]
    size = (command.body.get("cursor") or {}).get("batchSize")
    return engine.cursor_reply(target.namespace, specs, size)


async def create_indexes(engine: Engine, command: Command) -> Document:
    """Answer ``createIndexes``."""
    target = engine.collection(command)
    before, existed = len(target.declared), bool(target.is_created)
    for given in command.body["indexes"]:
        spec = checked_spec(given)
        if not _is_known(target, spec):
            target.add_index(Index(spec))
    reply: Document = {"numIndexesBefore": before, "numIndexesAfter": len(target.declared)}
    if not existed:
        reply["createdCollectionAutomatically"] = True
    return {**reply, "ok": 1.0}


def _is_known(target: Collection, spec: Document) -> bool:
    """Whether this very index exists; raises when one that is in its way does."""
    for index in target.declared.values():
        same_key = list(index.spec["key"].items()) == list(spec["key"].items())
        if index.name == spec["name"]:
            if same_key and {**index.spec, "key": 0} == {**spec, "key": 0}:
                return True
            raise CommandError(
                86, f"An existing index has the same name as the requested index: {index.name}"
            )
        if same_key and index.partial == spec.get("partialFilterExpression"):
            raise CommandError(85, f"Index already exists with a different name: {index.name}")
    return False


async def drop_indexes(engine: Engine, command: Command) -> Document:
    """Answer ``dropIndexes`` of one index by its name."""
    target, name = _existing(engine, command), command.body["index"]
    before = len(target.declared)
    if not isinstance(name, str) or name == "*":
        refuse(f"dropping the indexes {name!r}")
    if name == "_id_":
        raise CommandError(72, "cannot drop _id index")
    if name not in target.declared:
        raise CommandError(27, f"index not found with name [{name}]")
    del target.declared[name]
    return {"nIndexesWas": before, "ok": 1.0}


def _plain(*fields: str) -> frozenset[str]:
    return frozenset(fields)


_VALIDATION = ("validator", "validationLevel", "validationAction")
ADMIN: dict[str, tuple[Handler, frozenset[str]]] = {
    "ping": (ping, _plain()),
    "buildInfo": (build_info, _plain()),
    "endSessions": (end_sessions, _plain()),
    "listCollections": (
        list_collections,
        _plain("filter", "nameOnly", "cursor", "authorizedCollections"),
    ),
    "create": (create, _plain(*_VALIDATION)),
    "collMod": (coll_mod, _plain(*_VALIDATION)),
    "dropDatabase": (drop_database, _plain()),
    "listIndexes": (list_indexes, _plain("cursor")),
    "createIndexes": (create_indexes, _plain("indexes")),
    "dropIndexes": (drop_indexes, _plain("index")),
}
