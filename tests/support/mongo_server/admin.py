"""Commands about the server, its databases, collections and indexes."""

from __future__ import annotations

from datetime import UTC, datetime

from .engine import Command, Engine, Handler
from .errors import CommandError
from .filters import compile_filter
from .schema import checked_validator
from .store import Collection
from .uniqueness import Index, checked_spec
from .values import Document

_WIRE_VERSIONS = {(7, 0): 21, (8, 0): 25, (8, 1): 26, (8, 2): 27}


def wire_version(version: tuple[int, int, int]) -> int:
    """Return ``maxWireVersion`` of a server version."""
    return _WIRE_VERSIONS[version[:2]]


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
        "maxWireVersion": wire_version(engine.knobs.version),
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
    version = engine.knobs.version
    return {
        "version": ".".join(map(str, version)),
        "versionArray": [*version, 0],
        "gitVersion": "none: a stand-in for tests",
        "modules": ["ezra-stand-in"],
        "maxBsonObjectSize": 16 * 1024 * 1024,
        "ok": 1.0,
    }


async def connection_status(engine: Engine, command: Command) -> Document:
    """Answer ``connectionStatus``: nobody is logged in."""
    return {"authInfo": {"authenticatedUsers": [], "authenticatedUserRoles": []}, "ok": 1.0}


async def end_sessions(engine: Engine, command: Command) -> Document:
    """Answer ``endSessions``: open transactions of the sessions are rolled back."""
    for session_id in command.body["endSessions"]:
        engine.sessions.end_session(bytes(session_id["id"]))
    return {"ok": 1.0}


async def server_status(engine: Engine, command: Command) -> Document:
    """Answer ``serverStatus``, the little that is true here."""
    return {
        "process": "mongod",
        "version": ".".join(map(str, engine.knobs.version)),
        "metrics": {"cursor": {"open": {"total": len(engine.cursors)}}},
        "transactions": {"currentOpen": engine.sessions.open_count},
        "ok": 1.0,
    }


async def db_stats(engine: Engine, command: Command) -> Document:
    """Answer ``dbStats``: counts, no sizes."""
    collections = engine.store.collections(command.database)
    return {
        "db": command.database,
        "collections": len(collections),
        "objects": sum(len(target) for target in collections),
        "indexes": sum(len(target.declared) for target in collections),
        "ok": 1.0,
    }


async def list_databases(engine: Engine, command: Command) -> Document:
    """Answer ``listDatabases``."""
    names = sorted(engine.store.list_created_database_names())
    return {"databases": [{"name": name} for name in names], "ok": 1.0}


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
    return {
        "validator": rules.expression,
        "validationLevel": rules.level,
        "validationAction": rules.action,
    }


async def create(engine: Engine, command: Command) -> Document:
    """Answer ``create``."""
    body, target = command.body, engine.collection(command)
    rules = checked_validator(
        body.get("validator"),
        body.get("validationLevel", "strict"),
        body.get("validationAction", "error"),
    )
    if target.is_created:
        raise CommandError(48, f"Collection {target.namespace} already exists.")
    target.create()
    target.validator = rules
    return {"ok": 1.0}


async def coll_mod(engine: Engine, command: Command) -> Document:
    """Answer ``collMod``: another validator."""
    body, target = command.body, _existing(engine, command)
    old = target.validator
    target.validator = checked_validator(
        body.get("validator", old.expression if old else None),
        body.get("validationLevel", old.level if old else "strict"),
        body.get("validationAction", old.action if old else "error"),
    )
    return {"ok": 1.0}


async def drop(engine: Engine, command: Command) -> Document:
    """Answer ``drop``; a collection that is not there is no error."""
    target = engine.collection(command)
    if not target.is_created:
        return {"ok": 1.0}
    count = len(target.declared)
    engine.sessions.forget([target])
    target.drop()
    return {"ns": target.namespace, "nIndexesWas": count, "ok": 1.0}


async def drop_database(engine: Engine, command: Command) -> Document:
    """Answer ``dropDatabase``."""
    engine.sessions.forget(engine.store.collections(command.database))
    engine.store.drop_database(command.database)
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
    """Answer ``dropIndexes``: by name, by key, a list of names, or all by ``*``."""
    target, wanted = _existing(engine, command), command.body["index"]
    before = len(target.declared)
    if wanted == "*":
        names = [name for name in target.declared if name != "_id_"]
    elif isinstance(wanted, dict):
        keys = {name: index.spec["key"] for name, index in target.declared.items()}
        names = [name for name, key in keys.items() if list(key.items()) == list(wanted.items())]
        if not names:
            raise CommandError(27, f"can't find index with key: {wanted}")
    else:
        names = wanted if isinstance(wanted, list) else [wanted]
    for name in names:
        if name == "_id_":
            raise CommandError(72, "cannot drop _id index")
        if name not in target.declared:
            raise CommandError(27, f"index not found with name [{name}]")
    for name in names:
        del target.declared[name]
    return {"nIndexesWas": before, "ok": 1.0}


def _plain(*fields: str) -> frozenset[str]:
    return frozenset(fields)


_VALIDATION = ("validator", "validationLevel", "validationAction")
ADMIN: dict[str, tuple[Handler, frozenset[str]]] = {
    "ping": (ping, _plain()),
    "buildInfo": (build_info, _plain()),
    "buildinfo": (build_info, _plain()),
    "connectionStatus": (connection_status, _plain()),
    "endSessions": (end_sessions, _plain()),
    "serverStatus": (server_status, _plain()),
    "dbStats": (db_stats, _plain("scale")),
    "dbstats": (db_stats, _plain("scale")),
    "listDatabases": (list_databases, _plain("nameOnly")),
    "listCollections": (
        list_collections,
        _plain("filter", "nameOnly", "cursor", "authorizedCollections"),
    ),
    "create": (create, _plain(*_VALIDATION)),
    "collMod": (coll_mod, _plain(*_VALIDATION)),
    "drop": (drop, _plain()),
    "dropDatabase": (drop_database, _plain()),
    "listIndexes": (list_indexes, _plain("cursor")),
    "createIndexes": (create_indexes, _plain("indexes", "commitQuorum")),
    "dropIndexes": (drop_indexes, _plain("index")),
}
