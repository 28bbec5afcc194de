"""What redaction decides: what it reaches, what it leaves, and which receipts are concerned."""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.board_reference import card_by
from support.cold_samples import (
    belief_by,
    episode_by,
    fact_by,
    held_by,
    receipt_by,
    rule_by,
    summary_by,
    turn_by,
)
from support.document_reference import document_by, passage_by
from support.tier_samples import HOSTILE_TEXT, NOW, scope_of

from metaagents.lifecycle.rules import bottom_up
from tiers.cold.mentions import _mark
from tiers.cold.redaction import (
    IDS_MAX,
    MODELS,
    PAGE_IDS,
    REACHED_MAX,
    REDACTED,
    Reach,
    Redactable,
    Survey,
    Trace,
    blanked,
    checked_request,
    known_of,
    pages,
    redacted_form,
    retired_form,
    set_aside_form,
    stand_in,
    stand_in_id,
    texts_of,
)
from tiers.cold.stores.erasure import naming
from tiers.cold.subject_mentions import KINDS, LOOKED_THROUGH_MAX, Search, Subject, wanted
from tiers.documents import Document, stays_away
from tiers.errors import NotFound, UsageError
from tiers.plans import GRAINS
from tiers.records import ToolOutput, Turn

LATER = NOW + timedelta(hours=1)
SCOPE = scope_of()


def _fact(number: int, *, is_redacted: bool = False) -> Trace:
    return Trace("fact", f"fact {number}", is_redacted)


def _walk(reach: Reach, made_of: dict[str, list[Trace]]) -> list[str]:
    while page := reach.page():
        assert len(page) <= PAGE_IDS
        reach.add(trace for one in page for trace in made_of.get(one, ()))
    return [trace.id for trace in reach.found]


