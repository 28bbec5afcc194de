"""Whole files of conversations: those that come along, hostile ones, and topics of their words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ezra.replay.formats import FORMATS, derive_topics, read_script
from ezra.replay.script import BeliefLine, Conversation, FactLine, RuleLine, Script, TurnLine
from tiers.errors import UsageError

# The bundled race weekends are in order and hold what the demonstration needs.

FOLDER = Path(__file__).parents[2] / "scripts" / "conversations"
WEEKENDS = {"monaco": (15, 16, 17), "imola": (22, 23, 24)}
AGENTS = {"strategist", "race-engineer", "tyre-engineer", "driver"}
TOPICS = {"tyres", "strategy", "weather", "chassis", "gearbox", "team"}


@pytest.fixture(scope="module")
def script() -> Script:
    """Both weekends, read like a user reads them."""
    paths = [FOLDER / f"{name}.jsonl" for name in WEEKENDS]
    return read_script(paths, now=datetime(2026, 6, 1, tzinfo=UTC))


@pytest.fixture(scope="module", params=list(WEEKENDS))
def weekend(script: Script, request: pytest.FixtureRequest) -> Conversation:
    """Each weekend."""
    return next(one for one in script.conversations if one.id == request.param)


def _questions() -> list[dict[str, Any]]:
    questions: list[dict[str, Any]] = json.loads((FOLDER / "questions.json").read_text())
    return questions


def test_weekend_is_three_days_of_talk_among_four_agents(weekend: Conversation) -> None:
    """Turns by the four agents, with topics, strictly in order of time, Friday to Sunday."""
    turns = [line for line in weekend.lines if isinstance(line, TurnLine)]
    assert 45 <= len(turns) <= 60
    assert set(weekend.agents) == AGENTS
    assert all(before.at < after.at for before, after in pairwise(weekend.lines))
    days = sorted({(line.at.year, line.at.month, line.at.day) for line in turns})
    assert days == [(2026, 5, day) for day in WEEKENDS[weekend.id]]
    assert {topic for turn in turns for topic in turn.topics or ()} == TOPICS
    assert all(turn.topics for turn in turns)


def test_weekend_has_facts_rules_and_beliefs(weekend: Conversation) -> None:
    """Some core facts and more archival ones, a rule or two, and a belief that is superseded."""
    facts = [line for line in weekend.lines if isinstance(line, FactLine)]
    core = [fact for fact in facts if fact.tier == "core"]
    beliefs = [line for line in weekend.lines if isinstance(line, BeliefLine)]
    assert 0 < len(core) < len(facts) - len(core)
    assert 1 <= sum(isinstance(line, RuleLine) for line in weekend.lines) <= 2
    assert 2 <= len(beliefs) <= 3
    about = [(belief.topic, belief.key) for belief in beliefs]
    assert all(belief.key and belief.value for belief in beliefs)
    assert len(set(about)) == len(about) - 1


@pytest.mark.parametrize(
    ("ref", "shared"),
    [
        ("monaco:fact-gearbox-oil", {"gearbox", "oil", "degrees"}),
        ("imola:fact-medium-life", {"medium", "tyres", "last", "18", "laps"}),
    ],
)
def test_some_archival_facts_come_up_again_and_again(
    script: Script, ref: str, shared: set[str]
) -> None:
    """At least three later turns touch the fact, which is what promotes it by use."""
    lines = list(script.lines())
    place = next(n for n, line in enumerate(lines) if line.ref == ref)
    fact = lines[place]
    assert isinstance(fact, FactLine)
    assert fact.tier == "archival"
    later = [
        line
        for line in lines[place + 1 :]
        if isinstance(line, TurnLine)
        and line.conversation == fact.conversation
        and shared <= set(line.text.lower().replace(",", " ").replace(".", " ").split())
    ]
    assert len(later) >= 3


@pytest.mark.parametrize("question", _questions(), ids=lambda question: question["question"])
def test_expected_source_of_each_question_exists_once(
    script: Script, question: dict[str, Any]
) -> None:
    """A source is the ref of a line of the question's graph, or a part of one fact's text."""
    expected = question["expected_source"]
    sources = [
        line
        for line in script.lines()
        if line.ref == expected or (isinstance(line, FactLine) and expected in line.fact.text)
    ]
    assert len(sources) == 1
    source = sources[0]
    assert (source.conversation != question["graph"]) is question["inherited_only"]
    if question["inherited_only"]:
        assert isinstance(source, FactLine)
        assert source.tier == "core"


def test_inherited_answer_is_nowhere_in_the_second_weekend() -> None:
    """Imola asks for the wing setting but names neither the number nor the part."""
    imola = (FOLDER / "imola.jsonl").read_text().lower()
    assert "understeer" in imola
    assert not any(word in imola for word in ("28.5", "wing", "flap", "anti-roll"))


def test_there_are_five_questions_of_both_weekends() -> None:
    """One of them can only be answered by inheritance."""
    questions = _questions()
    assert len(questions) == 5
    assert {question["graph"] for question in questions} == set(WEEKENDS)
    assert [question["inherited_only"] for question in questions].count(True) == 1


# Topics derived from a conversation's own words.

START = datetime(2026, 6, 1, 9, 0, tzinfo=UTC)


def _script(folder: Path, *rows: dict[str, object]) -> Script:
    path = folder / "chat.jsonl"
    lines = [
        json.dumps({"speaker": "Gearbox", "at": (START + timedelta(minutes=n)).isoformat()} | row)
        for n, row in enumerate(rows)
    ]
    path.write_text("\n".join(lines))
    return read_script([path], now=START)


def _weekend() -> list[dict[str, object]]:
    """Return 36 turns: four about tyres in a clump, ``engine`` four times spread evenly."""
    texts = [f"Sentence {'abcdefghijklmnopqrstuvwxyz'[n % 26]}." for n in range(36)]
    for n, word in enumerate(["Tyres!", "TYRES", "the tyre", "tyres,"]):
        texts[10 + n] = f"What about {word} gearbox because 1234567"
    for n in (2, 11, 20, 29):
        texts[n] += " engine"
    return [{"text": text} for text in texts]


def test_clumped_words_become_topics_of_the_lines_that_contain_them(tmp_path: Path) -> None:
    """A word used in a clump is a topic, in its commonest form; plural and singular are one."""
    topics = [line.topics for line in derive_topics(_script(tmp_path, *_weekend())).lines()]
    assert topics[10:14] == [("tyres",)] * 4
    assert set(topics[:10] + topics[14:]) == {()}


def test_given_topics_and_beliefs_are_left_alone(tmp_path: Path) -> None:
    """Named topics stay, none on purpose included; facts and rules get theirs, beliefs do not."""
    rows: list[dict[str, object]] = [
        {"type": "fact", "text": "Tyres are round."},
        {"type": "fact", "text": "Tyres are black.", "topics": []},
        {"type": "rule", "trigger": "a flat tyre", "steps": ["box"]},
        {"type": "belief", "claim": "Tyres matter."},
        {"text": "A tyre.", "topics": ["own"]},
    ]
    derived = list(derive_topics(_script(tmp_path, *_weekend(), *rows)).lines())[36:]
    assert [line.topics for line in derived] == [("tyres",), (), ("tyres",), None, ("own",)]


def test_everything_but_topics_stays_the_same(tmp_path: Path) -> None:
    """Deriving changes no reference, word or time, and doing it twice changes nothing."""
    script = _script(tmp_path, *_weekend())
    derived = derive_topics(script)
    stripped = [line.model_copy(update={"topics": None}) for line in derived.lines()]
    assert stripped == list(script.lines())
    assert derive_topics(derived) == derived
    assert derive_topics(script) == derived


def test_best_words_win_when_there_are_too_many(tmp_path: Path) -> None:
    """With room for one topic, the word in the denser clump is taken."""
    rows = _weekend()
    for row in rows[19:24]:
        row["text"] = f"{row['text']} strategies"
    rows[24]["text"] = "A strategy"
    script = _script(tmp_path, *rows)
    both = {topic for line in derive_topics(script, 2).lines() for topic in line.topics or ()}
    one = {topic for line in derive_topics(script, 1).lines() for topic in line.topics or ()}
    assert (both, one) == ({"strategies", "tyres"}, {"strategies"})


def test_short_conversation_has_no_topics(tmp_path: Path) -> None:
    """Where nothing is distinctive, every line gets the empty set and is seen by all."""
    script = derive_topics(_script(tmp_path, {"text": "Tyres."}, {"text": "Tyres."}))
    assert [line.topics for line in script.lines()] == [(), ()]


@pytest.mark.parametrize("limit", [0, 65])
def test_impossible_limits_are_refused(tmp_path: Path, limit: int) -> None:
    """A line may carry 64 topics at most."""
    with pytest.raises(UsageError, match="limit"):
        derive_topics(_script(tmp_path, {"text": "Hi."}), limit)


# No content of a file makes reading fail in any other way than with a UsageError.

NOW = datetime(2026, 6, 1, 9, 0, tzinfo=UTC)
NAMES = ("a", "a.md", "a.json", "a.jsonl")
KEYS = (
    "type speaker text at id topics conversation tool_outputs response agent tier confidence "
    "subject predicate object valid_from valid_to trigger steps claim topic key value role content "
    "messages name created_at timestamp tool_calls function tool_call_id conversations turns date "
    "caption sample_id session_1 session_1_date_time dia_id blip_caption tool output"
).split()
WORDS = (
    *("a", "", "user", "assistant", "tool", "system", "fact", "rule", "belief", "turn", "core"),
    *("2026-05-15", "2026-05-15T10:00:00Z", "1:56 pm on 8 May, 2023", "0001-01-01", "9999-12-31"),
    *("*", "\x00", "\ud800", "\u2028", "\u202e", "x" * 300, "a\nb", "text", "image_url"),
)
PIECES = (
    *("**", "*", ":", " ", "\n", "\r\n", "\n\n", "Anna", "Ben", "- ", "# ", "## ", "### ", "```"),
    *("~~~", "---\n", "(15:04)", "(", ")", "(25:99)", "2026-05-14", "2026-02-30", "14 May 2026"),
    *("1:56 pm on ", "8 May, 2023", "05/06/2026", "T10:00", "Z", "+99:99", "date: ", "topics: "),
    *("conversation: ", "\t", "\u00a0", "\u2028", "\x0b", "é", "٣", "9", "pm"),
)

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(WORDS)
    | st.text(max_size=8)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6)
    ),
    max_leaves=25,
)
rows = st.dictionaries(st.sampled_from(KEYS), values, min_size=1, max_size=8)
formats = st.sampled_from((None, *FORMATS))
names = st.sampled_from(NAMES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all examples."""
    return tmp_path_factory.mktemp("hostile")


