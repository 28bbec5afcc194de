"""Judging facts over the real cold store and the real warm index: what gives way, and what never.

The comparer is the runtime's own, so what rules can tell is told as in a running installation.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from support import fact_pairs
from support.model import installed_model
from support.records import START, fact, scope
from support.warm_reference import ReferenceWarmStore

from ezra.contradiction import RulesJudge
from metaagents.learning.judging import JudgeAgent, JudgePolicy
from metaagents.learning.moves import CoreKeeper
from metaagents.learning.opinions import Opinions
from metaagents.learning.rules import LearningPolicy
from metaagents.learning.weighing import Pair
from metaagents.model import BudgetedModel
from metaagents.work import Worker
from tiers.cold.sqlite import sqlite_cold_store
from tiers.cold.stores import ColdStores
from tiers.embedding.installed import InstalledModel
from tiers.embedding.onnx_embedder import OnnxEmbedder
from tiers.errors import TierUnavailable
from tiers.ports import Embedder, WarmStore
from tiers.records import Budget, Fact, Scope, SessionGraph, Work, WorkDraft
from tiers.warm import edge_warm_store

WHOLE = Scope.of_graph("acme", "imola")
ONE_BY_RULES_MIN = 5
DIMENSIONS = 384


@pytest.fixture(scope="module")
def model_files() -> InstalledModel:
    """The real embedding model."""
    return installed_model("int8")


def ident(number: int) -> str:
    """Return the id of a fact."""
    return f"00000000-0000-7000-8000-{number:012}"


def said(number: int, text: str = "Mediums last 18 laps.", **more: object) -> Fact:
    """Return a fact that can be indexed; facts are one minute apart."""
    return fact(number, text, **{"id": ident(number), **more})


Verdicts = Callable[[str, str], str]
"""Says what a new text is to a candidate's."""


@dataclass
class OpinionatedModel:
    """A language model that answers every pair it is asked about by a function."""

    says: Verdicts
    name: str = "opinionated"
    calls: int = 0
    pairs: list[tuple[str, str]] = field(default_factory=list)

    async def complete(self, messages: Sequence[dict[str, str]]) -> str:
        """Never asked."""
        raise AssertionError(messages)

    async def generate(self, messages: Sequence[dict[str, str]], schema: type[Any]) -> Any:
        """Return a verdict on each pair."""
        assert schema is Opinions
        self.calls += 1
        told = json.loads(messages[1]["content"].split("\n")[1])
        found = []
        for one in told["facts"]:
            for candidate in one["candidates"]:
                self.pairs.append((one["text"], candidate["text"]))
                verdict = self.says(one["text"], candidate["text"])
                ids = {"fact_id": one["id"], "candidate_id": candidate["id"]}
                found.append({**ids, "verdict": verdict})
        return Opinions.model_validate({"verdicts": found})


@dataclass
class House:
    """A graph, its stores, and its judge."""

    cold: ColdStores
    warm: WarmStore
    judge: JudgeAgent
    worker: Worker
    embedder: Embedder | None

    async def remember(self, *facts: Fact) -> None:
        """Store facts with the work of judging them, and index them with their vectors."""
        texts = [one.text for one in facts]
        vectors: Sequence[Any] = [None] * len(texts)
        if self.embedder is not None:
            vectors = await self.embedder.embed(texts)
        for one, vector in zip(facts, vectors, strict=True):
            writer = scope(one.agent_id, user_id=one.user_id, every_user=one.user_id is None)
            again = WorkDraft(kind="judge", key=one.id, payload={"id": one.id})
            await self.cold.semantic.put_fact(writer, one, [again])
            if vector is not None:
                entries = await self.cold.words.entries(WHOLE.for_agent(one.agent_id), [one.id])
                await self.warm.upsert(
                    WHOLE, [entry.model_copy(update={"vector": vector}) for entry in entries]
                )

    async def judged(self, *facts: Fact) -> dict[str, Fact]:
        """Store facts, judge them, and return everything known by id."""
        await self.remember(*facts)
        report = await self.worker.drain()
        assert report.problems == []
        return await self.known()

    async def known(self) -> dict[str, Fact]:
        """Return every fact there is, private ones of one agent included."""
        ids = [ident(number) for number in range(1, 200)]
        sight = WHOLE.for_agent("strategist")
        return {one.id: one for one in await self.cold.semantic.facts(sight, ids)}

    async def live(self) -> set[str]:
        """Return the ids of what is live."""
        return {one.id for one in (await self.cold.review.live_facts(WHOLE, "", 1000)).rows}

    async def events(self, *kinds: str) -> list[tuple[str, tuple[str, ...], str]]:
        """Return the audit feed of some kinds."""
        feed = await self.cold.log.audit(WHOLE)
        return [(one.kind, one.record_ids, one.reason) for one in feed if one.kind in kinds]