def test_a_walk_reaches_everything_once_and_ends() -> None:
    """Over circles, over several ways to the same record, and over more than a page."""
    many = PAGE_IDS * 2 + 1
    made_of = {
        "root": [_fact(number) for number in range(many)],
        **{f"fact {number}": [_fact(number // 2), _fact(many + 1)] for number in range(many)},
        f"fact {many + 1}": [Trace("fact", "root", is_redacted=False)],
    }
    found = _walk(Reach([Trace("fact", "root", is_redacted=False)]), made_of)
    assert found == ["root", *(f"fact {number}" for number in range(many)), f"fact {many + 1}"]


def test_a_walk_from_what_was_redacted_before_stops_where_a_new_text_is() -> None:
    """What was written anew since knows nothing of it."""
    made_of = {
        "root": [_fact(1, is_redacted=True), _fact(2)],
        "fact 1": [_fact(3, is_redacted=True)],
        "fact 2": [_fact(4, is_redacted=True)],
    }
    root = Trace("turn", "root", is_redacted=True)
    assert _walk(Reach([root], only_redacted=True), made_of) == ["root", "fact 1", "fact 3"]
    assert _walk(Reach([root], ["fact 1"]), made_of) == ["root", "fact 2", "fact 4"]


def test_a_walk_that_reaches_too_much_is_refused() -> None:
    """Rather than taken to an end that nobody has time for."""
    reach = Reach([_fact(0)])
    with pytest.raises(UsageError, match="100,000"):
        reach.add(_fact(number) for number in range(REACHED_MAX + 1))


def test_what_was_reached_is_told_by_kind() -> None:
    """Each id once, sorted; receipts beside the records."""
    fresh = Reach([Trace("turn", "b", is_redacted=False), Trace("fact", "f", is_redacted=True)])
    before = Reach([Trace("turn", "a", is_redacted=True), Trace("fact", "f", is_redacted=True)])
    reached = Survey(fresh, before).reached(["r2", "r1"])
    assert reached.ids == {"turn": ("a", "b"), "fact": ("f",), "receipt": ("r1", "r2")}
    assert reached.all_ids == ("a", "b", "f")


def test_what_may_be_asked() -> None:
    """A reason, so many ids at most, all of them records."""
    assert checked_request(["b", "a", "b"], "why") == ("b", "a")
    assert len(checked_request([str(number) for number in range(IDS_MAX)], "why")) == IDS_MAX
    found = [Trace("turn", "a", is_redacted=False), Trace("belief", "b", is_redacted=True)]
    assert known_of(["b", "a"], found) == found[::-1]
    with pytest.raises(NotFound, match="'d'"):
        known_of(["a", "d", "b", "c"], found)


def _saying(text: str) -> tuple[Redactable, ...]:
    """Return a record of each kind that says a text wherever it can say something."""
    tool = ToolOutput(tool=text, output=text)
    said = {"speaker": text, "response": text, "tool_outputs": (tool,)}
    turn = turn_by(SCOPE, text, ref="r", seq=3, **said)
    return (
        turn,
        summary_by(SCOPE, [turn], text=text),
        episode_by(SCOPE, [turn.id], text=text),
        held_by(SCOPE, text=text, payload={text: text}),
        fact_by(SCOPE, text, subject=text, predicate=text, object=text),
        rule_by(SCOPE, text, steps=(text, text)),
        belief_by(SCOPE, text, key=(text, text), value=text, source_ids=(turn.id,)),
        document_by(SCOPE, text, title=text, properties={text: [text]}).model_copy(
            update={"text": text, "id": "d"}
        ),
        passage_by(SCOPE, text),
        card_by(SCOPE, text=text, title=text, type=text, tags=(text,), details={text: [text]}),
    )


def test_what_is_left_names_but_says_nothing() -> None:
    """Ids, owners, order, periods and coverage stay; redacting again changes nothing more."""
    records = _saying("secret")
    assert {type(record) for record in records} == set(MODELS.values())
    for record in records:
        left = redacted_form(record, LATER)
        assert "secret" not in left.model_dump_json()
        assert REDACTED in left.model_dump_json()
        assert type(record).model_validate(left.model_dump()) == left
        changed = {
            name
            for name in type(record).model_fields
            if getattr(record, name) != getattr(left, name)
        }
        assert changed <= {
            *("redacted_at", "input", "response", "tool_outputs", "text", "tokens"),
            *("subject", "predicate", "object", "trigger", "steps"),
            *("speaker", "claim", "key", "value"),
            *("name", "title", "properties", "headings", "digest", "tags", "details", "type"),
            "payload",
        }
        assert redacted_form(left, LATER) == left
        assert "secret" not in "".join(texts_of(left))


def test_of_a_document_that_was_rolled_back_the_digest_stays() -> None:
    """By it the same content is refused; a redaction takes that too."""
    document = document_by(SCOPE)
    aside = set_aside_form(document, LATER)
    assert isinstance(aside, Document)
    assert stays_away(aside, document.digest)
    assert not stays_away(aside, "of another content")
    for gone in (redacted_form(aside, LATER), aside.model_copy(update={"digest": ""})):
        assert isinstance(gone, Document)
        assert stays_away(gone, "of another content")
    assert not stays_away(document, document.digest)


def test_every_text_that_is_destroyed_is_looked_through() -> None:
    """One that was left out would never be found, and so never be destroyed."""
    for record in _saying("secret"):
        assert record.model_dump_json().count("secret") == list(texts_of(record)).count("secret")


def test_a_stand_in_is_seen_by_those_who_saw_the_turn() -> None:
    """And always has the same id, so that it is there once."""
    turn = turn_by(scope_of(user_id="ada"), private=True, topics=("tyres",))
    summary = stand_in(turn, LATER)
    assert summary.id == stand_in_id(turn) == stand_in(turn, NOW).id
    assert (summary.covers, summary.redacted_at, summary.text) == ((turn.id,), LATER, REDACTED)
    for name in ("tenant", "graph_id", "agent_id", "user_id", "topics", "private"):
        assert getattr(summary, name) == getattr(turn, name)
    assert stand_in_id(turn.model_copy(update={"graph_id": "race/2"})) != summary.id


def test_a_blank_receipt_has_no_text() -> None:
    """Whatever slot it was in, however deep; ids, scores, costs and legs stay."""
    slot = {"text": "secret", "source_ids": ["text"], "score": 0.5, "deep": [{"text": "secret"}]}
    body = {"slots": [slot], "skipped": ["warm: cannot find 'secret'"], "text": {"a": 1}}
    blank = blanked(receipt_by(query="secret", body=body))
    assert "secret" not in blank.model_dump_json()
    assert blank.body == {
        "slots": [{"text": "", "source_ids": ["text"], "score": 0.5, "deep": [{"text": ""}]}],
        "skipped": ["warm"],
        "text": {"a": 1},
    }
    assert blanked(blank) == blank


_TEXTS = st.text(max_size=12) | st.sampled_from(["a", 'a"', "a\\", '\\"a', "é", HOSTILE_TEXT, ""])


@given(ids=st.sets(_TEXTS, min_size=1, max_size=4), said=st.lists(_TEXTS, max_size=6))
def test_receipts_are_found_by_whole_strings(ids: set[str], said: list[str]) -> None:
    """Whatever stands in them; and one that is blank already is not found again."""
    body = {"slots": [{"source_ids": said, "score": 1}]}
    receipt = receipt_by(query="asked", body=body)
    names = not {"slots", "source_ids", "score", *said}.isdisjoint(ids)
    assert naming(ids)(receipt) == names
    assert not naming(ids)(blanked(receipt))


def test_pages_hold_everything_in_order() -> None:
    """None is left out, and no page is empty."""
    ids = [str(number) for number in range(PAGE_IDS * 2 + 1)]
    cut = list(pages(ids))
    assert [len(page) for page in cut] == [PAGE_IDS, PAGE_IDS, 1]
    assert [one for page in cut for one in page] == ids
    assert list(pages([])) == []


def test_finer_records_are_written_before_coarser_ones() -> None:
    """Summaries, then episodes by grain, then by time, whatever the order they come in."""
    turn = turn_by(SCOPE)
    summary = summary_by(SCOPE, [turn])
    late = summary_by(SCOPE, [turn], starts_at=LATER, ends_at=LATER)
    episodes = [episode_by(SCOPE, [], grain=grain) for grain in GRAINS]
    expected = [summary, late, *episodes]
    shuffled = list(expected)
    for seed in range(5):
        Random(seed).shuffle(shuffled)
        assert bottom_up(shuffled) == expected
    assert all(bottom_up(pair) == expected[:2] for pair in permutations(expected[:2]))


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        ("Ann", "Ask ANN, she knows."),
        ("Ann", "ann's"),
        ("Ann", "(Ann)"),
        ("Ann", "the key is ann_smith"),
        ("Ann", "我见了Ann昨天"),
        ("Ann  Smith", " ann\u00a0\n smith"),
        ("\uff21nn", "Ann"),
        ("\u00c5sa", "A\u030asa came"),
        ("Stra\u00dfe", "STRASSE 9"),
        ("\u0130zmir", "\u0130ZMIR"),
        (
            "\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2",
            "\u03a3\u038a\u03a3\u03a5\u03a6\u039f\u03a3",
        ),
        ("王明", "我认识王明先生"),
        ("สมชาย", "คุณสมชายมา"),
        *(
            ("김민수", f"어제 김민수{one} 왔다.")
            for one in ("", "는", "를", "에게", "씨와", "님께서는")
        ),
        ("محمد علي", "قابلت مُحَمَّد عَلِيّ أمس"),
        ("מֹשֶׁה", "משה בא"),
        ("C++", "C++11"),
        ("🏎️", "a🏎️b"),
        ("a", "aaaa a"),
        ("%", "100 %"),
        ("$regex", "a $regex"),
        ("Ann.*", "ann.*"),
        *(("Miller", f"Ask Mil{one}ler.") for one in "\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f"),
        ("Mil\u200bler", "Miller"),
        ("\ufeffJane Miller", "Jane\u200bMiller called"),
        ("Jane Miller", "Jane \u200d\u200b Mil\u00adler"),
        ("Jos\u00e9", "Jose\u200d\u0301 called"),
        ("Jos\u00e9", "JOSE called"),
        ("Muller", "M\u00fcller"),
        ("Irmak", "\u0131rmak"),
        ("\u0131rmak", "IRMAK"),
        ("Straßer", "Herr STRASSER"),
        ("Ann", "\U0001d400nn"),
        *(("O'Brien", f"O{one}Brien left.") for one in "'\u2018\u2019\u02bb\u02bc\u00b4"),
        ("O\u2019Brien", "Is O'Brien's car here?"),
    ],
)
def test_a_subject_is_found(subject: str, text: str) -> None:
    """Whatever the case, the white space, the form of its letters, and what stands around it."""
    assert Subject(subject).is_in(text)


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        ("Ann", "Annual, Joanne, Susann, Ann1, 1Ann"),
        ("Ann", "Ann\u0331e"),
        ("Ann Smith", "Ann Smithson; AnnSmith; Ann-Smithe, ann"),
        ("王明", "王小明"),
        *(("박지", text) for text in ("박지은 과장", "박지아는 왔다.")),
        *(
            ("김민", text)
            for text in ("김민서는 왔다.", "김민가", "김민수는 왔다.", "김민정 씨", "박김민은")
        ),
        ("علي", "علياء"),
        ("Ann", ""),
        ("A%", "Ann"),
        ("A_n", "Ann"),
        ("A.n", "Ann"),
        ("\u0915\u093f", "\u0915\u093e"),  # a mark of another script is a letter there
        ("Ann", "Ann\u00adual, Ann\u200dual, Ann\ufeffual, Ann\u2060ual, Ann\u200cual"),
        ("12", "123 312"),
        ("a", "aaaa"),
    ],
)
def test_a_subject_is_not_found(subject: str, text: str) -> None:
    """In longer words, in pieces, or as a pattern."""
    assert not Subject(subject).is_in(text)


