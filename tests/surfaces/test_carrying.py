"""Graphs that are read out and put in, row by row, through either door."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.raw_stores import places_with
from support.records import every_row
from support.runtime import MovingClock, running
from support.service import serving

from ezra import Conflict, Ezra, NotFound, PolicyDenied, UsageError
from ezra.moving import carrying
from ezra.moving.carried_file import checked_file, lines_of, put_in
from ezra.moving.carrying import TABLES
from ezra.service.tokens import TokenFile

FORMER_FORM = Path(__file__).with_name("former_form.ezra")
"""A graph as an ezra wrote it whose belief events named no turn, and who knew fewer tables."""


RARE_WORD = "zylinderkopf"


async def rows_of(graph: Any, limit: int = 500) -> dict[str, list[dict[str, Any]]]:
    """Return everything that a graph holds, by table."""
    return {
        table: await every_row(lambda at, of=table: graph.export_rows(of, at, limit), limit)
        for table in TABLES
    }


async def told(runtime: Any, name: str) -> Any:
    """Return a graph in which something was said and remembered."""
    graph = await runtime.create_session_graph(name)
    agent = await graph.spawn_agent("strategist")
    for number in range(3):
        turn = await agent.turn(f"Lap {number} of {name}?", private=number == 1)
        await turn.reply("Yes.")
        await agent.remember(f"{name} has lap {number}.")
    return graph


async def test_pages_of_any_size_hold_the_rows_of_one_graph(runtime: Any) -> None:
    """Private ones too, in order, each once; the rows of other graphs lie between."""
    graph, _ = await told(runtime, "imola"), await told(runtime, "monza")
    whole = await rows_of(graph)
    assert await rows_of(graph, 1) == whole
    assert [row["private"] for row in whole["turns"]] == [False, True, False]
    assert (len(whole["facts"]), len(whole["graphs"])) == (3, 1)
    assert "monza" not in str(whole)


async def test_pages_of_large_rows_are_short(runtime: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many are asked for: what goes over the wire has a limit; none is missing or twice."""
    monkeypatch.setattr(carrying, "BYTES_PER_PAGE", 30_000)
    graph = await told(runtime, "imola")
    agent = await graph.agent("strategist")
    for size in (9_000, 100, 40_000, 14_000, 14_000, 10):
        await (await agent.turn("Lap?")).reply("x" * size)
    pages, after = [], ""
    while after is not None:
        page = await graph.export_rows("turns", after)
        pages.append(page.rows)
        after = page.cursor
    seqs = [row["seq"] for rows in pages for row in rows]
    assert sorted(seqs) == list(range(1, 10))
    assert all(len(rows) == 1 or len(str(rows)) < 40_000 for rows in pages)
    assert 3 <= len(pages) < 9


async def test_what_was_put_in_is_there_when_all_of_it_is(
    runtime: Any, door: str, tmp_path: Path
) -> None:
    """Until the graph's own row; repeating changes nothing until then, and is refused after."""
    rows = await rows_of(await told(runtime, "imola"))
    async with (
        running(tmp_path / "other", MovingClock()) as other,
        serving(other) as url,
        Ezra.connect(url) as remote,
    ):
        target: Any = other if door == "in process" else remote
        for table in TABLES[:-1]:
            assert await target.import_rows("imola", table, rows[table]) == len(rows[table])
            assert await target.import_rows("imola", table, rows[table]) == 0
        assert await target.session_graphs() == ()
        with pytest.raises(Conflict):
            await target.create_session_graph("imola")
        assert await target.import_rows("imola", "graphs", rows["graphs"]) == 1
        arrived = await rows_of(await target.session_graph("imola"))
        assert arrived["turns"] == rows["turns"]
        assert arrived["facts"] == rows["facts"]
        with pytest.raises(Conflict):
            await target.import_rows("imola", "turns", rows["turns"])


async def test_nothing_is_left_of_an_import_that_was_discarded(
    runtime: Any, door: str, tmp_path: Path
) -> None:
    """In no file and no index, however far indexing has come; the file can be put in again."""
    graph = await told(runtime, "imola")
    await (await graph.agent("strategist")).remember(f"The {RARE_WORD} is hot.")
    rows = await rows_of(graph)
    home = tmp_path / "other"
    async with (
        running(home, MovingClock()) as other,
        serving(other) as url,
        Ezra.connect(url) as remote,
    ):
        target: Any = other if door == "in process" else remote
        await told(target, "monza")
        for table in TABLES[:-1]:
            await target.import_rows("imola", table, rows[table])
        await other.drain_learning()
        assert await places_with(other, home, [RARE_WORD])
        with pytest.raises(Conflict, match="discard"):
            await target.create_session_graph("imola")
        left = await target.unfinished_import("imola")
        assert (left["agents"], left["turns"]) == (1, 3)
        with pytest.raises(Conflict, match=r"another row; .* discard"):
            await target.import_rows(
                "imola", "usage", [{**rows["usage"][0], "used": {"tokens": 9}}]
            )
        done = await target.discard_import("imola")
        assert (done.rows, done.waiting) == (left, {})
        assert await target.unfinished_import("imola") == {}
        with pytest.raises(NotFound):
            await target.discard_import("imola")
        await other.drain_learning()
        assert (await target.waiting_work())["index"] == 0
        assert await places_with(other, home, [RARE_WORD]) == set()
        for table in TABLES:
            assert await target.import_rows("imola", table, rows[table]) == len(rows[table])
        arrived = await rows_of(await target.session_graph("imola"))
        assert (arrived["turns"], arrived["facts"]) == (rows["turns"], rows["facts"])
        with pytest.raises(Conflict):
            await target.discard_import("imola")


