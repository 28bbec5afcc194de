"""No content of a file makes reading fail in any other way than with a UsageError."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ezra.replay.formats import FORMATS, read_script
from ezra.replay.script import Script
from tiers.errors import UsageError

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