@asynccontextmanager
async def house(
    folder: Path,
    *,
    says: Verdicts | None = None,
    model: OpinionatedModel | None = None,
    embedder: Embedder | None = None,
    budget: Budget | None = None,
    policy: JudgePolicy | None = None,
) -> AsyncIterator[House]:
    """Open a graph with its judge."""
    if says is not None:
        model = OpinionatedModel(says)
    # Without vectors the warm index is never asked, and its engine need not be started.
    index: AbstractAsyncContextManager[WarmStore] = ReferenceWarmStore(DIMENSIONS)
    if embedder is not None:
        index = edge_warm_store(folder / "warm", dimensions=DIMENSIONS)
    async with sqlite_cold_store(folder) as cold, index as warm:
        graph = SessionGraph(tenant="acme", id="imola", created_at=START, budget=budget or Budget())
        await cold.graphs.create_graph(graph)
        budgeted = None if model is None else BudgetedModel(model, cold.usage, cold.graphs, 5.0)
        judge = JudgeAgent(
            review=cold.review,
            semantic=cold.semantic,
            warm=warm,
            words=cold.words,
            embedder=embedder,
            model=budgeted,
            comparer=RulesJudge(),
            events=cold.log,
            policy=policy or JudgePolicy(),
            keeper=CoreKeeper(cold.semantic, LearningPolicy(core_cap=3)),
        )
        worker = Worker(cold.queue, {"judge": judge}, "test", lambda: START + timedelta(days=1))
        yield House(cold, warm, judge, worker, embedder)


def _wordings() -> list[Fact]:
    """Return every wording of every group, the first of each group first."""
    texts = [text for wordings in zip(*fact_pairs.GROUPS, strict=True) for text in wordings]
    return [said(number, text) for number, text in enumerate(texts, start=1)]


def _group_of(text: str) -> int:
    return next(at for at, group in enumerate(fact_pairs.GROUPS) if text in group)


def _ends(known: Mapping[str, Fact]) -> dict[int, int]:
    """Return how many facts of each group are live; fails where groups were mixed."""
    for one in known.values():
        if one.superseded_by is not None:
            assert _group_of(one.text) == _group_of(known[one.superseded_by].text)
            assert one.superseded_as == "duplicate"
    left = [_group_of(one.text) for one in known.values() if one.superseded_by is None]
    return {group: left.count(group) for group in range(len(fact_pairs.GROUPS))}


async def test_at_10_one_fact_said_five_ways_ends_as_one_by_rules(
    tmp_path: Path, model_files: InstalledModel
) -> None:
    """Without a language model, all groups side by side: no fact meets one of another group."""
    async with OnnxEmbedder(model_files) as embedder, house(tmp_path, embedder=embedder) as home:
        ends = _ends(await home.judged(*_wordings()))
    assert sum(count == 1 for count in ends.values()) >= ONE_BY_RULES_MIN, ends
    assert sum(ends.values()) <= 40, ends


