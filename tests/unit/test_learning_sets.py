"""What learning is measured by: the sets, the sealed one apart, and what a learnt fact is worth."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime

import pytest

from ezra.evaluation.learning.grammar import filled
from ezra.evaluation.learning.labels import (
    Label,
    PairSet,
    SaidTurn,
    StatementSet,
    TemplateSet,
    pairs,
    parsed,
    statements,
    templates,
)
from ezra.evaluation.learning.scoring import fate, since_agrees, tokens, verdict
from tiers.errors import UsageError
from tiers.records import Fact

# The sets that learning is measured on: well-formed, scoreable, and the sealed one apart.

TURN_SETS = {
    "statements": 60,
    "statements-wide": 130,
    "statements-plain": 201,
    "statements-later": 76,
    "statements-everyday": 449,
    "statements-sealed": 60,
}
FRESH_SETS = {"statements-fresh": (100, 40), "statements-sealed-fresh": (50, 20)}
COMMON_SETS = ("statements-common", "statements-unseen", "statements-sealed-unseen")
TYPED_SETS = {"statements-typed": (160, 60), "statements-sealed-typed": (80, 30)}
SAID_KINDS = {
    *("self", "family", "health", "home", "several", "operations", "correction", "others"),
    *("instruction", "preference", "answer"),
}
FRESH_KINDS = {
    *("moved", "work", "family", "pets", "health", "taste", "plan", "correction", "denial", "role"),
    *("deadline", "tools", "project", "handover", "had"),
}
KINDS_ASKED = {
    *("have", "moved", "work", "doctor", "children", "allergies", "health", "preferences", "plans"),
    *("corrections", "denials", "possessions", "pets", "dates", "relations", "education"),
    *("languages", "habits"),
}


def ideal(turn: SaidTurn, about: str = "") -> list[Fact]:
    """Return a fact for each label, of the label's own words; about its subject if nobody else."""
    found = []
    for label in turn.facts:
        subject = about or (label.subject[0] if label.subject else turn.speaker)
        denial = "does not have" if label.negated is True else "has"
        words = [value.split("|")[0] for value in label.values]
        polarity = [label.says.split("|")[0]] if label.says else []
        found.append(Fact(text=" ".join([subject, *polarity, denial, *words])))
    return found


@pytest.mark.parametrize("name", TURN_SETS)
def test_a_set_states_enough_things_and_is_silent_in_forty_turns_at_least(name: str) -> None:
    """Every kind is there, with three statements or so; speakers of a statement are different."""
    turns = statements(name).turns
    stating = [turn for turn in turns if turn.facts]
    assert len(stating) == TURN_SETS[name]
    assert len(turns) - len(stating) >= 40
    kinds = Counter(turn.kind for turn in stating)
    assert set(kinds) == KINDS_ASKED
    assert min(kinds.values()) >= 2
    assert len({turn.text for turn in turns}) == len(turns)


@pytest.mark.parametrize("name", FRESH_SETS)
def test_a_set_of_a_fleets_talk_states_things_of_people_and_of_projects(name: str) -> None:
    """Every kind is there, and none of the turns twice."""
    turns = statements(name).turns
    stating = [turn for turn in turns if turn.facts]
    assert (len(stating), len(turns) - len(stating)) == FRESH_SETS[name]
    assert {turn.kind for turn in stating} >= FRESH_KINDS
    assert len({turn.text for turn in turns}) == len(turns)


@pytest.mark.parametrize("name", COMMON_SETS)
def test_a_third_of_the_common_talk_has_sixty_statements(name: str) -> None:
    """And twenty turns that state nothing; none is twice, nor in another third."""
    texts = [turn.text for one in COMMON_SETS for turn in statements(one).turns]
    assert len(set(texts)) == len(texts)
    turns = statements(name).turns
    stating = [turn for turn in turns if turn.facts]
    assert (len(stating), len(turns) - len(stating)) == (60, 20)
    for turn in stating:
        assert {verdict(turn, fact) for fact in ideal(turn)} == {"right"}, turn.id


