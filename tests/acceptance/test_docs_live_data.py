"""What the page about live data shows works as it is shown."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from support.pages import lived, page
from support.runtime import running

URL = "postgresql+psycopg://reader:${STOCK_PASSWORD}@db/shop"


def declaration(folder: Path, url: str | None = None) -> Path:
    """Return the file of the page; with another database if one is given."""
    (block,) = page("mesh").blocks("toml")
    assert URL in block
    path = folder / "mesh.toml"
    path.write_text(block if url is None else block.replace(URL, url))
    return path


async def test_r9_36_the_declaration_is_accepted_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Word for word; that its database is not reached hinders nobody who does not ask it."""
    monkeypatch.setenv("STOCK_PASSWORD", "x")
    monkeypatch.setenv("EZRA_MESH_FILE", str(declaration(tmp_path)))
    async with running(tmp_path / "home") as ezra:
        (about,) = await ezra.mesh_sources()
        graph = await ezra.create_session_graph("shop")
        clerk = await graph.spawn_agent("clerk", topics={"stock"})
        turn = await clerk.turn("stock of A1?", mesh="stock")
    assert list(about.questions) == ["level"]
    assert "mesh" in " ".join((*turn.degraded, *turn.skipped))


async def test_r9_36_the_calls_of_live_data_are_as_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The calls of the page, on a database that has the table of the page."""
    shop = tmp_path / "shop.db"
    with closing(sqlite3.connect(shop)) as database, database:
        database.execute("CREATE TABLE items (sku TEXT, name TEXT, level INTEGER, cost REAL)")
        database.execute("INSERT INTO items VALUES ('A1', 'front wing', 3, 40.5)")
    monkeypatch.setenv("EZRA_MESH_FILE", str(declaration(tmp_path, f"sqlite:///{shop}")))
    async with running(tmp_path / "home") as ezra:
        graph = await ezra.create_session_graph("shop")
        clerk = await graph.spawn_agent("clerk", topics={"stock"})
        names = await lived(page("mesh").blocks("python"), {"agent": clerk})
    answered = names["answer"]
    (slot,) = [one for one in names["turn"].slots if one.kind == "mesh"]
    assert '"level": 3' in slot.text
    assert answered.rows == ({"sku": "A1", "name": "front wing", "level": 3},)
    assert answered.field_types == {"sku": "text", "name": "text", "level": "integer"}
    for said in ("provenance", "as_of"):
        assert hasattr(answered, said), said