async def test_an_import_finds_out_that_rows_were_discarded_meanwhile(
    runtime: Any, tmp_path: Path
) -> None:
    """The graph does not come to be with holes; repeating the import makes it whole."""
    path = tmp_path / "imola.ezra"
    graph = await told(runtime, "imola")
    path.write_bytes(b"".join([line async for line in lines_of(graph)]))
    carried = checked_file(path)
    async with running(tmp_path / "other", MovingClock()) as other:

        class Meddled:
            """Discards once, when the turns have been put in."""

            has_meddled = False

            def __getattr__(self, name: str) -> Any:
                return getattr(other, name)

            async def import_rows(self, name: str, table: Any, rows: Any) -> int:
                new = await other.import_rows(name, table, rows)
                if table == "turns" and not self.has_meddled:
                    self.has_meddled = True
                    await other.discard_import(name)
                return new

        target = Meddled()
        with pytest.raises(Conflict, match="fewer agents, usage, turns"):
            await put_in(target, path, carried)
        with pytest.raises(NotFound):
            await other.session_graph("imola")
        await put_in(target, path, carried)
        assert len(await (await other.session_graph("imola")).turns("strategist")) == 3


async def test_rows_that_do_not_fit_are_refused(runtime: Any) -> None:
    """By name, and nothing is there afterwards."""
    graph = await told(runtime, "imola")
    turns = (await graph.export_rows("turns")).rows
    (record,) = (await graph.export_rows("graphs")).rows
    strange = {
        **record,
        "id": "heir",
        "parents": [{"id": "nowhere", "linked_at": record["created_at"]}],
    }
    refused: list[tuple[type[Exception], str, str, list[dict[str, Any]]]] = [
        (UsageError, "heir", "turns", [*turns]),
        (UsageError, "heir", "turns", [{**turns[0], "graph_id": "heir", "tenant": "other"}]),
        (UsageError, "heir", "turns", [{"graph_id": "heir"}]),
        (UsageError, "heir", "turns", [{}] * 1_001),
        (UsageError, "heir", "cats", []),
        (UsageError, "@catalog", "turns", [*turns]),
        (UsageError, "@catalog", "graphs", [{**strange, "id": "@catalog"}]),
        (NotFound, "heir", "graphs", [strange]),
        (Conflict, "imola", "graphs", [record]),
    ]
    for kind, name, table, rows in refused:
        with pytest.raises(kind):
            await runtime.import_rows(name, table, rows)
    with pytest.raises(NotFound):
        await runtime.session_graph("heir")
    for arguments in (("cats",), ("turns", "nonsense"), ("turns", "", 0), ("turns", "", 1_001)):
        with pytest.raises(UsageError):
            await graph.export_rows(*arguments)


async def test_only_an_operator_carries(behind: Ezra, tokens: TokenFile) -> None:
    """Who may only read a graph does not get everything in it, and puts nothing in."""
    await told(behind, "imola")
    _, shown = tokens.create("reader", "reader", expires_at=None)
    async with serving(behind, tokens=tokens) as url, Ezra.connect(url, shown) as remote:
        graph = await remote.session_graph("imola")
        with pytest.raises(PolicyDenied):
            await graph.export_rows("turns")
        with pytest.raises(PolicyDenied):
            await remote.import_rows("other", "turns", [])


async def test_a_file_of_a_former_form_is_taken_whole(runtime: Any) -> None:
    """Its belief log verifies, goes on in the form of today, and what was shown is rebuilt."""
    carried = checked_file(FORMER_FORM)
    await put_in(runtime, FORMER_FORM, carried)
    graph = await runtime.session_graph("imola")
    agent = await graph.agent("strategist")
    assert [one.claim for one in await agent.beliefs()] == ["The mediums last 18 laps."]
    await agent.commit("The softs last 9 laps.", topic="tyres")
    checked = await graph.beliefs.verify()
    assert (checked.ok, checked.events, checked.problems) == (True, 5, ())
    (turn,) = await graph.turns("strategist")
    (receipt,) = (await graph.receipts_of([turn.id])).values()
    assert (await graph.replay_context(receipt.id)).is_exact