def _read(folder: Path, name: str, content: bytes, format_: str | None) -> Script | None:
    """Return the script, or ``None`` when the file is refused with a message one can print."""
    path = folder / name
    path.write_bytes(content)
    script, refusal = None, None
    try:
        script = read_script([path], now=NOW, format=format_)
    except UsageError as error:
        refusal = error
    if refusal is not None:
        assert str(path) in refusal.field
        assert len(str(refusal)) < 2_000
    if script is not None:
        _check(script)
    return script


def _check(script: Script) -> None:
    """Check what holds for every script that was read."""
    refs = [line.ref for line in script.lines()]
    assert len(refs) == len(set(refs)) == len(script) > 0
    for line in script.lines():
        assert line.at.tzinfo is UTC
        assert line.content.strip()
        line.model_dump_json().encode()


@given(content=st.binary(max_size=400), name=names, format_=formats)
def test_random_bytes(folder: Path, content: bytes, name: str, format_: str | None) -> None:
    """Bytes of any kind are a script or a UsageError."""
    _read(folder, name, content, format_)


@given(pieces=st.lists(st.sampled_from(PIECES), max_size=60), name=names)
@settings(max_examples=300)
def test_random_markdown(folder: Path, pieces: list[str], name: str) -> None:
    """Pieces of chats in any order are a script or a UsageError."""
    _read(folder, name, "".join(pieces).encode("utf-8", "surrogatepass"), "markdown")