def test_what_may_be_looked_for() -> None:
    """A subject or a user, and not a blank one."""
    belief = belief_by(SCOPE.model_copy(update={"user_id": "ada"}), "Of Bob.")
    assert wanted(None, "ada")(belief)
    assert not wanted("ada", None)(belief)
    assert not wanted(None, "Ada")(belief)
    assert wanted("bob", None)(belief)
    for subject, user_id in ((None, None), ("a", "b"), ("", None), (None, " "), ("\u3000\n", None)):
        with pytest.raises(UsageError):
            wanted(subject, user_id)


def _looked_through(search: Search, stored: dict[str, list[Redactable]]) -> int:
    """Let a page look at what is stored; return at how many records."""
    looked = 0
    while search.kind is not None:
        behind = [one for one in stored.get(search.kind, ()) if one.id > search.after]
        found = behind[: search.room]
        looked += len(found)
        search.take(found)
    return looked


@pytest.mark.parametrize("limit", [1, 7, 1_000])
def test_pages_find_everything_once_by_bounded_steps(limit: int) -> None:
    """Whether the limit or the number of records looked at ends the page."""
    facts = [fact_by(SCOPE, "Ann." if number % 99 == 0 else "Bob.") for number in range(1_200)]
    facts[99] = redacted_form(facts[99].model_copy(update={"text": "Ann."}), LATER)
    beliefs = [belief_by(SCOPE, "Ann.", private=True), belief_by(SCOPE, "Annual.")]
    stored: dict[str, list[Redactable]] = {"fact": facts, "belief": beliefs}
    found, cursor = [], ""
    while cursor is not None:
        search = Search(wanted("ann", None), cursor, limit)
        assert _looked_through(search, stored) <= LOOKED_THROUGH_MAX
        page = search.page()
        assert len(page.rows) <= limit
        found += page.rows
        cursor = page.cursor
    expected = [one for one in facts if "Ann" in one.text]
    assert [row.id for row in found] == [*(one.id for one in expected), beliefs[0].id]
    assert [row.agent_id for row in found] == [None] * len(expected) + [SCOPE.agent_id]