def test_what_is_typed_is_split_into_two_with_nothing_twice() -> None:
    """An open half twice as large as the sealed one; labels can be met."""
    texts = [turn.text for one in TYPED_SETS for turn in statements(one).turns]
    assert len(set(texts)) == len(texts)
    for name, (stating, silent) in TYPED_SETS.items():
        turns = statements(name).turns
        assert sum(bool(turn.facts) for turn in turns) == stating
        assert len(turns) - stating == silent
        for turn in turns:
            assert {verdict(turn, fact) for fact in ideal(turn)} <= {"right"}, turn.id


def test_what_is_said_to_an_assistant_has_questions_before_half_sentences() -> None:
    """Every kind is there; labels can be met, and what answers something follows a question."""
    turns = statements("statements-said").turns
    stating = [turn for turn in turns if turn.facts]
    assert (len(stating), len(turns) - len(stating)) == (64, 22)
    assert {turn.kind for turn in stating} == SAID_KINDS
    assert len({turn.text for turn in turns}) == len(turns)
    answers = [turn for turn in turns if turn.kind.endswith("answer")]
    assert len(answers) == 10
    assert all(turn.asked.endswith("?") for turn in answers)
    for turn in stating:
        assert {verdict(turn, fact) for fact in ideal(turn)} == {"right"}, turn.id


@pytest.mark.parametrize("name", [*TURN_SETS, *FRESH_SETS])
def test_every_label_can_be_met_and_every_denial_of_it_is_false(name: str) -> None:
    """A fact of the label's words is right; of somebody else, or with "not", it is not."""
    for turn in statements(name).turns:
        made = zip(turn.facts, ideal(turn), ideal(turn, "Zebedee"), strict=True)
        for label, fact, other in made:
            assert verdict(turn, fact) == "right", turn.id
            own = {word for value in label.values for word in tokens(value)}
            if not any(set(tokens(name)) <= own for name in label.subject or (turn.speaker,)):
                assert verdict(turn, other) != "right", turn.id
            if label.negated is False:
                denied = Fact(text=fact.text.replace(" has ", " has not ", 1))
                assert verdict(turn, denied) == "false", turn.id
            if label.negated is True:
                claimed = Fact(text=fact.text.replace(" does not have ", " has ", 1))
                assert verdict(turn, claimed) == "false", turn.id


@pytest.mark.parametrize("name", TURN_SETS)
def test_values_are_words_of_the_turn(name: str) -> None:
    """What is asked for was said: of each value's alternatives one stands in the turn."""
    for turn in statements(name).turns:
        said = set(tokens(f"{turn.speaker} {turn.text}"))
        bare = said | {word.removesuffix("'s") for word in said}
        for label in turn.facts:
            for value in (*label.values, *label.wrong):
                assert any(set(tokens(one)) <= bare for one in value.split("|")), (turn.id, value)


def test_the_sealed_set_shares_neither_speakers_nor_texts_nor_values() -> None:
    """Who tunes on the open one learns nothing of the sealed one's words."""
    first, second = (statements(name).turns for name in ("statements", "statements-sealed"))
    assert not {one.speaker for one in first} & {one.speaker for one in second}
    assert not {one.text for one in first} & {one.text for one in second}

    def names(turns: tuple[SaidTurn, ...]) -> set[str]:
        values = [value for one in turns for label in one.facts for value in label.values]
        return {value for value in values if value[0].isupper()}

    months_and_days = {"May", "August", "Tuesday", "Friday", "November", "December"}
    assert not (names(first) & names(second)) - months_and_days


def test_sixteen_kinds_take_the_place_of_what_was_said() -> None:
    """Several pairs each, none twice, and nobody speaks to himself of nothing."""
    changing = pairs("supersessions").pairs
    kinds = Counter(pair.kind for pair in changing)
    assert len(kinds) == 16
    assert min(kinds.values()) >= 3
    assert len({(pair.old, pair.new) for pair in changing}) == len(changing)
    assert all(pair.old != pair.new for pair in changing)


def test_templates_make_the_same_335_pairs_each_time() -> None:
    """All different, every slot filled, and people who speak for themselves are two."""
    made = filled(templates("compatible")).pairs
    assert len(made) == 335
    assert made == filled(templates("compatible")).pairs
    assert len({(one.old, one.new, one.speaker, one.new_speaker) for one in made}) == 335
    for one in made:
        assert "{" not in one.old + one.new + one.speaker + one.new_speaker
        assert one.old != one.new
        assert one.speaker != one.new_speaker


