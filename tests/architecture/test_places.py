"""The list of places where words can be is whole, and names nothing that is not there."""

from __future__ import annotations

import ast
import inspect
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from fakeredis import FakeAsyncRedis
from support.places import PLACES, Place, Store, places_of
from support.runtime import running
from support.tier_samples import belief_of, entry_of, mesh_of, scope_of, turn_of

import ezra
import metaagents
import tiers
from ezra import Rule
from tiers.cold.mongo.rendering import BESIDE
from tiers.cold.sqlite import DATABASE_NAME
from tiers.cold.stores import COLLECTIONS
from tiers.hot import RedisHotStore
from tiers.ports import HotStore
from tiers.warm.edge_folder import DENSE, LEXICAL
from tiers.warm.payload import payload_of

ROOT = Path(ezra.__file__).parents[1]

OF_ONE_CALL = frozenset(
    (
        *("ezra.bridge.notes.entity_graph:_by_id", "ezra.bridge.notes.entity_graph:_by_path"),
        *("ezra.bridge.notes.entity_graph:_by_slug", "ezra.bridge.notes.entity_graph:_by_title"),
        *("ezra.bridge.notes.entity_graph:_by_typed", "ezra.bridge.notes.entity_graph:_edges"),
        *("ezra.bridge.notes.search:_by_document", "ezra.ranking.terms:_asked"),
        *("tiers.cold.port:names", "tiers.cold.port:owned", "tiers.cold.port:owner"),
        *("tiers.cold.sqlite.records:_held", "tiers.cold.sqlite.records:_sights"),
        "tiers.deadlines:_running",
        *("ezra.turn.routing:subject", "tiers.cold.stores.knowledge:_facts"),
        *("ezra.moving.carried_rows:_cards", "ezra.moving.carried_rows:_checks"),
        *("ezra.moving.carried_rows:_documents", "ezra.moving.carried_rows:_facts"),
        *("ezra.moving.carried_rows:_lines", "ezra.moving.carried_rows:_made"),
        *("ezra.moving.carried_rows:_outcomes", "ezra.moving.carried_rows:_passages"),
        *("ezra.moving.carried_rows:_revisions", "ezra.moving.carried_rows:_rules"),
        *("ezra.moving.carried_rows:_seqs", "ezra.moving.carried_rows:_turns"),
        *("ezra.moving.carried_rows:_used", "ezra.moving.carried_rows:_uses"),
        *("ezra.documents.html:_names", "ezra.documents.html:first"),
        *(
            "ezra.moving.side:_open",
            "ezra.erasure.redaction:_cleaned",
            "ezra.erasure.redaction:_waiting",
        ),
        *("ezra.replay.parsers.openai:_calls", "ezra.replay.play:_step_ms"),
        *("metaagents.clock:_beats", "metaagents.clock:_due"),
        *("metaagents.learning.checking:_heard", "metaagents.lifecycle.standins:_in"),
        *("metaagents.learning.opinions:_pairs", "metaagents.lifecycle.standins:_days"),
        "metaagents.lifecycle.standins:_episodes",
        *("tiers.embedding.graph:constants", "tiers.embedding.graph:_quantised"),
        *("metaagents.lifecycle.material:candidates", "metaagents.lifecycle.extract:_had"),
        "metaagents.lifecycle.material:statements",
        *("metaagents.claims.agreement:_names", "metaagents.claims.agreement:_nouns"),
        *("metaagents.claims.support:_of_sentence", "metaagents.lifecycle.material:sources"),
        "metaagents.claims.reading:owned",
        *("tiers.cold.redaction:_found", "tiers.health:details"),
        *("tiers.history.checking:_missing", "tiers.history.checking:_spoken"),
        "tiers.history.checking:_missing_rivals",
        *("tiers.history.export:_counts", "tiers.history.trusted_keys:_trusted"),
        *("tiers.history.fold:beliefs", "tiers.history.fold:trust"),
        "tiers.history.audit_chain:_silent",
        *("ezra.erasure.taint.walk:_aliases", "ezra.erasure.taint.walk:_by_id"),
        *("ezra.erasure.taint.walk:_found", "ezra.erasure.taint.walk:_reasons"),
    )
)
"""What looks like a memory, and ends with the call that made it, or holds no record."""

_MAPPINGS = frozenset(
    ("dict", "OrderedDict", "Latest", "InUse", "defaultdict", "Counter", "WeakValueDictionary")
)


def names_of(*stores: Store) -> set[str]:
    """Return the names of the listed places of some stores."""
    return set(places_of(*stores))


@pytest.fixture
async def home(tmp_path: Path) -> Path:
    """The folder of an embedded runtime in which something was said, as it is after closing."""
    async with running(tmp_path) as opened:
        graph = await opened.create_session_graph("race")
        agent = await graph.spawn_agent("pit", topics={"tyres"})
        await (await agent.turn("how long do mediums last?")).reply("18 laps")
        await agent.remember(Rule(trigger="rain is near", steps=("box",)))
        await agent.commit("Start on mediums.", topic="tyres")
        await graph.beliefs.sign()
        await opened.drain_learning()
    return tmp_path


