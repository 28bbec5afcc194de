"""Whether two claims contradict each other, on labelled pairs, and how that is settled."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import claim_pairs, everyday_claims
from support.tier_samples import NOW

from ezra.contradiction import Contradiction, Handlers
from ezra.contradiction.frames import CLAIM_CHARS_MAX, speaks_of_speaker
from ezra.contradiction.quantities import Quantity, relation, scan, with_digits
from ezra.contradiction.rules import compare
from ezra.contradiction.strategies import agreement, highest_trust, last_write_wins, settle, tell
from tiers.errors import UsageError
from tiers.records import Commitment, Scope, Settlement

# The rules that say whether two claims contradict each other, on pairs labelled by hand.

RECALL_MIN = 0.8
PAIRS_MIN = 400


def _flat(table: Mapping[str, tuple[tuple[str, str], ...]]) -> list[tuple[str, str]]:
    return list(chain.from_iterable(table.values()))


CONTRADICTIONS = _flat(claim_pairs.CONTRADICTIONS) + everyday_claims.pairs_of(
    everyday_claims.CONTRADICTIONS
)
AGREEMENTS = _flat(claim_pairs.AGREEMENTS)
UNRELATED = _flat(claim_pairs.UNRELATED) + everyday_claims.pairs_of(everyday_claims.UNRELATED)
CLAIMS = sorted({claim for pair in (*CONTRADICTIONS, *AGREEMENTS, *UNRELATED) for claim in pair})


def _verdicts(pair: tuple[str, str]) -> set[str]:
    """Return what is said about a pair, whichever comes first."""
    one, two = pair
    return {compare(one, two).relation, compare(two, one).relation}


def test_no_pair_of_which_both_may_be_true_is_a_contradiction() -> None:
    """Nor an agreement: either would retire a belief that still holds. No exception."""
    assert len(CONTRADICTIONS) + len(AGREEMENTS) + len(UNRELATED) >= PAIRS_MIN
    assert [pair for pair in UNRELATED if _verdicts(pair) != {"unrelated"}] == []


def test_no_agreement_is_a_contradiction() -> None:
    """The same in other words, other units or denied twice is found to be the same."""
    assert [pair for pair in AGREEMENTS if _verdicts(pair) != {"agreement"}] == []


def test_contradictions_are_found() -> None:
    """At least four of five, those that need knowledge of the world included."""
    found = [pair for pair in CONTRADICTIONS if _verdicts(pair) == {"contradiction"}]
    missed = [pair for pair in CONTRADICTIONS if pair not in found]
    assert len(found) / len(CONTRADICTIONS) >= RECALL_MIN, missed
    assert not any("agreement" in _verdicts(pair) for pair in missed)


@pytest.mark.parametrize(
    ("claim", "rival", "reason"),
    [
        ("We pit on lap 20", "We do not pit on lap 20", "one denies what the other says"),
        ("Mediums last 18 laps", "Mediums last 25 laps", "two numbers for one thing: 18 and 25"),
        ("DRS is enabled", "DRS is disabled", "opposites: disabled and enabled"),
        ("Start on softs", "Start on mediums", "one excludes the other: medium and soft"),
        ("We plan no stops", "We plan two stops", "none and 2"),
        ("Ann is older than Tom", "Tom is older than Ann", "the same comparison, turned round"),
        ("The race is cancelled", "The race is on Sunday", "one says that it is cancelled"),
    ],
)
def test_a_contradiction_says_why(claim: str, rival: str, reason: str) -> None:
    """By which rule, and what it is about."""
    assert compare(claim, rival).reason == reason


@given(st.sampled_from(CLAIMS), st.sampled_from(CLAIMS))
@settings(max_examples=150)
def test_the_order_of_two_claims_does_not_matter(one: str, two: str) -> None:
    """Whoever came first, and no claim contradicts itself."""
    assert compare(one, two).relation == compare(two, one).relation
    assert compare(one, one).relation == "agreement"


@given(st.text(max_size=60), st.text(max_size=60))
@settings(max_examples=150)
def test_any_text_is_compared(one: str, two: str) -> None:
    """Nothing raises, and what is no claim contradicts none."""
    assert compare(one, two).relation in {"unrelated", "agreement", "contradiction"}
    assert compare(one, one).relation != "contradiction"


@pytest.mark.parametrize(
    "piece",
    [
        "1-",
        "1,",
        "1.",
        "not ",
        "if ",
        ": ",
        "'",
        "no longer ",
        "between 1 and ",
        "1 m ",
        "two ",
        "- ",
    ],
)
def test_a_hostile_claim_costs_little(piece: str) -> None:
    """Nothing in a claim makes reading it slow; a very long one is not read at all."""
    claim = (piece * CLAIM_CHARS_MAX)[:CLAIM_CHARS_MAX]
    compare("warm", "up")  # the first one imports and compiles
    started = time.process_time()
    compare(claim, f"{claim[:-1]}x")
    assert time.process_time() - started < 0.5
    assert compare(claim * 1000, claim * 1000).relation == "unrelated"


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("The language is C++", "The language is C"),
        ("The grade is A-", "The grade is A"),
        ("The vote is 👍", "The vote is 👎"),
        ("The ratio is 1/2", "The ratio is 1 2"),
        ("यह की है", "यह का है"),
        ("?", "!"),
        ("", ""),
    ],
)
def test_signs_are_not_passed_over(one: str, two: str) -> None:
    """What differs only in a sign is not the same, and nothing is not the same as nothing."""
    assert compare(one, two).relation == "unrelated"


def _quantity(text: str) -> Quantity:
    found = [piece for piece in scan(with_digits(text)) if isinstance(piece, Quantity)]
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ("1.5 km", "1500 m", "same"),
        ("two hours", "120 min", "same"),
        ("$5m", "5 million dollars", "same"),
        ("2:30 pm", "14:30", "same"),
        ("2:30", "14:30", "near"),
        ("14 May", "May 14th, 2026", "near"),
        ("2026-05-14", "14 May 2026", "same"),
        ("1.500 kg", "1500 kg", "near"),
        ("2.5 s", "2.46 s", "near"),
        ("5 km", "3 miles", "near"),
        ("about 18 laps", "20 laps", "near"),
        ("at least 5", "3", "apart"),
        ("18-20 laps", "between 18 and 20 laps", "same"),
        ("v1.10", "v1.1", "apart"),
        ("-5 °C", "5 °C", "apart"),
        ("1:23.456", "83.456 s", "same"),
        ("twenty-five laps", "25 laps", "same"),
        ("Python 3.10", "Python 3.1", "near"),
        ("pin 0042", "pin 42", "near"),
        ("build 2.0", "build 2", "same"),
        ("€4.50", "€4.5", "same"),
    ],
)
def test_quantities_are_compared_in_one_unit(one: str, two: str, expected: str) -> None:
    """What may be meant to be the same is near: neither the same nor another."""
    first, second = _quantity(one), _quantity(two)
    assert first.kind == second.kind
    assert relation(first, second) == relation(second, first) == expected


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ("We run Python 3.10.", "We run Python 3.1.", "unrelated"),
        ("The pin is 0042.", "The pin is 42.", "unrelated"),
        ("The fee is $4.50.", "The fee is $4.5.", "agreement"),
        ("The queue has 1,000 places.", "The queue has 1000 places.", "agreement"),
    ],
)
def test_names_made_of_digits_are_read_as_written(one: str, two: str, expected: str) -> None:
    """What is named by a number is not what another name of the same value stands for."""
    assert compare(one, two).relation == expected


@pytest.mark.parametrize("text", ["Q3", "4x4", "16:9", "A4 paper", "no one", "one day"])
def test_what_is_no_number_is_none(text: str) -> None:
    """Names with digits, and words that look like numbers."""
    assert not any(isinstance(piece, Quantity) for piece in scan(with_digits(text)))


def test_who_speaks_of_itself_is_told_apart() -> None:
    """Two agents that say "I" do not mean the same."""
    assert speaks_of_speaker("I start on softs")
    assert speaks_of_speaker("My tyres are worn")
    assert not speaks_of_speaker("We start on softs in Imola")


# How contradictions are settled: by time, by trust, by whoever is asked.

SCOPE = Scope(tenant="acme", graph_id="race", agent_id="pit")
NEW = Commitment(claim="Start on softs.").stamped(SCOPE, "b-new", NOW)
OLD = Commitment(claim="Start on mediums.").stamped(SCOPE, "b-old", NOW)


def _found(strategy: Any = "manual", **fields: Any) -> Contradiction:
    known = {"found_by": "rules", "reason": "one excludes the other", **fields}
    return Contradiction(NEW, OLD, strategy=strategy, graph_id="race", **known)


async def _asked(answer: Any, found: Contradiction | None = None) -> Settlement:
    """Return how it is settled when the callback answers so."""
    handlers = Handlers(timeout_seconds=5)

    async def callback(_: Contradiction) -> Any:
        return answer

    handlers.callback = callback
    return await settle(found or _found(), handlers)


def test_the_last_write_wins_whatever_the_trust() -> None:
    """And what was used is in the settlement."""
    settled = last_write_wins(_found(trust_claim=0.1, trust_rival=0.9, similarity=0.9))
    assert settled == Settlement(
        rival_id="b-old",
        winner="new",
        strategy="last_write_wins",
        found_by="rules",
        reason="one excludes the other; the last write wins",
        similarity=0.9,
        trust_new=0.1,
        trust_old=0.9,
    )


@pytest.mark.parametrize(
    ("new", "old", "winner"), [(0.5, 0.9, "old"), (0.9, 0.5, "new"), (0.7, 0.7, "new")]
)
def test_the_more_trusted_wins_and_of_equals_the_later(new: float, old: float, winner: str) -> None:
    """Nobody has looked at it, so it moves no trust."""
    settled = highest_trust(_found("highest_trust", trust_claim=new, trust_rival=old))
    assert (settled.winner, settled.strategy, settled.decided) == (winner, "highest_trust", False)
    assert (settled.trust_new, settled.trust_old) == (new, old)


def test_agreement_takes_the_place_unless_it_is_trusted_less() -> None:
    """Under any strategy the later telling stays, but for a less trusted one where trust counts."""
    for strategy in ("last_write_wins", "highest_trust", "manual", "custom"):
        settled = agreement(_found(strategy, trust_claim=0.4, trust_rival=0.8))
        assert settled.agree
        assert settled.winner == ("old" if strategy == "highest_trust" else "new")
    assert agreement(_found("highest_trust")).winner == "new"


@pytest.mark.parametrize(
    ("answer", "winner"),
    [
        ("new", "new"),
        ("claim", "new"),
        ("old", "old"),
        ("rival", "old"),
        ("both", "both"),
        (NEW, "new"),
        (OLD, "old"),
        ("b-new", "new"),
        ("b-old", "old"),
    ],
)
async def test_who_is_asked_decides(answer: Any, winner: str) -> None:
    """By a word, by one of the two beliefs, or by its id."""
    settled = await _asked(answer)
    assert (settled.winner, settled.decided, settled.strategy) == (winner, True, "manual")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (None, "no decision"),
        ("NEW", "names neither"),
        ("b-third", "names neither"),
        (True, "names neither"),
        (7, "names neither"),
        (OLD.model_copy(update={"id": "new"}), "names neither"),
        ({"winner": "old"}, "names neither"),
    ],
)
async def test_an_answer_that_makes_no_sense_decides_nothing(answer: Any, why: str) -> None:
    """The last write wins, the reason says why, and nobody's trust moves."""
    settled = await _asked(answer)
    assert (settled.winner, settled.decided) == ("new", False)
    assert settled.strategy == "last_write_wins"
    assert settled.reason.startswith("one excludes the other; manual: ")
    assert why in settled.reason