@pytest.mark.parametrize(
    "cursor", ["x", "[]", "1", "[0]", '[-1,""]', '[true,""]', '[99,""]', "{}", "[0,1]", "["]
)
def test_a_cursor_that_no_page_gave_is_refused(cursor: str) -> None:
    """And so is a limit out of range."""
    with pytest.raises(UsageError, match="cursor"):
        Search(wanted("a", None), cursor, 10)
    for limit in (0, 1_001):
        with pytest.raises(UsageError, match="limit"):
            Search(wanted("a", None), "", limit)
    assert len(KINDS) < 99


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        ("Ann Smith", "Also mentioned: Smith, 12, Ann"),
        ("Ann Smith", "Ann-Smith's car"),
        ("Ann Smith", "the car of smith"),
        ("Ann Smith", "SMITH"),
        ("Ann Smith", "Ann called."),
        ("ann smith", "smith met ann"),
        ("7719-023441", "call (7719) 023 441 at 9"),
        ("7719 023 441", "room 12 7719023441"),
        ("Jos\u00e9 Garc\u00eda", "Garcia, Jose"),
        ("Jose Garcia", "GARC\u00cdA called"),
        ("Jane Miller", "the car of Mil\u200bler"),
        ("Jane Miller", "Mil\u00adler\u200bJane"),
        ("Jane Stra\u00dfer", "Ask STRASSER."),
        ("7719 023 441", "77\u200b19\u2060023441"),
        ("\u0141ukasz \u017bak", json.dumps({"who": "\u0141ukasz \u017bak"})),
        ("\u0141ukasz \u017bak", json.dumps(json.dumps(["\u017bak"]))),
        ("\u5c71\u7530\u82b1\u5b50", json.dumps("\u5c71\u7530\u82b1\u5b50")),
        ("Zdenka", json.dumps("Caller:\nZdenka\tBrno")),
        ("Jane Miller", r"\ud835\udc09ane, Mill\u00ader"),
        ("Ren\u00e9 M\u00fcller", "<td>M&uuml;ller</td><td>Ren&#xe9;</td>"),
        ("Ren\u00e9e", "/people?name=Ren%C3%A9e&all=1"),
        ("김 민수", "민수에게 준 김 씨"),
        ("राम शर्मा", "शर्मा जी, राम"),
        ("김민수", "어제 김민수를 만났다."),
        ("محمد علي", "عَلِيّ ومُحَمَّد، محمد"),
        ("DE89 3704 0044 0532 0130 00", "to DE89370400440532013000, please"),
        ("DE89370400440532013000", "IBAN: DE89 3704 0044 0532 0130 00."),
        ("AB-1234-56", "the account AB123456"),
        ("ab123456", "the account AB/1234/56"),
        ("AB 1234 56", "the account is ab-1234-56"),
        *(
            ("1234567", f"It costs {one}.")
            for one in ("1,234,567", "1'234\u2019567", "1.234.567,89")
        ),
        ("1,234,567", "It costs 1234567."),
        *(("4711", f"No. {one} of 14.5.") for one in ("4 711", "4,711", "4.711", "4'711", "4711")),
        ("4 711", "It costs 4711."),
        ("555 0199", "call 555:0199"),
        ("555-0199", "call_555_0199_now"),
        ("\u0141ukasz \u017bak", "Zak, Lukasz"),
        ("Soren Odegard", "S\u00f8ren \u00d8deg\u00e5rd"),
        ("Gu\u00f0r\u00fan", "GUDRUN"),
    ],
)
def test_r9_02_parts_of_a_name_and_spellings_of_a_number_are_found(subject: str, text: str) -> None:
    """In a text, and by the marks that it leaves when retention empties a record that said it."""
    assert Subject(subject).is_in(text)
    turn = retired_form(turn_by(SCOPE, text), LATER)
    assert isinstance(turn, Turn)
    assert wanted(subject, None)(turn)
    assert not wanted("Otto Lang", None)(turn)
    assert text.casefold() not in turn.model_dump_json().casefold()