@given(value=values | rows | st.lists(rows, max_size=4), name=names, format_=formats)
@settings(max_examples=200)
def test_random_json(folder: Path, value: object, name: str, format_: str | None) -> None:
    """Known fields with values of any kind are a script or a UsageError."""
    _read(folder, name, json.dumps(value).encode(), format_)


GOOD_ROWS: tuple[dict[str, object], ...] = (  # of one format each: four, three and one
    {"speaker": "a", "at": "2026-05-15", "text": "b"},
    {"speaker": "a", "at": "2026-05-15", "type": "fact", "text": "b", "confidence": 1},
    {"speaker": "a", "at": "2026-05-15", "type": "rule", "trigger": "b", "steps": ["c"]},
    {"speaker": "a", "at": "2026-05-15", "type": "belief", "claim": "b", "key": ["c", "d"]},
    {"role": "user", "content": "a"},
    {"role": "assistant", "content": ["a", {"type": "text", "text": "b"}]},
    {"role": "tool", "content": "a", "tool_call_id": "b"},
    {"id": "a", "dia_id": "a", "speaker": "b", "text": "c", "date": "2026-05-15"},
)
damage = st.dictionaries(st.sampled_from(KEYS), values, max_size=1)


parts_of_one_format = st.one_of(
    *(
        st.lists(st.tuples(st.sampled_from(good), damage), min_size=1, max_size=3)
        for good in (GOOD_ROWS[:4], GOOD_ROWS[4:7], GOOD_ROWS[7:])
    )
)