async def test_two_beliefs_of_one_key_cannot_both_stay() -> None:
    """So the answer is not taken, and the reason says so."""
    settled = await _asked("both", _found(found_by="key"))
    assert (settled.winner, settled.decided) == ("new", False)
    assert "one key cannot" in settled.reason


async def test_who_is_late_is_not_waited_for() -> None:
    """It is cancelled, and what it answers to that comes too late."""
    ended = asyncio.Event()

    async def callback(_: Contradiction) -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.set()
        return "old"

    handlers = Handlers(timeout_seconds=0.01)
    handlers.callback = callback
    settled = await settle(_found(), handlers)
    assert (settled.winner, settled.decided) == ("new", False)
    assert "manual: no answer within 0.01 s" in settled.reason
    assert ended.is_set()


@pytest.mark.parametrize("error", [ValueError("no such tyre"), UsageError("x", 1, "2"), OSError()])
async def test_an_error_of_who_is_asked_is_named(error: Exception) -> None:
    """A commit goes on without it, and the history says what happened."""

    async def callback(_: Contradiction) -> str:
        raise error

    handlers = Handlers()
    handlers.callback = callback
    settled = await settle(_found(), handlers)
    assert (settled.winner, settled.decided) == ("new", False)
    assert type(error).__name__ in settled.reason
    assert str(error)[:20] in settled.reason