def test_marks_that_were_left_before_accents_went_are_known_again() -> None:
    """What retention emptied then has digests of words with their accents."""
    emptied = retired_form(turn_by(SCOPE, "x"), LATER)
    before = "".join(_mark(emptied.id, f"w {one}") for one in ("jos\u00e9", "garc\u00eda"))
    subject = Subject("Jos\u00e9 Garc\u00eda")
    assert not subject.is_mentioned_by(emptied)
    assert subject.is_mentioned_by(emptied.model_copy(update={"mentions": before}))


def test_marks_that_were_left_before_strokes_went_are_known_again() -> None:
    """What retention emptied then has digests of words with their strokes, without accents."""
    emptied = retired_form(turn_by(SCOPE, "x"), LATER)
    before = "".join(_mark(emptied.id, f"w {one}") for one in ("s\u00f8ren", "\u00f8degard"))
    subject = Subject("S\u00f8ren \u00d8deg\u00e5rd")
    assert not subject.is_mentioned_by(emptied)
    assert subject.is_mentioned_by(emptied.model_copy(update={"mentions": before}))


def test_marks_that_were_left_before_signs_of_vowels_belonged_to_words_are_known_again() -> None:
    """What retention emptied then has digests of the pieces between them."""
    emptied = retired_form(turn_by(SCOPE, "x"), LATER)
    before = "".join(_mark(emptied.id, f"w {one}") for one in ("र", "म", "शर"))
    subject = Subject("राम शर्मा")
    assert not subject.is_mentioned_by(emptied)
    assert subject.is_mentioned_by(emptied.model_copy(update={"mentions": before}))


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        ("Ann Smith", "Ann Lee"),
        ("ann smith", "ann, smithy"),
        ("the car", "The bus and a car."),
        ("राम शर्मा", "मेरी बहन शर्मीला मुंबई में रहती है"),
        ("77190", "177190 771901 7719"),
        ("7719", "77 19"),
        *(("4711", one) for one in ("14 711", "4 711 12", "4, 711", "4,7112", "1.4.711")),
        *(("12345", one) for one in ("123,45", "12, 345", "1,2,3,4,5")),
        ("12345678", "12345,678 km"),
        ("AB123456", "AB1234567, XAB123456, AB, 123456"),
        ("A1234", "Take plan A. 1234 people came."),
        ("R2D2", "R2-D2"),
        ("M\u00fcller", "Mueller"),
        ("Ann", json.dumps("Jo\u00e9\nAnnual")),
        ("Ann", r"\u00 \ud800nn 100%25Anna &an; " + "\\" * 99),
    ],
)
def test_what_is_like_a_name_or_a_number_is_not_it(subject: str, text: str) -> None:
    """Another person of the first name, small words apart, digits of a longer number."""
    assert not Subject(subject).is_in(text)