@given(parts=parts_of_one_format)
@settings(max_examples=300)
def test_good_objects_with_one_field_changed(
    folder: Path, parts: list[tuple[dict[str, object], dict[str, object]]]
) -> None:
    """Good objects with any value in one field, where each format expects its messages."""
    turns = [{**row, **changed} for row, changed in parts]
    documents: tuple[object, ...] = (
        turns,
        {"messages": turns},
        {"conversations": [{"id": "c", "turns": turns}]},
        [
            {
                "sample_id": "c",
                "conversation": {"session_1": turns, "session_1_date_time": "8 May, 2023"},
            }
        ],
    )
    for document in documents:
        _read(folder, "a.json", json.dumps(document).encode(), None)


def _good() -> Iterator[tuple[str, bytes]]:
    turn = {"speaker": "a", "text": "b", "at": "2026-05-15", "id": "c", "topics": ["d"]}
    yield "a.jsonl", json.dumps(turn).encode()
    message = {"role": "user", "content": [{"type": "text", "text": "b"}], "created": 1778846400}
    yield "a.json", json.dumps({"messages": [message]}, indent=1).encode()
    yield "a.md", b"---\ndate: 2026-05-15\n---\n## 2026-05-16\n**a** (10:00): b\n```\nc\n```\n"


@given(
    which=st.integers(0, 2),
    at=st.floats(0, 1),
    cut=st.integers(0, 3),
    inserted=st.binary(max_size=3),
)
@settings(max_examples=400)
def test_damaged_files(folder: Path, which: int, at: float, cut: int, inserted: bytes) -> None:
    """A good file with a few bytes lost or changed is a script or a UsageError."""
    name, content = list(_good())[which]
    assert _read(folder, name, content, None) is not None
    start = int(at * len(content))
    _read(folder, name, content[:start] + inserted + content[start + cut :], None)


@pytest.mark.parametrize("opening", ["[", '{"a":', '{"messages":[', '[{"conversation":{"x":'])
@pytest.mark.parametrize("name", NAMES)
def test_deep_nesting_is_refused(folder: Path, opening: str, name: str) -> None:
    """Nesting deeper than the interpreter's stack is refused like any other mistake."""
    depth = 200_000
    assert _read(folder, name, opening.encode() * depth, "openai") is None
    assert _read(folder, name, b'{"a":' + b"[" * depth + b"]" * depth + b"}", None) is None
