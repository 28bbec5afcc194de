"""Opening database files from before recall was asked for what tools returned."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from support.cold_backends import raw_sqlite
from support.cold_samples import OPERATOR, OTHER_GRAPH, SCOPE, asked, turn_by
from support.cold_versions import as_version
from support.tier_samples import NOW

from tiers.cold.sqlite import DATABASE_NAME, sqlite_cold_store
from tiers.records import ToolOutput

_INDEXED = (
    "SELECT r.id, w.term, w.offset FROM word_index_places w JOIN searchable r ON r.row = w.doc"
    " ORDER BY 1, 2, 3"
)
_FOUND_BY = (
    "SELECT id, agent_id, recorded_at, happened_at, grain, has_tools, words, place FROM searchable"
    " ORDER BY id"
)
_COUNTED = "SELECT * FROM word_totals ORDER BY tenant, graph_id, kind"


async def test_turns_from_before_recall_are_found_by_what_tools_returned(tmp_path: Path) -> None:
    """Their words, lengths and totals are those of the same turns stored anew, and they wait.

    For the warm index, that is, unless they were redacted. A redaction leaves no word of theirs.
    """
    newest, old = tmp_path / "newest", tmp_path / "old"
    old.mkdir()
    output = ToolOutput(tool="telemetry", output="Graining on the left rear.")
    long = ToolOutput(tool="notes", output="blistering " * 200)
    async with sqlite_cold_store(newest) as cold:
        told, plain, gone, _ = [
            (await cold.turns.append_turn(scope, turn_by(scope, text, tool_outputs=outputs)))[0]
            for scope, text, outputs in (
                (SCOPE, "Which tyres?", (output, long)),
                (SCOPE, "Box?", ()),
                (SCOPE, "Secret?", (output,)),
                (OTHER_GRAPH, "Tyres?", (output,)),
            )
        ]
        await cold.redactor.redact(OPERATOR, [gone.id], "asked", NOW)
    as_version(6, newest, old)
    with closing(raw_sqlite(old)) as connection:
        connection.execute("DELETE FROM work")
        connection.execute("UPDATE turns SET redacted_at = recorded_at WHERE id = ?", (gone.id,))
    async with sqlite_cold_store(old) as cold:
        (hit,) = await cold.words.search_words(SCOPE, asked("graining", kinds=("tool_output",)))
        assert (hit.id, hit.words_only) == (told.id, True)
        assert [one.id for one in await cold.words.search_words(SCOPE, asked("box"))] == [plain.id]
        assert (await cold.queue.waiting())["index"] == 2
    for question in (_INDEXED, _FOUND_BY, _COUNTED):
        with closing(raw_sqlite(old)) as one, closing(raw_sqlite(newest)) as other:
            carried, anew = (
                [tuple(row) for row in each.execute(question)] for each in (one, other)
            )
        assert carried == anew
        assert len(carried) > 1
    async with sqlite_cold_store(old) as cold:
        await cold.redactor.redact(OPERATOR, [told.id], "asked", NOW)
        assert await cold.words.search_words(SCOPE, asked("graining blistering")) == ()
    with closing(raw_sqlite(old)) as connection:
        connection.execute("INSERT INTO word_index (word_index) VALUES ('integrity-check')")
        terms = " ".join(
            row["term"] for row in connection.execute(_INDEXED) if row["id"] == told.id
        )
    assert "grain" not in terms
    assert b"blister" not in (old / DATABASE_NAME).read_bytes()