def test_every_table_is_listed(home: Path) -> None:
    """Of the embedded cold tier, those of lists included; and each listed column exists."""
    with closing(sqlite3.connect(home / DATABASE_NAME)) as connection:
        found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        tables = {str(name) for (name,) in found}
        columns = {
            table: {str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})")}
            for table in tables
        }
    listed = places_of("sqlite")
    assert tables == listed.keys()
    missing = {
        (name, field)
        for name, place in listed.items()
        for field in place.fields
        if field not in columns.get(name, ())
    }
    assert not missing


def test_every_collection_is_listed() -> None:
    """Of the cold tier on MongoDB, ``meta`` besides; and each listed field is stored."""
    assert {*(one.name for one in COLLECTIONS), "meta"} == names_of("mongodb")
    listed = places_of("mongodb")
    for one in COLLECTIONS:
        lists = [f"{name}_listed" for name in one.lists]
        beside = BESIDE if one.name == "facts" else ()
        assert {*listed[one.name].fields} <= {"body", *one.names, *lists, *beside}, one.name


async def test_every_key_of_the_hot_tier_is_listed() -> None:
    """Whatever any method of the port writes, as the engine holds it."""
    scope = scope_of(topics=("tyres",))
    writes: dict[str, Any] = {
        "append": lambda hot: hot.append(scope, turn_of(scope, 1), 8),
        "restore": lambda hot: hot.restore(scope, [turn_of(scope, 2)], 8),
        "pin": lambda hot: hot.pin(scope, belief_of(scope, "belief")),
        "put_mesh": lambda hot: hot.put_mesh(scope, mesh_of("dry")),
    }
    others = {"read", "unpin", "clear"}
    methods = {name for name, one in vars(HotStore).items() if inspect.isfunction(one)}
    assert {name for name in methods if not name.startswith("_")} == writes.keys() | others
    async with FakeAsyncRedis() as client:
        hot = RedisHotStore(client)
        for write in writes.values():
            await write(hot)
        fields = {
            name.decode()
            for key in [key async for key in client.scan_iter("*")]
            for name in await client.hgetall(key)
        }
    listed = names_of("redis")
    assert not [field for field in fields if not any(fnmatch(field, one) for one in listed)]
    assert not [one for one in listed if not any(fnmatch(field, one) for field in fields)]


def test_every_field_of_the_warm_tier_is_listed() -> None:
    """What a point has beside its vectors, and the vectors."""
    assert {*payload_of(entry_of(scope_of(), 1)), DENSE, LEXICAL} == names_of("qdrant")


def test_every_file_of_the_folder_is_listed(home: Path) -> None:
    """What the embedded tiers leave in it; some are there only while it is open."""
    files = {str(one.relative_to(home)) for one in home.rglob("*") if one.is_file()}
    listed = names_of("home")
    assert not [name for name in files if not any(fnmatch(name, one) for one in listed)]
    while_open = {"ezra.db-wal", "ezra.db-shm", "owner.json"}
    idle = {one for one in listed if not any(fnmatch(name, one) for name in files)}
    assert idle <= while_open


def test_every_memory_of_the_process_is_listed() -> None:
    """Functions that remember their answers, and objects that hold things by a key."""
    found = {name for path, module in _modules() for name in _memories(path, module)}
    listed = names_of("process") - {"logging"}
    assert found - OF_ONE_CALL == listed


def test_a_place_says_how_it_is_cleaned() -> None:
    """Exactly what holds words has something that takes them out; no line is there twice."""
    assert len({(place.store, place.name) for place in PLACES}) == len(PLACES)
    for place in PLACES:
        assert (place.cleaned_by == "nothing") == (place.holds in {"name", "none"}), place
    assert _of("sqlite", "belief_contents").cleaned_by == "redaction"


def _of(store: Store, name: str) -> Place:
    return places_of(store)[name]


def _modules() -> Iterator[tuple[str, ast.Module]]:
    for package in (tiers, metaagents, ezra):
        for path in sorted(Path(package.__path__[0]).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            yield name, ast.parse(path.read_text())


def _memories(module: str, tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from (f"{module}:{name}" for name in _own_fields(node))
        if not isinstance(node, ast.FunctionDef):
            continue
        if any("cache" in ast.unparse(one) for one in node.decorator_list):
            yield f"{module}:{node.name}"
        if node.name in ("__init__", "__post_init__"):
            yield from (f"{module}:{name}" for name in _kept(node))


def _kept(maker: ast.FunctionDef) -> Iterator[str]:
    """Yield the attributes that a constructor fills with mappings of its own."""
    for node in ast.walk(maker):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        called = node.value.func if isinstance(node.value, ast.Call) else None
        is_made = isinstance(called, ast.Name) and called.id in _MAPPINGS
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if isinstance(target, ast.Attribute) and (
                is_made or isinstance(node.value, ast.Dict | ast.DictComp)
            ):
                yield target.attr


def _own_fields(made: ast.ClassDef) -> Iterator[str]:
    """Yield the fields of a dataclass that it fills with mappings of its own."""
    for node in made.body:
        value = node.value if isinstance(node, ast.AnnAssign) else None
        given = (
            {one.arg: one.value for one in value.keywords} if isinstance(value, ast.Call) else {}
        )
        if "init" in given and "default_factory" in given and isinstance(node, ast.AnnAssign):
            made_by = given["default_factory"]
            called = made_by.body if isinstance(made_by, ast.Lambda) else made_by
            maker = called.func if isinstance(called, ast.Call) else called
            if isinstance(maker, ast.Name) and maker.id in _MAPPINGS:
                yield ast.unparse(node.target)