async def test_cancelling_a_commit_cancels_who_is_asked() -> None:
    """The cancellation goes on, and nothing is left running."""
    asked, ended = asyncio.Event(), asyncio.Event()

    async def callback(_: Contradiction) -> str:
        asked.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return "old"

    handlers = Handlers()
    handlers.callback = callback
    task = asyncio.create_task(settle(_found(), handlers))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_without_anybody_to_ask_the_last_write_wins() -> None:
    """And the reason says who was missing."""
    manual = await settle(_found("manual"), Handlers())
    custom = await settle(_found("custom"), Handlers())
    assert (manual.winner, custom.winner) == ("new", "new")
    assert "no callback" in manual.reason
    assert "no resolver" in custom.reason


async def test_a_resolver_settles_its_own_graph_only() -> None:
    """At once or asynchronously; it is given what it needs, and the callback is not asked."""
    seen: list[Contradiction] = []

    def resolver(found: Contradiction) -> str:
        seen.append(found)
        return "old" if found.trust_rival >= found.trust_claim else "new"

    async def slowly(found: Contradiction) -> Commitment:
        await asyncio.sleep(0)
        return found.rival

    handlers = Handlers()
    handlers.resolve_by("race", resolver)
    handlers.resolve_by("race", None)
    handlers.resolve_by("other", slowly)
    found = _found("custom", trust_rival=0.9, trust_claim=0.5)
    settled = await settle(found, handlers)
    assert (settled.winner, settled.decided, settled.strategy) == ("old", True, "custom")
    assert seen == [found]
    settled = await settle(replace(found, graph_id="other"), handlers)
    assert (settled.winner, settled.decided) == ("old", True)
    assert len(seen) == 1


async def test_who_is_only_told_cannot_fail_the_commit() -> None:
    """What went wrong comes back in words; what it returns is not looked at."""

    async def fine(_: Contradiction) -> str:
        return "old"

    async def broken(_: Contradiction) -> None:
        raise KeyError("tyre")

    async def late(_: Contradiction) -> None:
        await asyncio.sleep(60)

    assert await tell(_found(), fine, 1) == ""
    assert await tell(_found(), broken, 1) == "KeyError: 'tyre'"
    assert await tell(_found(), late, 0.01) == "no answer within 0.01 s"


def test_a_limit_of_time_is_a_limit() -> None:
    """Nobody is waited for without end."""
    for seconds in (0.0, -1.0, float("inf"), float("nan")):
        with pytest.raises(UsageError):
            Handlers(seconds)
