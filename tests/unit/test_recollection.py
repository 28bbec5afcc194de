"""What recall decides by itself: the pool, the scores, the priors, and what is chosen."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from support.records import hit, scope

from ezra.ranking.choosing import (
    Ranked,
    current_first,
    folded,
    said_once,
    varied,
    within_budget,
)
from ezra.ranking.cues import read_cues, wants_each
from ezra.ranking.pool import NOWHERE, Pool, sessions_of
from ezra.ranking.priors import (
    CLASS_WEIGHTS,
    Priors,
    class_of,
    decay,
    factors,
    half_life_decay,
    use_boost,
)
from ezra.ranking.scoring import Question, score
from ezra.ranking.terms import Reader
from ezra.ranking.weights import DEFAULT_WEIGHTS, Weights
from tiers.recollection import Said, WordStatistics
from tiers.records import Hit

NOON = datetime(2026, 5, 15, 12, tzinfo=UTC)
ZONE = ZoneInfo("UTC")
GRAPH = scope().graph_id


def said(number: int, text: str, *, speaker: str = "ada", hours: float = 0.0) -> Said:
    """Return a turn of a conversation."""
    when = NOON + timedelta(hours=hours, seconds=number)
    return Said(f"t{number}", "ada", None, speaker, f"{speaker}: {text}", when, when)


def pool_of(*hits: Hit, leg: str = "words") -> Pool:
    """Return a pool with one leg."""
    pool = Pool(GRAPH, Reader())
    pool.add_leg(leg, hits, are_cosines=leg == "meaning")
    return pool


def own(record_id: str, **fields: object) -> Hit:
    """Return a hit of the asked graph."""
    return hit(record_id, graph_id=GRAPH, **fields)


def question(text: str, *speakers: str, user_id: str | None = None) -> Question:
    """Return a question as it is read."""
    cues = read_cues(text, speakers, NOON, ZONE)
    return Question(text, cues, WordStatistics(100, {}), user_id, ZONE)


def best(pool: Pool, asked: Question, weights: Weights = DEFAULT_WEIGHTS) -> list[str]:
    """Return the ids of a pool, best first."""
    scored = score(pool, asked, weights)
    ranked = sorted(
        zip(scored.scores, scored.candidates, strict=True), key=lambda one: (-one[0], one[1].key)
    )
    return [candidate.id for _, candidate in ranked]


def test_an_answer_is_found_by_the_question_before_it() -> None:
    """The words before a turn count for it; across a long silence they do not."""
    turns = [said(1, "Where did you leave the spare gearbox?"), said(2, "Behind the blue rack.")]
    asked = own("t1", kind="turn", text=turns[0].text, occurred_at=NOON)
    pool = pool_of(asked)
    pool.add_conversations([turns], joins=True)
    answer = pool.get((GRAPH, "t2"))
    assert answer is not None
    assert [pool.read[row].id for row in pool.said[slice(*answer.earlier)]] == ["t1"]
    assert best(pool, question("spare gearbox"))[0] == "t2"  # the question only asks

    apart = pool_of(asked)
    apart.add_conversations([[turns[0], said(2, "Behind the blue rack.", hours=12)]], joins=True)
    assert [len(session) for session in sessions_of(list(apart))] == [1, 1]
    assert [one.earlier[0] == one.earlier[1] for one in apart] == [True, True]


def test_a_father_is_found_where_somebody_speaks_of_a_dad() -> None:
    """What means the same weighs the same, whichever of it is asked for or was said."""
    told = [("a", "Dad took me to Lyme Regis."), ("b", "The bus took me to Lyme Regis.")]
    pool = pool_of(*(own(one, kind="fact", text=text) for one, text in told))

    assert best(pool, question("Where did my father take me?"))[0] == "a"
    assert best(pool, question("Where did daddy go?"))[0] == "a"


def test_a_turn_goes_before_the_next_one_which_only_follows_its_words() -> None:
    """A word said before counts less than one of its own, whatever their lengths."""
    turns = [
        said(0, "Ferrari has brought out tyres. " * 15),
        said(1, "The front left brake has reached 910 degrees, 60 above the limit."),
        said(2, "The floor is on."),
    ]
    pool = pool_of(own("t1", kind="turn", text=turns[1].text, occurred_at=NOON))
    pool.add_conversations([turns], joins=True)
    assert best(pool, question("brake degrees"))[:2] == ["t1", "t2"]


def test_what_stands_beside_a_hit_joins_only_where_everything_is_wanted() -> None:
    """A neighbour was not asked whether it is of the wanted time or topic."""
    turns = [said(1, "The spare gearbox?"), said(2, "Behind the rack.")]
    pool = pool_of(own("t1", kind="turn", text=turns[0].text))
    pool.add_conversations([turns], joins=False)
    assert [one.id for one in pool] == ["t1"]


def test_long_turns_stand_alone() -> None:
    """The window is a budget of words, so an answer of four hundred has none."""
    turns = [said(1, "word " * 60), said(2, "more " * 60)]
    pool = pool_of(own("t2", kind="turn", text=turns[1].text))
    pool.add_conversations([turns], joins=True)
    later = pool.get((GRAPH, "t2"))
    assert later is not None
    assert (pool.said[slice(*later.earlier)], later.before) == ([], NOWHERE)


def test_who_is_named_and_when_it_was_count() -> None:
    """Of equal texts the one of the named speaker and the named month is better."""
    text = "the wing was changed"
    pool = pool_of(
        own("a", kind="turn", text=text, speaker="bob", occurred_at=NOON),
        own("b", kind="turn", text=text, speaker="c/ada", occurred_at=NOON),
    )
    assert best(pool, question("What wing did Ada change?", "c/ada", "bob"))[0] == "b"
    pool = pool_of(
        own("a", kind="turn", text=text, occurred_at=NOON - timedelta(days=60)),
        own("b", kind="turn", text=text, occurred_at=NOON),
    )
    assert best(pool, question("What wing was changed in May 2026?"))[0] == "b"


def test_i_means_the_user() -> None:
    """By the name of who asks, and by what a user is called where nobody has a name."""
    text = "wants the soft tyre"
    hits = (own("a", kind="turn", text=text, speaker="assistant"),)
    pool = pool_of(*hits, own("b", kind="turn", text=text, speaker="user"))
    assert best(pool, question("Which tyre do I want?"))[0] == "b"
    pool = pool_of(*hits, own("b", kind="turn", text=text, speaker="kim"))
    assert best(pool, question("Which tyre do I want?", user_id="kim"))[0] == "b"
    facts = (own("a", kind="fact", text=f"tom {text}"), own("b", kind="fact", text=f"kim {text}"))
    pool = pool_of(*facts)  # which tell what a user said of themselves by their name
    assert best(pool, question("Which tyre do I want?", user_id="kim"))[0] == "b"
    assert best(pool, question("Which tyre do I want?", user_id="c/kim"))[0] == "b"
    assert best(pool, question("Which tyre do I want?"))[0] == "a"


def test_you_means_the_one_who_answers() -> None:
    """Who asks what was recommended to them does not mean themselves."""
    text = "the soft tyre"
    pool = pool_of(
        own("a", kind="turn", text=text, speaker="user"),
        own("b", kind="turn", text=text, speaker="assistant"),
    )
    assert best(pool, question("Which tyre did you recommend for my car?"))[0] == "b"


def test_a_statement_with_a_question_behind_it_tells_something() -> None:
    """Only what tells next to nothing is worse for asking."""
    asked = "ada: Hello! Which wing did we change?"
    told = "ada: We changed the front wing, gearbox, floor and both brakes on Friday. Why?"
    pool = pool_of(own("asked", text=asked), own("told", text=told))
    assert {one.id: one.only_asks for one in pool} == {"asked": True, "told": False}


def test_scores_say_what_made_them() -> None:
    """The parts add up to the score."""
    pool = pool_of(own("a", text="the wing"), own("b", text="a tyre and the wing, changed"))
    pool.add_leg(
        "meaning", [own("b", text="", score=0.5), own("a", text="", score=0.2)], are_cosines=True
    )
    scored = score(pool, question("wing change"), DEFAULT_WEIGHTS)
    for place, total in enumerate(scored.scores):
        assert sum(scored.contributions(place).values()) == pytest.approx(total)
    assert list(score(Pool(GRAPH, Reader()), question("wing"), DEFAULT_WEIGHTS).scores) == []


@pytest.mark.parametrize(
    ("age", "left"),
    [
        (-5, 1.0),
        (0, 1.0),
        (180, 1.0),
        (365, 0.993),
        (720, 0.941),
        (1000, 0.869),
        (2005, 0.5),
        (3650, 0.082),
    ],
)
def test_decay_is_the_documented_curve(age: float, left: float) -> None:
    """Flat for half a year, a half at offset and scale together."""
    assert decay(age) == pytest.approx(left, abs=0.0006)
    assert decay(45, Priors(offset_days=0, half_days=45)) == pytest.approx(0.5)


def test_a_half_life_halves_and_buries_nothing() -> None:
    """Half after one, a third after two, something after eighty; the future counts whole."""
    left = [half_life_decay(age, 45) for age in (-10, 0, 45, 90, 3_600)]
    assert left == pytest.approx([1, 1, 1 / 2, 1 / 3, 1 / 81])


@pytest.mark.parametrize(("uses", "boost"), [(0, 1.0), (1, 1.06), (10, 1.208), (100, 1.401)])
def test_use_boosts_by_the_logarithm(uses: int, boost: float) -> None:
    """Ten times the uses add as much again."""
    assert use_boost(uses) == pytest.approx(boost, abs=0.001)


def test_age_counts_from_the_newest_and_rules_do_not_age() -> None:
    """Of identical texts the younger is better; a procedure is as good as it ever was."""
    old = NOON - timedelta(days=1500)
    pool = pool_of(
        own("a", kind="turn", text="x", occurred_at=old),
        own("b", kind="rule", text="x", occurred_at=old),
        own("c", kind="fact", text="x", recorded_at=old, last_used_at=NOON),
    )
    found = {one.id: factors(one, scope(), NOON, NOON, Priors()) for one in pool}
    assert found["a"]["decay"] == pytest.approx(decay(1500))
    assert "decay" not in found["b"]
    assert "decay" not in found["c"]


def test_validity_is_not_age() -> None:
    """A fact whose time is over counts half, however young it is."""
    over = own("a", kind="fact", text="x", valid_to=NOON - timedelta(days=1), recorded_at=NOON)
    one = next(iter(pool_of(over)))
    assert factors(one, scope(), NOON, NOON, Priors())["validity"] == 0.5


def test_records_belong_to_a_scope_class() -> None:
    """Facts to who wrote them or whose they are, talk to the session, the rest to the tenant."""
    asking = scope("ada", user_id="kim")
    pool = pool_of(
        own("a", kind="turn", agent_id="ada", user_id="kim"),
        own("b", kind="fact", agent_id="ada", user_id=None),
        own("c", kind="fact", agent_id="ada", user_id="kim"),
        own("d", kind="fact", agent_id="bob", user_id=None),
        hit("e", kind="fact", graph_id="parent", agent_id="ada"),
    )
    classes = {one.id: class_of(one, asking, CLASS_WEIGHTS) for one in pool}
    assert classes == {"a": "session", "b": "agent", "c": "user", "d": "session", "e": "tenant"}


def ranked(*hits: Hit) -> list[Ranked]:
    """Return hits as ranked candidates by their own scores."""
    found = [Ranked(one, one.hit.score if one.hit else 0.0, {}) for one in pool_of(*hits)]
    return sorted(found, key=lambda one: -one.score)


def test_a_summary_leads_to_the_turn_that_it_covers() -> None:
    """The turn takes its place and carries its id; a turn much worse does not stand for it."""
    summary = own("s", kind="summary", text="wing and tyre", score=0.9, source_ids=("t",))
    turn = own("t", kind="turn", text="the wing", score=0.7)
    chosen = folded(ranked(summary, turn))
    assert [(one.candidate.id, one.score, one.folded) for one in chosen] == [("t", 0.9, ("s",))]
    weak = turn.model_copy(update={"score": 0.3})
    assert [one.candidate.id for one in folded(ranked(summary, weak))] == ["s", "t"]


GRAINS = {
    "month": "2026-05\n[2026-05-14] ada: The lamp flickers.\n[2026-05-20] ada: The wing is at 28.",
    "week": "2026-W20\n[2026-05-14] ada: The lamp flickers.",
    "day": "2026-05-14\n[2026-05-14 09:00] ada: The lamp flickers.",
    "later": "2026-05-21\n[2026-05-21 09:00] ada: The lamp flickers.",
}


def grains(*names: str) -> list[Hit]:
    """Return episodes with falling scores."""
    scores = {name: 0.9 - place / 100 for place, name in enumerate(names)}
    return [own(name, kind="episode", text=GRAINS[name], score=scores[name]) for name in names]


def test_a_day_of_other_sentences_stays_beside_a_year_that_has_all_its_words() -> None:
    """Words alone do not tell that something happened again; its sentence of another day does."""
    year = own("y", kind="episode", text="2026\n[2026-05-14] ada: The lamp was off.", score=0.9)
    again = own("d", kind="episode", text="2026-05\n[2026-05-05] ada: The lamp was off.", score=0.8)
    chosen = folded(ranked(year, again))
    assert [(one.candidate.id, one.folded) for one in chosen] == [("y", ()), ("d", ())]
    day, month = grains("month", "day")
    assert [one.folded for one in folded(ranked(day, month))] == [("day",)]


def test_a_summary_goes_where_the_record_went_that_it_covers() -> None:
    """A quarter covers its month, which says what the day does: one of the three is answered."""
    day = own("d", kind="episode", text=GRAINS["day"], score=0.9)
    month = own("m", kind="episode", text=GRAINS["day"], score=0.89)
    quarter = own("q", kind="episode", text="2026-Q2", score=0.85, source_ids=("m",))
    chosen = folded(ranked(day, month, quarter))
    assert [(one.candidate.id, one.folded) for one in chosen] == [("d", ("m", "q"))]


def test_what_says_the_same_is_answered_once() -> None:
    """Of two kinds; of two turns with the same words each tells when it was said."""
    facts = (own("f", kind="fact", text="The wing is at 28.", score=0.9),)
    chosen = folded(ranked(*facts, own("t", kind="turn", text="the wing is at 28", score=0.8)))
    assert [(one.candidate.id, one.folded) for one in chosen] == [("f", ("t",))]
    turns = [own(name, kind="turn", text="Hello there", score=0.5) for name in ("a", "b")]
    assert len(folded(ranked(*turns))) == 2


def test_of_turns_in_the_same_words_the_best_stands() -> None:
    """By the same speaker; with it what summaries of other days tell, if that is all they tell."""
    said_again = [
        own(name, kind="turn", text=text, speaker=who, score=score)
        for name, who, text, score in (
            ("a", "ada", "ada: All pills taken, fine.", 0.9),
            ("b", "ada", "ada: all pills taken - fine!", 0.8),
            ("c", "bob", "bob: All pills taken, fine.", 0.7),
            ("d", "ada", "ada: All pills taken, not fine.", 0.6),
            ("y", "ada", "ada: Yes.", 0.5),
            ("z", "ada", "ada: Yes.", 0.4),
        )
    ]
    day = own("s", kind="summary", text="[2026-05-02 09:00] ada: All pills taken, fine.", score=1.0)
    more = own("m", kind="summary", text=f"{day.text}\n[2026-05-02 10:00] ada: Ill.", score=0.3)
    chosen = said_once(ranked(*said_again, day, more))
    assert [(one.candidate.id, one.folded) for one in chosen] == [
        ("a", ("b", "s")),
        *((name, ()) for name in "cdyzm"),
    ]
    assert chosen[0].score == 1.0


def test_a_summary_of_what_was_said_again_goes_to_the_turn_that_stands() -> None:
    """Though another of the same words is the one that it covers."""
    turns = [
        own(n, kind="turn", text="The pump is off", score=s) for n, s in (("a", 1), ("b", 0.9))
    ]
    other = own("s", kind="summary", text="Off. It is cold.", score=0.8, source_ids=("b",))
    chosen = folded(said_once(ranked(*turns, other)))
    assert [(one.candidate.id, one.folded) for one in chosen] == [("a", ("b", "s"))]


@pytest.mark.parametrize(
    ("text", "is_each"),
    [
        ("How often did Walter feel fine?", True),
        ("How many times were all pills taken?", True),
        ("What did he say every time?", True),
        ("When did he take the pills?", True),
        ("On which days was he fine?", True),
        ("In which order did I bring up the pills?", True),
        ("What changed in Walter's medicines?", False),
        ("Which medicines does Walter take?", False),
    ],
)
def test_each_time_may_be_asked_for(text: str, is_each: bool) -> None:  # noqa: FBT001 - of a table
    """By who counts, or asks when."""
    assert wants_each(text) is is_each


def test_what_holds_now_goes_before_what_was_said_otherwise() -> None:
    """Right before it, by its score; not where the question hardly meets it, or it is first."""
    turns = [
        own(name, kind="turn", text=name, score=score)
        for name, score in (("old", 0.9), ("other", 0.8), ("new", 0.5), ("far", 0.1))
    ]
    instead = {"old": frozenset(("new", "f"))}
    chosen = current_first(ranked(*turns), instead)
    assert [one.candidate.id for one in chosen] == ["new", "old", "other", "far"]
    assert chosen[0].score == 0.9
    assert chosen[0].factors["current"] == pytest.approx(0.9 / 0.5)
    assert chosen[1].factors["outdated"] == pytest.approx(0.999)
    as_they_are = ranked(*turns)
    for name, others in (("old", ("far",)), ("old", ("old",)), ("new", ("old",)), ("x", ())):
        assert current_first(as_they_are, {name: frozenset(others)}) == as_they_are


def test_what_gave_way_twice_stands_behind_what_holds() -> None:
    """Of three that say where somebody lives the last is first."""
    turns = [
        own(name, kind="turn", text=name, score=score)
        for name, score in (("first", 0.9), ("second", 0.8), ("third", 0.6))
    ]
    third = frozenset(("third",))
    chosen = current_first(ranked(*turns), {"first": third, "second": third})
    assert [one.candidate.id for one in chosen] == ["third", "first", "second"]


def test_a_rule_stands_beside_what_recites_it() -> None:
    """A turn in which an agent said a rule's steps has no counts; two rules alike are one."""
    said = "Reset the wing actuator."
    rules = [own(one, kind="rule", text=said, score=at) for one, at in (("r", 0.8), ("q", 0.7))]
    for kind in ("turn", "fact"):
        chosen = folded(ranked(own("x", kind=kind, text=said, score=0.9), *rules))
        assert [(one.candidate.id, one.folded) for one in chosen] == [("x", ()), ("r", ("q",))]


def test_one_kind_does_not_crowd_out_the_others() -> None:
    """Where others are strong too; weak ones take nobody's place."""
    turns = [own(f"t{n}", kind="turn", text=f"turn {n}", score=1 - n / 100) for n in range(20)]
    facts = [own(f"f{n}", kind="fact", text=f"fact {n}", score=0.8) for n in range(3)]
    chosen = [one.candidate.id for one in varied(ranked(*turns, *facts), 10)]
    assert chosen == [f"t{n}" for n in range(9)] + ["f0"]
    weak = facts[0].model_copy(update={"score": 0.5})
    assert "f0" not in [one.candidate.id for one in varied(ranked(*turns, weak), 10)]
    assert varied([], 10) == []


def test_a_budget_of_tokens_is_kept() -> None:
    """A smaller answer may follow one that does not fit."""
    hits = [own("a", text="x" * 40), own("b", text="x" * 400), own("c", text="x" * 20)]
    assert [one.id for one in within_budget(hits, 20)] == ["a", "c"]
    assert within_budget(hits, None) == hits
