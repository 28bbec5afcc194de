"""Whether poison is found and taken back completely, and nothing else with it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from tiers.upkeep import Table

from .bench import Bench
from .poisoning import ASKED, STORIES, Key, Rows, Scene, Story, changed, expected, rows_of
from .results import Figure, Mistake, Section

REASON = "planted"
WARNED_MAX = 10


@dataclass(frozen=True)
class Outcome:
    """What became of one story.

    Attributes:
        name: Of the story.
        derived: What the scan says came of the record, itself included.
        exposed: What it says was exposed to that, receipts included.
        traced: What the trace called derived.
        suspected: What it called exposed.
        taken: What was rolled back of ``derived``.
        others: Other records that the roll-back changed.
        shown: Records that were rolled back and that a recall shows all the same.
        back: What undoing brought back of ``derived``, as it was.
        strange: What differs after undoing besides.
        idle: Tables that should have something in them that came of it, and have not.
    """

    name: str
    derived: frozenset[Key]
    exposed: frozenset[Key]
    traced: frozenset[Key]
    suspected: frozenset[Key]
    taken: frozenset[Key]
    others: frozenset[Key]
    shown: frozenset[str]
    back: frozenset[Key]
    strange: frozenset[Key]
    idle: frozenset[Table]

    @property
    def wrong(self) -> dict[str, frozenset[Key]]:
        """What is not as it should be, by what is wrong with it."""
        found = {
            "not traced": self.derived - self.traced,
            "traced, but not of it": self.traced - self.derived,
            "exposed, and not traced": self.exposed - self.suspected,
            "called exposed, and is not": self.suspected - self.exposed,
            "not rolled back": self.derived - self.taken,
            "changed, and not of it": self.others,
            "not brought back": self.derived - self.back,
            "changed by undoing": self.strange,
            "shown": frozenset((self.name, one) for one in self.shown),
            "nothing came of it": frozenset((self.name, one) for one in self.idle),
        }
        return {what: keys for what, keys in found.items() if keys}


async def taint(bench: Bench, at: datetime) -> Section:
    """Stories of poison: what came of it is traced, rolled back, and brought back again."""
    outcomes: list[Outcome] = []
    names = bench.chosen(list(STORIES))
    async with bench.memory(at) as memory:

        def pass_time(by: timedelta) -> None:
            memory.clock.show(memory.clock() + by)

        with bench.progress("taint", len(names)) as advance:
            for name in names:
                story = await STORIES[name](Scene(memory.ezra, pass_time, f"taint-{name}"))
                outcomes.append(await outcome_of(name, story))
                advance()
        problems = tuple(memory.problems)
    return Section(
        name="taint",
        figures=_figures(outcomes),
        mistakes=tuple(
            Mistake(case=one.name, kind="taint", what=what, said=_listed(keys))
            for one in outcomes
            for what, keys in one.wrong.items()
        ),
        problems=problems,
    )


async def outcome_of(name: str, story: Story) -> Outcome:
    """Trace, roll back and undo the poison of a story, and compare with a scan of every row."""
    before = await rows_of(story)
    wanted = expected(story, before)
    handle = story.graph.taint
    nodes = (await handle.trace(story.record_id, limit=1000)).nodes
    done = await handle.roll_back(story.record_id, reason=REASON)
    during = await rows_of(story)
    moved = changed(before, during)
    rolled = {(one.graph_id, one.id) for one in done.roll_back.items if one.done != "stands again"}
    again = {(one.graph_id, one.id) for one in done.roll_back.items if one.done == "stands again"}
    shown = await _shown(story)
    await handle.undo(done.roll_back.id, reason="it was a test")
    after = await rows_of(story)
    asked = after["receipts"].keys() - during["receipts"].keys()  # when it was looked for
    strange = changed(before, after) - asked
    return Outcome(
        name=name,
        derived=wanted.derived,
        exposed=wanted.exposed,
        traced=frozenset((n.graph_id, n.id) for n in nodes if n.exposure != "exposed"),
        suspected=frozenset((n.graph_id, n.id) for n in nodes if n.exposure == "exposed"),
        taken=frozenset(wanted.derived & moved & rolled),
        others=frozenset(moved - wanted.derived - again - _stand_ins(before, during)),
        shown=frozenset(shown & {one for _, one in rolled} - set(done.rebuilt)),
        back=frozenset(wanted.derived - strange),
        strange=frozenset(strange - wanted.derived),
        idle=frozenset(kind for kind in story.kinds if not wanted.derived & before[kind].keys()),
    )


async def _shown(story: Story) -> set[str]:
    """Return the records that recalls of every member show."""
    shown: set[str] = set()
    for graph in story.graphs:
        for member in await graph.agents():
            agent = await graph.agent(member.id)
            shown |= {hit.id for hit in (await agent.recall(ASKED, limit=50)).items}
            turn = await agent.turn(ASKED)
            shown |= {one for slot in turn.slots for one in slot.source_ids[:1]}
    return shown


def _stand_ins(before: Rows, during: Rows) -> set[Key]:
    """Return summaries that came to stand for turns that were set aside while they waited."""
    new = during["summaries"].keys() - before["summaries"].keys()
    return {key for key in new if during["summaries"][key]["redacted_at"] is not None}


def _figures(outcomes: list[Outcome]) -> tuple[Figure, ...]:
    derived = sum(len(one.derived) for one in outcomes)
    exposed = sum(len(one.exposed) for one in outcomes)
    unlike = [(one.traced | one.suspected) - one.derived - one.exposed for one in outcomes]
    return (
        Figure.sizes("derived records traced", [i.derived & i.traced for i in outcomes], derived),
        Figure.sizes(
            "exposed records traced", [i.exposed & i.suspected for i in outcomes], exposed
        ),
        Figure.sizes("traced, and nothing to do with it", unlike, None),
        Figure.sizes("derived records rolled back", [i.taken for i in outcomes], derived),
        Figure.sizes("other records changed", [i.others for i in outcomes], None),
        Figure.sizes("rolled-back records shown", [i.shown for i in outcomes], None),
        Figure.sizes("records as they were after undoing", [i.back for i in outcomes], derived),
        Figure.sizes("other records changed by undoing", [i.strange for i in outcomes], None),
    )


def _listed(keys: frozenset[Key]) -> tuple[str, ...]:
    return tuple(f"{record_id} of {graph_id}" for graph_id, record_id in sorted(keys))[:WARNED_MAX]