def test_duplicates_have_both_sides() -> None:
    """Of those that say the same none contradicts; what looks alike differs in words or speaker."""
    both = pairs("duplicates").pairs
    assert Counter(pair.same for pair in both) == {True: 30, False: 36}
    assert not [pair.id for pair in both if pair.same and pair.contradict]
    for pair in both:
        if not pair.same:
            assert pair.old != pair.new or pair.new_speaker


def test_paraphrases_have_both_sides_and_share_nothing_with_the_sealed_ones() -> None:
    """As many of each kind in both; the sentences differ."""
    first, second = pairs("paraphrases").pairs, pairs("paraphrases-sealed").pairs
    kinds = Counter((pair.kind, pair.same) for pair in first)
    assert kinds == Counter((pair.kind, pair.same) for pair in second)
    assert sum(pair.same for pair in first) == 48
    assert len(first) == 133
    assert min(kinds.values()) >= 2
    said = [{text for pair in one for text in (pair.old, pair.new)} for one in (first, second)]
    assert not said[0] & said[1]
    assert all(pair.old != pair.new for pair in (*first, *second))


def test_a_mistake_in_a_set_is_named() -> None:
    """The set, the path in it, and what stands there."""
    turn = {"id": "a", "kind": "k", "speaker": "Ada", "text": "I row."}
    whole = {"name": "x", "about": "y", "at": "2026-03-11T09:30:00Z", "turns": [turn, turn]}
    with pytest.raises(UsageError, match="every id once; a stand there twice"):
        parsed("x", json.dumps(whole), StatementSet)
    label = {"attribute": "does", "values": []}
    whole["turns"] = [{**turn, "facts": [label]}]
    with pytest.raises(UsageError) as caught:
        parsed("x", json.dumps(whole), StatementSet)
    assert caught.value.field == "x: turns.0.facts.0.values"
    with pytest.raises(UsageError, match="a set of this installation"):
        pairs("nothing")
    with pytest.raises(UsageError):
        parsed("x", "{", PairSet)


@pytest.mark.parametrize(
    ("old", "said"), [("{town} is far.", "a slot with words"), ("{city} is far.", "2 different")]
)
def test_a_template_that_cannot_be_filled_is_named(old: str, said: str) -> None:
    """A slot without words, and too few words to differ."""
    source = TemplateSet(
        name="x",
        about="y",
        seed=1,
        fillings=2,
        slots={"city": ("Bonn",), "name": ("Ada",)},
        templates=({"kind": "k", "old": old, "new": "It is near."},),  # type: ignore[arg-type]
    )
    with pytest.raises(UsageError, match=said):
        filled(source)


# What a learnt fact is worth, on cases made by hand.

MOVED = SaidTurn(
    id="m",
    kind="moved",
    speaker="Ingrid",
    text="Hello! I moved from Leeds to Porto last month, my sister Clara lives in Bergen.",
    facts=(Label(attribute="lives in", values=("Porto",), since="2026-02"),),
    also=(("Clara", "Bergen"),),
)
DENIED = SaidTurn(
    id="d",
    kind="denials",
    speaker="Tom",
    text="No, I don't have a dog, but I have a cat.",
    facts=(Label(attribute="has no", values=("dog",), negated=True),),
    also=(("cat",),),
)
CORRECTED = SaidTurn(
    id="c",
    kind="corrections",
    speaker="Omar",
    text="My flight is on Wednesday, not on Tuesday.",
    facts=(
        Label(
            attribute="flight", values=("flight", "Wednesday"), wrong=("Tuesday",), negated="either"
        ),
    ),
)
SOLD = SaidTurn(
    id="s",
    kind="possessions",
    speaker="Freya",
    text="We sold the cello.",
    facts=(Label(attribute="sold", values=("cello",), says="sold|no longer", negated="either"),),
)
CHILD = SaidTurn(
    id="k",
    kind="allergies",
    speaker="Casper",
    text="My son is allergic to nuts.",
    facts=(
        Label(subject=("Casper's son",), attribute="allergic to", values=("allergic", "nut|nuts")),
    ),
)
DOCTOR = SaidTurn(
    id="w",
    kind="doctor",
    speaker="Leo",
    text="My doctor is Dr. Weber.",
    facts=(Label(attribute="doctor", values=("Weber",)),),
)
SILENT = SaidTurn(id="n", kind="wish", speaker="Ben", text="I wish I had a dog.")


