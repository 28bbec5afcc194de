"""Sources declared in a file: what is wrong is named, and secrets are never said."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from support.mesh_sources import Shop, stock, timing

from ezra.mesh import source_of, sources_of_file
from tiers.errors import ConfigError

SHOP = Shop(Path("/nowhere/shop.db"))
SECRET = "hunter2"  # noqa: S105 - a mark


def changed(declared: dict[str, Any], where: str, value: object) -> dict[str, Any]:
    """Return a declaration with a value at a path of keys; ``None`` takes it out."""
    made = deepcopy(declared)
    *path, last = where.split("/")
    inner: Any = made
    for key in path:
        inner = inner[int(key) if isinstance(inner, list) else key]
    if value is None:
        del inner[last]
    else:
        inner[int(last) if isinstance(inner, list) else last] = value
    return made


REST = {
    "kind": "rest",
    "url": "https://weather.example/v1",
    "questions": {
        "now": {
            "description": "The weather.",
            "path": "/tracks/{track}",
            "fields": {"temperature": "number"},
            "slots": {"track": {"type": "enum", "values": ["imola"]}},
        }
    },
}
MONGO = {
    "kind": "mongodb",
    "url": "mongodb://127.0.0.1/",
    "database": "shop",
    "collections": {"items": {"fields": {"sku": "text", "level": "integer"}}},
    "questions": {
        "level": {
            "description": "The level.",
            "collection": "items",
            "select": ["sku", "level"],
            "where": [{"field": "sku", "value": "{sku}"}],
            "slots": {"sku": {"type": "text", "pattern": "[A-Z][0-9]"}},
        }
    },
}
STOCK, TIMING = stock(SHOP), timing(Path("/nowhere/log"))
LEVEL = "questions/level"

WRONG: list[tuple[dict[str, Any], str, object, str]] = [
    (STOCK, "kind", "oracle", "kind|tag"),
    (STOCK, "url", None, "url: Field required"),
    (STOCK, "password", SECRET, "password: Extra inputs"),
    (STOCK, "timeout_seconds", 61, "timeout_seconds: Input should be less than or equal to 60"),
    (STOCK, "confidence", 2, "confidence"),
    (STOCK, "questions", {}, "questions: Dictionary should have at least 1"),
    (STOCK, f"{LEVEL}/limit", 201, r"questions\.level\.limit"),
    (STOCK, f"{LEVEL}/sql", "SELECT 1", r"questions\.level\.sql: Extra inputs"),
    (STOCK, f"{LEVEL}/table", "people", "asks 'people', which is not declared"),
    (STOCK, f"{LEVEL}/select", ["sku", "cost"], "reads 'cost', which is not declared"),
    (STOCK, f"{LEVEL}/where/0/field", "cost", "reads 'cost', which is not declared"),
    (STOCK, f"{LEVEL}/where/0/value", "{sky}", "names the slot 'sky'"),
    (STOCK, f"{LEVEL}/where/0/op", "LIKE", r"where\.0\.op"),
    (STOCK, f"{LEVEL}/order_by", ["cost"], "order_by names 'cost'"),
    (STOCK, f"{LEVEL}/slots/sku/pattern", "(a+)+", r"slots\.sku\.pattern|slots\.sku: a plain"),
    (STOCK, "questions/named/slots/name/field", "cost", "reads 'cost', which is not declared"),
    (STOCK, "questions/total/measures/pieces/function", "stddev", r"measures\.pieces\.function"),
    (STOCK, "tables/prices/valid_to", None, "valid_from and valid_to belong together"),
    (STOCK, "tables/items/synced_at", "cost", "'cost' is none of the columns"),
    (STOCK, "url", "postgresql://u:hunter2@db/shop", r"url: a password stands in the environment"),
    (STOCK, "url", "postgresql://u:${NOT_SET_HERE}@db/shop", "variable NOT_SET_HERE is not set"),
    (REST, "questions/now/path", "/tracks/../{track}", "query, a fragment or"),
    (REST, "questions/now/path", "/tracks/{track}?all=1", "query, a fragment or"),
    (REST, "questions/now/path", "tracks", r"questions\.now\.path"),
    (REST, "questions/now/method", "DELETE", r"questions\.now\.method"),
    (REST, "questions/now/body", {"a": 1}, "a GET has no body"),
    (REST, "questions/now/slots/track/required", False, "is in the path, and is required"),
    (REST, "url", "https://weather.example/v1?key=hunter2", "holds a password, a query"),
    (REST, "url", "ftp://weather.example/", "no address like"),
    (REST, "headers", {"Authorization": "Bearer hunter2"}, "a secret stands in the environment"),
    (REST, "headers", {"X-Api-Key": "hunter2"}, "a secret stands in the environment"),
    (MONGO, "collections/items/fields", {"$where": "text"}, "is no path of a field"),
    (MONGO, f"{LEVEL}/select", ["$where"], "reads '.where', which is not declared"),
    (MONGO, f"{LEVEL}/where/0/op", "contains", "'contains' is none of"),
    (MONGO, f"{LEVEL}/slots/sku", {"type": "entity", "table": "a", "field": "b"}, "only a SQL"),
    (TIMING, "questions/laps/tool", "wipe", "calls 'wipe', which is none of the tools"),
    (TIMING, "url", "http://127.0.0.1/mcp", "give command or url"),
    (TIMING, "env", {"TOKEN": "hunter2"}, "a secret stands in the environment"),
]


@pytest.mark.parametrize(
    ("declared", "where", "value", "why"),
    WRONG,
    ids=[f"{at}-{one[0]['kind']}-{one[1].replace('/', '.')}" for at, one in enumerate(WRONG)],
)
def test_what_is_wrong_is_named_with_its_key(
    declared: dict[str, Any], where: str, value: object, why: str, tmp_path: Path
) -> None:
    """In a file and in Python alike; a secret that stands there is not repeated."""
    wrong = changed(declared, where, value)
    with pytest.raises(ConfigError, match=why) as told:
        source_of("one", wrong)
    assert SECRET not in str(told.value)
    path = tmp_path / "mesh.yaml"
    path.write_text(json.dumps({"sources": {"one": wrong}}))
    with pytest.raises(ConfigError, match=why) as told:
        sources_of_file(path)
    assert str(told.value).startswith(("EZRA_MESH_FILE: ", "mesh source one: "))
    assert SECRET not in str(told.value)


def test_what_is_right_is_taken() -> None:
    """The declarations that the tests above spoil."""
    for declared in (STOCK, REST, MONGO, TIMING):
        assert source_of("one", declared).about.name == "one"


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("a.toml", "[sources", "a.toml: "),
        ("a.yaml", "sources: [}", "no YAML, line 1"),
        ("b.yaml", "a: &a [1]\nsources: *a", "aliases are not accepted"),
        ("c.yaml", "- sources", "at least one is needed"),
        ("d.toml", "", "at least one is needed"),
        ("e.toml", "key = 1\n[sources.a]\nkind = 'sql'", "key: only 'sources' stands at the top"),
        ("f.toml", "[sources.'Über-Quelle']\nkind = 'sql'", "a name has small letters"),
        ("g.toml", "sources.a = 3", "kind and more is needed"),
        ("h.toml", "#" * 1_100_000, "more than 1048576 bytes"),
        ("i.toml", "x = '\udcff'", "a|decode"),
    ],
    ids=lambda one: one if len(one) < 8 else "",
)
def test_a_file_that_is_none_is_refused(name: str, text: str, why: str, tmp_path: Path) -> None:
    """By a message that names the file."""
    path = tmp_path / name
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ConfigError, match=why):
        sources_of_file(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    """With the reason that the system gives."""
    with pytest.raises(ConfigError, match=r"none\.toml cannot be read: No such file"):
        sources_of_file(tmp_path / "none.toml")


def test_a_variable_stands_for_a_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In addresses, headers and environments; neither the source nor its text shows it."""
    monkeypatch.setenv("MESH_SECRET", SECRET)
    path = tmp_path / "mesh.toml"
    path.write_text(
        """
[sources.weather]
kind = "rest"
url = "https://weather.example/v1"
headers = { Authorization = "Bearer ${MESH_SECRET}", Accept-Language = "de" }

[sources.weather.questions.now]
description = "The weather."
path = "/tracks/{track}"
fields = { temperature = "number" }

[sources.weather.questions.now.slots.track]
type = "enum"
values = ["imola"]
"""
    )
    (source,) = sources_of_file(path).values()
    declared: Any = source._declared
    assert declared.headers["Authorization"].get_secret_value() == f"Bearer {SECRET}"
    assert SECRET not in f"{declared!r} {source.about!r} {source!r}"
    monkeypatch.setenv("MESH_SECRET", f"{SECRET}\r\nX-Evil: 1")
    with pytest.raises(ConfigError, match="Authorization: has control characters") as told:
        sources_of_file(path)
    assert SECRET not in str(told.value)