async def test_at_10_one_fact_said_five_ways_ends_as_one_by_a_model(
    tmp_path: Path, model_files: InstalledModel
) -> None:
    """An honest model is asked once a pass, and what it says passes the floors of the code."""

    def honest(new: str, old: str) -> str:
        return "duplicate" if _group_of(new) == _group_of(old) else "distinct"

    model = OpinionatedModel(honest)
    async with (
        OnnxEmbedder(model_files) as embedder,
        house(tmp_path, model=model, embedder=embedder) as home,
    ):
        facts = _wordings()
        ends = _ends(await home.judged(*facts))
        assert model.calls == -(-len(facts) // JudgePolicy().facts_per_pass)
        assert await home.cold.review.unjudged(WHOLE, 10) == ()
    assert set(ends.values()) == {1}, ends


@pytest.mark.parametrize("opinion", ["duplicate", "supersedes", "denies"])
async def test_at_10_a_model_that_always_says_the_same_loses_nothing(
    tmp_path: Path, opinion: str
) -> None:
    """What speaks of something else stays, and so does what differs in what counts."""
    texts = (
        *("Ada lives in Lisbon.", "The cache is enabled.", "Ben owns 2 boats.", "Ben owns 3 cars."),
        *(
            "Hamilton likes rain.",
            "Leclerc likes rain.",
            "The left lamp works.",
            "The right lamp works.",
        ),
    )
    async with house(tmp_path, says=lambda _new, _old: opinion) as home:
        known = await home.judged(*(said(at, text) for at, text in enumerate(texts, start=1)))
    gone = {one.text for one in known.values() if one.superseded_by is not None}
    assert len(known) == len(texts)
    # Boats and cars, the left lamp and the right: all of it is true at once.
    assert gone == set()
    assert all(one.confidence == 1.0 for one in known.values())


async def test_at_04_what_takes_a_place_leaves_a_readable_chain(tmp_path: Path) -> None:
    """Rome, then Paris since a stated day, then Oslo; each names its successor, none is lost."""
    lives = {"subject": "Ada", "predicate": "lives in"}
    day = START - timedelta(days=30)
    async with house(tmp_path) as home:
        known = await home.judged(
            said(1, "Ada lives in Rome.", object="Rome", **lives),
            said(2, "Ada lives in Paris.", object="Paris", valid_from=day, **lives),
            said(3, "Ada lives in Oslo.", object="Oslo", **lives),
        )
        told = [(one.superseded_by, one.superseded_as, one.valid_to) for one in known.values()]
        assert told == [(ident(2), "natural", day), (ident(3), "natural", None), (None, None, None)]
        assert all(one.judged_at for one in known.values())
        assert await home.events("superseded") == [
            ("superseded", (ident(1), ident(2)), ""),
            ("superseded", (ident(2), ident(3)), ""),
        ]
        assert (await home.cold.queue.waiting(WHOLE))["index"] == 2


@pytest.mark.parametrize("told", [("Oslo", "Rome"), ("Rome", "Oslo")])
async def test_at_04_of_two_dated_values_the_one_that_began_last_stands(
    tmp_path: Path, told: tuple[str, str]
) -> None:
    """In whichever order they are told; one that denies the other comes after it."""
    began = {"Oslo": START - timedelta(days=2_000), "Rome": START - timedelta(days=500)}
    lives = {"subject": "Ada", "predicate": "lives in"}
    async with house(tmp_path) as home:
        known = await home.judged(
            *(
                said(number, f"Ada lives in {city}.", object=city, valid_from=began[city], **lives)
                for number, city in enumerate(told, 1)
            )
        )
        by_city = {one.object: one for one in known.values()}
        oslo, rome = by_city["Oslo"], by_city["Rome"]
        assert (oslo.superseded_by, oslo.superseded_as) == (rome.id, "natural")
        assert (oslo.valid_to, rome.superseded_by) == (began["Rome"], None)
    told_last = "Ada never lived in Oslo."
    denied = said(1, "Ada lives in Oslo.", valid_from=began["Rome"])
    pair = Pair.in_time(denied, said(2, told_last, valid_from=began["Oslo"]))
    assert pair.newer.text == told_last


@pytest.mark.parametrize(
    ("years_ago", "heard_at", "stands"),
    [(16, START, "Rome"), (1, START, "Paris"), (16, None, "Paris")],
    ids=["a story of the past", "lately", "stated by an application"],
)
async def test_at_04_what_is_so_now_gives_not_way_to_what_began_long_ago(
    tmp_path: Path, years_ago: int, heard_at: datetime | None, stands: str
) -> None:
    """Who lives in Rome and tells when they moved to Paris has not moved there since."""
    began = START - timedelta(days=365 * years_ago)
    async with house(tmp_path) as home:
        known = await home.judged(
            said(1, "Ada lives in Rome.", subject="Ada", predicate="lives in", object="Rome"),
            said(
                2,
                "Ada moved to Paris.",
                subject="Ada",
                predicate="lives in",
                object="Paris",
                valid_from=began,
                said_at=heard_at and heard_at + timedelta(hours=1),
            ),
        )
        assert [one.object for one in known.values() if one.superseded_by is None] == [stands]


async def test_at_04_a_denial_says_that_it_never_was_so(tmp_path: Path) -> None:
    """The denied fact loses confidence and its place; a natural end takes neither."""
    async with house(tmp_path) as home:
        known = await home.judged(
            said(1, "The user is allergic to nuts."),
            said(2, "It is not true that the user is allergic to nuts."),
            said(3, "The user likes coffee."),
            said(4, "The user no longer likes coffee."),
        )
    assert (known[ident(1)].superseded_as, known[ident(1)].confidence) == ("denial", 0.9)
    assert (known[ident(3)].superseded_as, known[ident(3)].confidence) == ("natural", 1.0)


async def test_ma_07_what_is_said_again_counts_in_the_order_of_saying(tmp_path: Path) -> None:
    """18, then 25, then 18 again is 18, also when the last is claimed first."""
    async with house(tmp_path) as home:
        await home.remember(
            said(1, "Mediums last 18 laps."),
            said(2, "Mediums last 25 laps."),
            said(3, "The mediums last about 18 laps."),
        )
        items = await home.cold.queue.claim(["judge"], "test", 9, 60, START + timedelta(days=1))
        last: list[Work] = [item for item in items if item.key == ident(3)]
        assert await home.judge.handle(last, START + timedelta(days=1)) == {}
        assert await home.live() == {ident(3)}
        assert await home.judge.handle(items, START + timedelta(days=1)) == {}
        assert await home.live() == {ident(3)}


async def test_ma_07_only_facts_of_one_bucket_meet(tmp_path: Path) -> None:
    """Other users, other eyes, other topics: the same words, and nothing gives way."""
    text = "The user is allergic to nuts, eggs and cow's milk."
    async with house(tmp_path) as home:
        facts = [
            said(1, text, user_id="ada"),
            said(2, f"Indeed: {text}", user_id="ben"),
            said(3, text, private=True),
            said(4, text, topics={"food"}),
            said(8, text.replace("is", "is not"), topics={"health"}),
            said(6, text, private=True, agent_id="chief"),
            said(7, text),
        ]
        await home.judged(*facts)
        # What is open to all stands for what only some topics see; nothing else meets.
        assert await home.live() == {ident(at) for at in (1, 2, 3, 6, 7, 8)}
        known = await home.known()
        assert known[ident(4)].superseded_by == ident(7)


async def test_ez_07_who_takes_the_place_of_a_core_fact_is_core(tmp_path: Path) -> None:
    """The block is not left without what it had; of two that say the same the core one stands."""
    lives = {"subject": "Ada", "predicate": "lives in"}
    async with house(tmp_path) as home:
        known = await home.judged(
            said(1, "Ada lives in Rome.", object="Rome", tier="core", uses=0, **lives),
            said(2, "Ada lives in Paris.", object="Paris", **lives),
            said(3, "Mediums last 18 laps."),
            said(4, "The mediums last 18 laps.", tier="core"),
        )
        assert known[ident(1)].superseded_by == ident(2)
        assert known[ident(2)].tier == "core"
        assert known[ident(3)].superseded_by == ident(4)
        assert await home.events("promoted") == [
            ("promoted", (ident(2),), f"takes the place of core fact {ident(1)}")
        ]


async def test_ez_07_core_facts_that_are_remembered_keep_to_the_cap(tmp_path: Path) -> None:
    """A constraint stays whatever its age; what has no place leaves, with the cause in the feed."""
    async with house(tmp_path) as home:
        facts = [said(at, f"Sensor {at} hums.", tier="core", uses=0) for at in range(1, 6)]
        facts[2] = facts[2].model_copy(update={"fact_type": "constraint"})
        known = await home.judged(*facts)
        core = {one.id for one in known.values() if one.tier == "core"}
        assert core == {ident(3), ident(5), ident(1)}
        why = "neither among the most used nor the newest nor the oldest, used 0 times"
        assert await home.events("demoted") == [
            ("demoted", (ident(at),), f"core holds 5 facts, cap 3: {why}") for at in (2, 4)
        ]


async def test_ma_07_without_its_model_the_judge_goes_by_rules(tmp_path: Path) -> None:
    """No budget left: everything is stamped all the same, and the feed has ids and the reason."""
    model = OpinionatedModel(lambda _new, _old: "duplicate")
    async with house(tmp_path, model=model, budget=Budget(model_calls=0)) as home:
        known = await home.judged(
            said(1, "Ada's flat looks over the Tagus in Lisbon."),
            said(2, "Ada lives in Lisbon."),
            said(3, "ada lives in Lisbon!"),
        )
        assert known[ident(3)].superseded_by == ident(2)
        assert all(one.judged_at for one in known.values())
        assert await home.live() == {ident(1), ident(2)}
        ids = (ident(1), ident(2), ident(3))
        assert await home.events("judged") == [("judged", ids, "model unavailable")]
    assert model.calls == 0


async def test_ma_07_neither_index_nor_embedder_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both fail: words find the neighbour, which the cold tier has at once."""

    class Broken:
        model_id = "broken"
        dimensions = DIMENSIONS

        def __init__(self) -> None:
            self.works = True

        async def embed(self, texts: Sequence[str], **_how: bool) -> Any:
            if not self.works:
                raise TierUnavailable("embedder", "embed", "down")
            return tuple((1.0, *([0.0] * (DIMENSIONS - 1))) for _ in texts)

    async def down(*_args: object) -> Any:
        raise TierUnavailable("warm", "search", "down")

    embedder = Broken()
    async with house(tmp_path, embedder=embedder) as home:
        monkeypatch.setattr(type(home.warm), "search", down)
        known = await home.judged(said(1), said(2, "The mediums last 18 laps"))
        assert known[ident(2)].superseded_by == ident(1)
        await home.remember(said(3, "About 18 laps mediums last"), said(4, "mediums last 18 laps"))
        embedder.works = False
        assert (await home.worker.drain()).problems == []
        assert await home.live() == {ident(1), ident(3)}


async def test_ma_07_a_world_that_changes_meanwhile_is_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A neighbour that is forgotten in between lets nothing give way to it, however often."""
    async with house(tmp_path) as home:
        settle = home.cold.review.settle
        refusals = [1]

        async def racing(
            asking: Scope, fact_id: str, verdicts: Any, now: datetime, work: Any = ()
        ) -> bool:
            if fact_id == ident(2) and refusals:
                refusals.pop()
                assert await home.cold.review.forget(WHOLE, ident(1), "asked", now)
            return await settle(asking, fact_id, verdicts, now, work)

        monkeypatch.setattr(home.cold.review, "settle", racing)
        await home.judged(said(1), said(2, "The mediums last 18 laps"))
        assert await home.live() == {ident(2)}
        assert await home.cold.review.unjudged(WHOLE, 10) == ()

        async def never(*_args: object) -> bool:
            return False

        monkeypatch.setattr(home.cold.review, "settle", never)
        await home.remember(said(3, "mediums last 18 laps!"))
        items = await home.cold.queue.claim(["judge"], "test", 9, 60, START + timedelta(days=1))
        later = await home.judge.handle(items, START)
        assert later == {items[0].id: START + timedelta(seconds=2)}


_LIST = "Ada takes aspirin, metformin and vitamin D."


async def test_of_a_list_that_is_over_in_part_the_rest_is_kept(tmp_path: Path) -> None:
    """Each ending takes what it names; the rest was said when the list was, and is as core."""
    async with house(tmp_path) as home:
        await home.judged(
            said(1, _LIST, tier="core", uses=0, confidence=0.9, source_ids=("one",)),
            said(2, "Ada stopped taking aspirin.", source_ids=("two",)),
            said(3, "Ada no longer takes vitamin D."),
        )
        page = await home.cold.review.live_facts(WHOLE, "", 100)
        live = {one.text: one for one in page.rows}
        assert set(live) == {
            "Ada takes metformin.",
            "Ada stopped taking aspirin.",
            "Ada no longer takes vitamin D.",
        }
        rest = live["Ada takes metformin."]
        known = await home.known()
        assert known[ident(1)].superseded_by == ident(2)
        assert (rest.said_at, rest.tier, rest.confidence) == (
            known[ident(1)].recorded_at,
            "core",
            0.9,
        )
        assert rest.source_ids[:2] == ("one", "two")
        assert await home.cold.review.unjudged(WHOLE, 10) == ()


async def test_of_a_list_that_is_forgotten_meanwhile_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest is stored before the list gives way, and goes where that comes to nothing."""
    async with house(tmp_path) as home:
        settle = home.cold.review.settle

        async def racing(
            asking: Scope, fact_id: str, verdicts: Any, now: datetime, work: Any = ()
        ) -> bool:
            if fact_id == ident(2):
                await home.cold.review.forget(WHOLE, ident(1), "asked", now)
            return await settle(asking, fact_id, verdicts, now, work)

        monkeypatch.setattr(home.cold.review, "settle", racing)
        await home.judged(said(1, _LIST), said(2, "Ada stopped taking aspirin."))
        assert await home.live() == {ident(2)}


async def test_of_a_list_the_rest_is_kept_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who dies before the list gives way leaves a rest, which the next one finds."""
    async with house(tmp_path) as home:
        await home.judged(said(1, _LIST))
        settle = home.cold.review.settle

        async def dying(*_args: object) -> bool:
            raise TierUnavailable("cold", "settle", "it died")

        monkeypatch.setattr(home.cold.review, "settle", dying)
        await home.remember(said(2, "Ada stopped taking aspirin."))
        await home.worker.drain()
        monkeypatch.setattr(home.cold.review, "settle", settle)
        await home.judge.review_graph(WHOLE, START + timedelta(days=2))
        page = await home.cold.review.live_facts(WHOLE, "", 100)
        assert sorted(one.text for one in page.rows) == [
            "Ada stopped taking aspirin.",
            "Ada takes metformin and vitamin D.",
        ]


async def test_a_graph_is_reviewed_as_a_whole(tmp_path: Path) -> None:
    """Page by page: what has no stamp is judged, and duplicates are found whoever was judged."""
    async with house(tmp_path, policy=JudgePolicy(facts_per_pass=2)) as home:
        facts = [said(number, f"Sensor {number} hums.") for number in range(1, 6)]
        again = [said(number + 10, f"The sensor {number} hums") for number in range(1, 4)]
        await home.remember(*facts, *again[:2])
        for one in (*facts, *again[:2]):
            await home.cold.review.settle(WHOLE, one.id, (), START)
        await home.remember(again[2])
        assert await home.judge.review_graph(WHOLE, START) == 3
        assert await home.live() == {one.id for one in facts}
        assert await home.judge.review_graph(WHOLE, START) == 0


async def test_a_backlog_is_judged_before_what_came_last(tmp_path: Path) -> None:
    """An item whose fact is not among the oldest comes back at once, until it is."""
    async with house(tmp_path, policy=JudgePolicy(facts_per_pass=2)) as home:
        await home.remember(*(said(number, f"Sensor {number} hums.") for number in range(1, 6)))
        items = await home.cold.queue.claim(["judge"], "test", 9, 60, START + timedelta(days=1))
        later = await home.judge.handle(items, START)
        assert len(later) == 3
        assert set(later.values()) == {START}
        assert len(await home.cold.review.unjudged(WHOLE, 10)) == 3
