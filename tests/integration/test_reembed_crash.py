"""Crashes while everything is embedded anew: one batch is repeated, nothing is lost or trusted."""

from __future__ import annotations

import itertools
import signal
from pathlib import Path

import pytest
from support.disk_crashes import Killed
from support.processes import running_process
from support.reembedding import ScriptedEmbedder, filled_store, house

from tiers.upkeep import Generation

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize("marks_before", [0, 1])
async def test_a_crash_in_the_switch_leaves_one_truth(tmp_path: Path, marks_before: int) -> None:
    """Never an old index that seems complete and misses what came after the switch."""
    facts = await filled_store(tmp_path)
    async with house(tmp_path, ScriptedEmbedder("new"), ScriptedEmbedder("old")) as built:
        left = itertools.count(marks_before, -1)

        def die(mark: Generation) -> None:
            is_switching = mark.model_id == "old" or mark.state == "complete"
            if is_switching and next(left) == 0:
                raise Killed

        built.engine.before_mark = die
        with pytest.raises(Killed):
            await built.reembedder.run_to_end()
    async with house(tmp_path, ScriptedEmbedder("new"), ScriptedEmbedder("old")) as built:
        facts += await built.remembered(["said after the crash"])
        await built.reembedder.run_to_end()
        assert built.index.serving.model_id == "new"
        await built.check_by_meaning(facts)
    async with house(tmp_path, ScriptedEmbedder("old"), ScriptedEmbedder("new")) as built:
        await built.reembedder.run_to_end()
        await built.check_by_meaning(facts)


async def test_a_killed_process_loses_one_batch_at_most(tmp_path: Path) -> None:
    """SIGKILL again and again, in the middle of batches: each next one goes on behind the last."""
    texts = [f"sector{number}x was slow by tenths" for number in range(120)]
    facts = await filled_store(tmp_path, texts)
    seen = [_killed_after(tmp_path, batches=8) for _ in range(3)]
    for before, after in itertools.pairwise(seen):
        assert before[-1] - 2 <= after[0] <= before[-1] + 2
        assert after[-1] > before[-1]
    new = ScriptedEmbedder("new")
    async with house(tmp_path, new, ScriptedEmbedder("old")) as built:
        assert built.index.serving.model_id == "old"
        assert (await built.reembedder.run_to_end()).completed
        assert 0 < len(new.asked) <= 120 - seen[-1][-1]
        await built.check_by_meaning(facts)


def _killed_after(home: Path, batches: int) -> list[int]:
    """Let a process re-embed some batches, kill it, and return what it said was done."""
    with running_process("reembed_process", home) as process:
        assert process.stdout is not None
        done = [int(process.stdout.readline()) for _ in range(batches)]
    assert process.returncode == -signal.SIGKILL, "the process ended by itself"
    return done