@pytest.mark.parametrize(
    ("turn", "text", "worth"),
    [
        (MOVED, "Ingrid lives in Porto", "right"),
        (MOVED, "Ingrid moved from Leeds to Porto last month.", "right"),
        (MOVED, "Porto is Ingrid's home", "right"),
        (MOVED, "Clara lives in Porto", "false"),
        (MOVED, "Ingrid's sister lives in Porto", "false"),
        (MOVED, "Ingrid does not live in Porto", "false"),
        (MOVED, "Ingrid lives in Leeds", "false"),
        (MOVED, "Ingrid lives in Portofino", "false"),
        (MOVED, "user moved to Porto", "incomplete"),
        (MOVED, "I moved to Porto", "incomplete"),
        (MOVED, "I bought a castle in Porto", "false"),
        (MOVED, "Clara lives in Bergen", "incomplete"),
        (MOVED, "Clara has a castle in Bergen", "false"),
        (DENIED, "Tom does not have a dog", "right"),
        (DENIED, "Tom doesn\N{RIGHT SINGLE QUOTATION MARK}t have a dog", "right"),
        (DENIED, "Tom has no dog", "right"),
        (DENIED, "Tom has a dog", "false"),
        (DENIED, "Tom is not a vet but has a dog", "false"),
        (DENIED, "Tom has a cat", "incomplete"),
        (CORRECTED, "Omar's flight is on Wednesday, not on Tuesday", "right"),
        (CORRECTED, "Omar's flight is not on Tuesday but on Wednesday", "right"),
        (CORRECTED, "Omar's flight is on Tuesday", "false"),
        (CORRECTED, "Omar has a flight", "incomplete"),
        (SOLD, "Freya sold the cello", "right"),
        (SOLD, "Freya no longer has the cello", "right"),
        (SOLD, "Freya has a cello", "false"),
        (CHILD, "Casper's son is allergic to nuts", "right"),
        (CHILD, "Casper is allergic to nuts", "false"),
        (DOCTOR, "Leo's doctor is Dr. Weber", "right"),
        (DOCTOR, "Leo's wife sees Dr. Weber", "false"),
        (SILENT, "Ben has a dog", "false"),
        (SILENT, "Ben wishes he had a dog", "false"),
    ],
)
def test_the_worth_of_a_fact(turn: SaidTurn, text: str, worth: str) -> None:
    """Right, less than asked for, or not what was said."""
    assert verdict(turn, Fact(text=text)) == worth


def test_the_subject_may_stand_apart_from_the_text() -> None:
    """A fact that keeps the speaker's words names who they are about in its subject."""
    text = "I moved from Leeds to Porto last month"
    assert verdict(MOVED, Fact(subject="Ingrid", text=text)) == "right"
    assert verdict(MOVED, Fact(subject="Clara", text="moved to Porto")) == "false"


def test_a_time_of_validity_is_right_as_far_as_it_was_said() -> None:
    """A month that was said holds every day of it, and no fact without a time agrees."""
    (label,) = MOVED.facts
    within = Fact(text="x", valid_from=datetime(2026, 2, 11, tzinfo=UTC))
    later = Fact(text="x", valid_from=datetime(2026, 3, 11, tzinfo=UTC))
    assert since_agrees(label, within)
    assert not since_agrees(label, later)
    assert not since_agrees(label, Fact(text="x"))


def test_what_became_of_two_statements() -> None:
    """By what each says of itself; one row for both is a merge."""
    now = datetime(2026, 3, 11, tzinfo=UTC)
    old, new = Fact(id="a", text="x"), Fact(id="b", text="y")
    gone = {"superseded_at": now, "superseded_as": "natural"}
    same = {"superseded_at": now, "superseded_as": "duplicate"}
    assert fate(old, new) == "kept"
    assert fate(old, old) == "merged"
    assert fate(old.model_copy(update=same), new) == "merged"
    assert fate(old, new.model_copy(update=same)) == "merged"
    assert fate(old.model_copy(update=gone), new) == "superseded"
    assert fate(old, new.model_copy(update=gone)) == "reversed"
    assert fate(old.model_copy(update=gone), new.model_copy(update=gone)) == "both gone"
    assert fate(old, new.model_copy(update={"forgotten_at": now})) == "reversed"
