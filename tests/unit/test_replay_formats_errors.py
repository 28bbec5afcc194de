"""What a file that is not in order is refused with: file, line, field and what is accepted."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ezra.replay.formats import read_script
from ezra.replay.parsers import source as limits
from tiers.errors import UsageError
from tiers.records import TEXT_CHARS_MAX

NOW = datetime(2026, 6, 1, 9, 0, tzinfo=UTC)
GOOD = {"speaker": "anna", "text": "Hi.", "at": "2026-05-15"}
HELLO = json.dumps(GOOD)


def _refused(folder: Path, name: str, content: str | bytes, **more: object) -> UsageError:
    """Return the error for a file, after checking that it names the file."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UsageError) as caught:
        read_script([path], now=NOW, **more)  # type: ignore[arg-type]
    assert str(path) in str(caught.value)
    return caught.value


def _where(error: UsageError, folder: Path) -> str:
    return error.field.removeprefix(f"{folder}/")


def _turn(**fields: object) -> str:
    return json.dumps({**GOOD, **fields})


def _typed(kind: str, **fields: object) -> str:
    return json.dumps({"type": kind, "speaker": "anna", "at": "2026-05-15", **fields})


@pytest.mark.parametrize(
    ("row", "field", "accepted"),
    [
        (_turn(colour="red"), "colour", "speaker, at, id"),
        (_turn(text=None), "text", "a string that is not blank"),
        (_turn(text=" \n"), "text", "a string that is not blank"),
        (_turn(text="x" * (TEXT_CHARS_MAX + 1)), "text", "at most 200000 characters"),
        (_turn(text=["Hi."]), "text", "a string"),
        (_turn(speaker=""), "speaker", "1 to 256 printable"),
        (_turn(speaker="a\nb"), "speaker", "1 to 256 printable"),
        (_turn(speaker="x" * 257), "speaker", "1 to 256 printable"),
        (_turn(agent=3), "agent", "1 to 256 printable"),
        (_turn(conversation=[]), "conversation", "1 to 256 printable"),
        (_turn(id=""), "id", "or a whole number"),
        (_turn(id=True), "id", "or a whole number"),
        (_turn(id="x" * 255), "id", "at most 256 characters together"),
        (_turn(at=None), "at", "ISO 8601"),
        (_turn(at="yesterday"), "at", "ISO 8601"),
        (_turn(at=1778846400), "at", "ISO 8601"),
        (_turn(at="0001-01-01T00:00:00+14:00"), "at", "1000 to 2999"),
        (_turn(at="9999-12-31T23:59:59-14:00"), "at", "1000 to 2999"),
        (_turn(topics="tyres"), "topics", "a list of at most 64 topics"),
        (_turn(topics={"tyres": 1}), "topics", "a list of at most 64 topics"),
        (_turn(topics=["*"]), "topics", "none of them '*'"),
        (_turn(topics=["a\nb"]), "topics", "printable"),
        (_turn(topics=[str(n) for n in range(65)]), "topics", "at most 64"),
        (_turn(response=1), "response", "a string"),
        (_turn(tool_outputs={}), "tool_outputs", "a list of JSON objects"),
        (_turn(tool_outputs=["x"]), "tool_outputs[0]", "a JSON object"),
        (_turn(tool_outputs=[{"tool": "x"}]), "tool_outputs[0].output", "a string"),
        (_turn(tool_outputs=[{"tool": "", "output": ""}]), "tool_outputs[0].tool", "1 to 256"),
        (
            _turn(tool_outputs=[{"tool": "x", "output": "", "ok": 1}]),
            "tool_outputs[0].ok",
            "tool, output",
        ),
        (_typed("turns", text="Hi."), "type", "turn, fact, rule, belief"),
        (_typed("turn", text="Hi.", claim="x"), "claim", "text, response, tool_outputs"),
        (_typed("fact"), "text", "text, or all of subject, predicate, object"),
        (_typed("fact", subject="a", object="b"), "predicate", "subject, predicate, object"),
        (_typed("fact", text="a", tier="hot"), "tier", "archival or core"),
        (_typed("fact", text="a", confidence=2), "confidence", "0 to 1"),
        (_typed("fact", text="a", confidence=True), "confidence", "0 to 1"),
        (_typed("fact", text="a", valid_from="soon"), "valid_from", "ISO 8601"),
        (
            _typed("fact", text="a", valid_from="2026-02-01", valid_to="2026-01-01"),
            "valid_to",
            "not before valid_from",
        ),
        (
            _typed("fact", subject="x" * 150_000, predicate="is", object="x" * 60_000),
            "text",
            "200000",
        ),
        (_typed("rule", trigger="", steps=["a"]), "trigger", "not blank"),
        (_typed("rule", trigger="a", steps=[]), "steps", "a list of at least one"),
        (_typed("rule", trigger="a", steps="b"), "steps", "a list of at least one"),
        (_typed("rule", trigger="a", steps=["b", " "]), "steps[1]", "not blank"),
        (_typed("belief", claim=""), "claim", "not blank"),
        (_typed("belief", claim="a", topics=["b"]), "topics", "claim, topic, key, value"),
        (_typed("belief", claim="a", key="b"), "key", "a list of strings"),
        (_typed("belief", claim="a", key=["b"]), "key", "[subject, attribute]"),
        (_typed("belief", claim="a", key=["b", ""]), "key[1]", "1 to 256"),
        (_typed("belief", claim="a", value=3), "value", "a string"),
    ],
)
def test_jsonl_fields_are_refused_by_name(
    tmp_path: Path, row: str, field: str, accepted: str
) -> None:
    """A field that is not acceptable is named with its line and what is accepted."""
    error = _refused(tmp_path, "a.jsonl", f"{HELLO}\n\n{row}\n")
    assert _where(error, tmp_path) == f"a.jsonl:3: {field}"
    assert accepted in error.accepted


@pytest.mark.parametrize(
    ("row", "value", "accepted"),
    [
        ('{"speaker": "a", "text" "b"}', '"b"}', "valid JSON (Expecting ':' delimiter, column 25)"),
        ("// a comment", "// a comment", "valid JSON (Expecting value, column 1)"),
        (f"{HELLO} {HELLO}", HELLO[:60], "valid JSON (nothing expected after the value"),
        ('{"a": "b', '"b', "valid JSON (Unterminated string"),
        ('{"text": "a", "text": "b"}', "text", "every key once in an object"),
        ('{"text": NaN}', "NaN", "finite numbers"),
        ('{"text": 1e999}', float("inf"), "finite numbers"),
        ('{"text": "\\ud800"}', "\ud800", "half surrogate pairs"),
        ('{"te\\u0000xt": "x"}', "te\x00xt", "without NUL"),
        ('{"text": ' + "[" * 17 + "]" * 17 + "}", "deeper nesting", "at most 16 levels"),
        ("[" * 100_000, "deeper nesting", "at most 16 levels"),
        ('{"text": ' + "1" * 5000 + "}", '{"text": ' + "1" * 51, "Exceeds the limit"),
    ],
)
def test_broken_json_is_refused_by_line(
    tmp_path: Path, row: str, value: object, accepted: str
) -> None:
    """JSON that is broken, or that no record can hold, is refused where it stands."""
    error = _refused(tmp_path, "a.jsonl", f"{HELLO}\n{row}")
    assert _where(error, tmp_path) == "a.jsonl:2: JSON"
    assert error.value == value
    assert accepted in error.accepted


def test_json_line_that_is_no_object_is_refused(tmp_path: Path) -> None:
    """Each line of a file of lines is an object."""
    error = _refused(tmp_path, "a.jsonl", f"{HELLO}\n[1]")
    assert (_where(error, tmp_path), error.value) == ("a.jsonl:2: line", [1])


@pytest.mark.parametrize(
    ("content", "line", "accepted"),
    [
        (
            '{"messages": [\n{"role": "user",\n"content" 1}]}',
            3,
            "Expecting ':' delimiter, column 11",
        ),
        ('[\n{"role": "user"}\n{"role": "user"}]', 3, "Expecting ',' delimiter, column 1"),
        ('{"messages":\n[]}\nx', 3, "nothing expected after the value, column 1"),
        ('{"messages" []}', 1, "Expecting ':' delimiter, column 13"),
        ('{\n"messages": [],\nmessages: []}', 3, "property name enclosed in double quotes"),
        ('{"messages": [],\n"messages": []}', 1, "every key once"),
        ('[\n\n{"role": "user", "role": "user"}]', 3, "every key once"),
        ("[", 1, "Expecting value, column 2"),
    ],
)
def test_broken_json_documents_are_refused_by_line(
    tmp_path: Path, content: str, line: int, accepted: str
) -> None:
    """In a document over several lines, the line of the mistake is named."""
    error = _refused(tmp_path, "a.json", content)
    assert _where(error, tmp_path) == f"a.json:{line}: JSON"
    assert accepted in error.accepted


@pytest.mark.parametrize(
    ("message", "field", "accepted"),
    [
        ('{"role": "robot", "content": "Hi."}', "role", "user, assistant, tool"),
        ('{"role": "user"}', "content", "not blank"),
        ('{"role": "user", "content": " "}', "content", "not blank"),
        ('{"role": "user", "content": 3}', "content", "a list of parts"),
        ('{"role": "user", "content": [{"text": "x"}]}', "content[0].type", "1 to 256"),
        ('{"role": "user", "content": ["x", {"type": "text"}]}', "content[1].text", "a string"),
        ('{"role": "user", "content": [3]}', "content[0]", "a JSON object"),
        ('{"role": "user", "content": "x", "name": 3}', "name", "1 to 256"),
        ('{"role": "user", "content": "x", "created": 1778846400000}', "created", "Unix seconds"),
        ('{"role": "user", "content": "x", "created": true}', "created", "Unix seconds"),
        ('{"role": "tool", "content": "x"}', "role", "before a tool's"),
        ("3", "", "a JSON object"),
    ],
)
def test_openai_messages_are_refused_by_name(
    tmp_path: Path, message: str, field: str, accepted: str
) -> None:
    """A message that cannot be read is named by its place in the list and its line."""
    system = '{"role": "system", "content": "x"}'
    error = _refused(tmp_path, "a.json", f'{{"messages": [\n{system},\n{message}]}}')
    # A bare number has no line of its own in the decoded document.
    expected = f"a.json:3: messages[1].{field}" if field else "a.json:1: messages[1]"
    assert _where(error, tmp_path) == expected
    assert accepted in error.accepted


def test_openai_thread_without_messages_is_refused(tmp_path: Path) -> None:
    """Threads and other objects are not mixed."""
    thread = '{"messages": [{"role": "user", "content": "x"}]}'
    error = _refused(tmp_path, "a.jsonl", f'{thread}\n{{"role": "user"}}')
    assert _where(error, tmp_path) == "a.jsonl:2: messages"


def test_file_without_anything_to_play_is_refused(tmp_path: Path) -> None:
    """Instructions alone are no conversation."""
    error = _refused(tmp_path, "a.json", '[{"role": "system", "content": "x"}]')
    assert _where(error, tmp_path) == "a.json:1: file"
    assert "at least one message" in error.accepted


@pytest.mark.parametrize(
    ("content", "where", "value"),
    [
        ("Only prose, not a chat.", "1: message", "Only prose, not a chat."),
        ("A: a\n\nB:\n\n", "3: text", ""),
        ("A: a\n## 2026-13-45\n", "2: heading", "2026-13-45"),
        ("A: a\n## 30 February 2026\n", "2: heading", "30 February 2026"),
        ("A: a\n## 05/14/2026\n", "2: heading", "05/14/2026"),
        ("A: a\nB (25:00): b", "2: time", "25:00"),
        ("A: a\n**B** (13:00 pm): b", "2: time", "13:00 pm"),
        ("A: a\nB (3rd): b", "2: time", "3rd"),
        ("A: a\nB: b\n```\nC: c", "3: code block", "```"),
        ("---\ndate: soon\n---\nA: a", "2: date", "soon"),
        ("---\nx: y\ntopics: '*'\n---\nA: a", "3: topics", "*"),
        ("---\nconversation:\n---\nA: a", "2: conversation", ""),
        ("**:** a", "1: speaker", ""),
    ],
)
def test_markdown_mistakes_are_refused_by_line(
    tmp_path: Path, content: str, where: str, value: str
) -> None:
    """Chats without messages, and dates, times or code blocks that cannot be read, are refused."""
    error = _refused(tmp_path, "a.md", content)
    assert (_where(error, tmp_path), error.value) == (f"a.md:{where}", value)


LOCOMO_TURN = {"id": "D1:1", "date": "2023-05-08T13:56", "speaker": "Ann", "text": "Hi!"}


@pytest.mark.parametrize(
    ("turn", "field"),
    [
        ({**LOCOMO_TURN, "text": ""}, "text"),
        ({**LOCOMO_TURN, "speaker": None}, "speaker"),
        ({**LOCOMO_TURN, "id": None}, "id"),
        ({**LOCOMO_TURN, "date": "8 Mai 2023"}, "date"),
        ({**LOCOMO_TURN, "date": "31 June 2023"}, "date"),
        ({**LOCOMO_TURN, "caption": 3}, "caption"),
    ],
)
def test_locomo_turns_are_refused_by_name(
    tmp_path: Path, turn: dict[str, object], field: str
) -> None:
    """A turn that cannot be read is named by its path in the document and its line."""
    content = '{"conversations": [{"id": "c", "turns":\n[\n%s]}]}' % json.dumps(turn)  # noqa: UP031
    error = _refused(tmp_path, "a.json", content)
    assert _where(error, tmp_path) == f"a.json:3: conversations[0].turns[0].{field}"


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ('{"speaker": "a"}', "1: conversations"),
        ('{"conversations": 3}', "1: conversations"),
        ('{"conversations":\n[{"id": "c"}]}', "2: conversations[0].turns"),
        ('[{"sample_id": "c",\n"conversation": {}}]', "2: conversation.session_1"),
        ('[{"sample_id": "c"}]', "1: conversation"),
        (
            '[{"sample_id": "c", "conversation": {"session_1": []}}]',
            "1: conversation.session_1_date_time",
        ),
    ],
)
def test_locomo_documents_are_refused_by_name(tmp_path: Path, content: str, where: str) -> None:
    """A document that is neither form of the data set is refused with what is missing."""
    error = _refused(tmp_path, "a.json", content, format="locomo")
    assert _where(error, tmp_path) == f"a.json:{where}"


@pytest.mark.parametrize(
    ("content", "where", "accepted"),
    [
        (b"", "1: file", "at least one message"),
        (b"\xef\xbb\xbf \n\n", "1: file", "at least one message"),
        (b"a: b\na: \xff\xfe", "2: encoding", "UTF-8"),
        ("a: b".encode("utf-16"), "1: encoding", "UTF-8"),
        (b"a: b\n\na: \x00", "3: encoding", "without NUL"),
    ],
)
def test_files_that_are_no_text_are_refused(
    tmp_path: Path, content: bytes, where: str, accepted: str
) -> None:
    """Empty files, other encodings and NUL bytes are refused in every format."""
    for name in ("a.md", "a.json", "a.jsonl", "a"):
        error = _refused(tmp_path, name, content)
        assert _where(error, tmp_path) == f"{name}:{where}"
        assert accepted in error.accepted


@pytest.mark.parametrize(
    ("name", "accepted"),
    [
        ("missing.md", "No such file"),
        (".", "a directory"),
        ("a\x00b", "embedded null"),  # byte, or character: Python 3.13 says it otherwise
        ("x" * 300, "name too long"),
    ],
)
def test_paths_that_cannot_be_read_are_refused(tmp_path: Path, name: str, accepted: str) -> None:
    """Missing files, directories and impossible names give an error that names the path."""
    path = tmp_path / name
    with pytest.raises(UsageError) as caught:
        read_script([path], now=NOW)
    assert (caught.value.field, caught.value.value) == ("paths", str(path))
    assert accepted in caught.value.accepted


def test_file_above_the_size_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One byte too many is too many."""
    monkeypatch.setattr(limits, "FILE_BYTES_MAX", len(HELLO))
    path = tmp_path / "a.jsonl"
    path.write_text(HELLO)
    assert read_script([path], now=NOW).turns == 1
    path.write_text(HELLO + "\n")
    with pytest.raises(UsageError, match=f"at most {len(HELLO)} bytes"):
        read_script([path], now=NOW)


@pytest.mark.parametrize("name", ["a.jsonl", "a.md"])
def test_file_above_the_line_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The first line too many is named, before anything is read."""
    monkeypatch.setattr(limits, "LINES_MAX", 3)
    error = _refused(tmp_path, name, "\n".join(["A: a"] * 5))
    assert _where(error, tmp_path) == f"{name}:4: file"
    assert "at most 3 lines" in error.accepted


def test_script_above_the_line_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit holds for all files together."""
    monkeypatch.setattr(limits, "LINES_MAX", 3)
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text("A: a\nA: b")
    with pytest.raises(UsageError, match="at most 3 lines in one script") as caught:
        read_script([tmp_path / "a.md", tmp_path / "b.md"], now=NOW)
    assert _where(caught.value, tmp_path) == "b.md:1: file"


def test_id_used_twice_is_refused(tmp_path: Path) -> None:
    """The second use of an id is refused and the first one is named."""
    error = _refused(tmp_path, "a.jsonl", f"{_turn(id='x')}\n{HELLO}\n{_turn(id='x')}")
    assert (_where(error, tmp_path), error.value) == ("a.jsonl:3: id", "x")
    assert "line 1" in error.accepted


def test_conversation_in_two_files_is_refused(tmp_path: Path) -> None:
    """Two files of one name do not become one conversation unseen, nor one file given twice."""
    (tmp_path / "sub").mkdir()
    paths = [tmp_path / "a.md", tmp_path / "sub" / "a.md"]
    for path in paths:
        path.write_text("\nA: a")
    for pair in (paths, [paths[0], paths[0]]):
        with pytest.raises(UsageError) as caught:
            read_script(pair, now=NOW)
        assert caught.value.field == f"{pair[1]}:2: conversation"
        assert str(paths[0]) in caught.value.accepted


def test_file_name_that_names_no_conversation_is_refused(tmp_path: Path) -> None:
    """A stem with control characters cannot be an id; the error shows a printable path."""
    path = tmp_path / "a\nb.md"
    path.write_text("A: a")
    with pytest.raises(UsageError) as caught:
        read_script([path], now=NOW)
    assert caught.value.field.endswith(":1: conversation")


def test_long_names_do_not_fit_together(tmp_path: Path) -> None:
    """Conversation and speaker together make the agent's id and must fit into one."""
    rows = [_turn(conversation="x" * 200, speaker="y" * 100), _turn(conversation="z")]
    error = _refused(tmp_path, "a.jsonl", "\n".join(rows))
    assert _where(error, tmp_path) == "a.jsonl:1: speaker"


def test_joined_text_above_the_limit_is_refused(tmp_path: Path) -> None:
    """Lines that fit one by one may not fit together."""
    long = "x" * (TEXT_CHARS_MAX // 2)
    error = _refused(tmp_path, "a.md", f"A: a\nB: {long}\n{long}")
    assert _where(error, tmp_path) == "a.md:2: text"


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"paths": []}, "paths"),
        ({"format": "yaml"}, "format"),
        ({"topics": ["*"]}, "topics"),
        ({"topics": [""]}, "topics"),
        ({"topics": "tyres"}, "topics"),
        ({"start": datetime(1, 1, 1, tzinfo=UTC)}, "start"),
        ({"now": datetime(9999, 1, 1, tzinfo=UTC)}, "now"),
    ],
)
def test_arguments_are_refused_by_name(
    tmp_path: Path, arguments: dict[str, object], field: str
) -> None:
    """A mistake of the caller is told from a mistake in a file."""
    path = tmp_path / "a.md"
    path.write_text("A: a")
    good: dict[str, object] = {"paths": [path], "now": NOW}
    with pytest.raises(UsageError) as caught:
        read_script(**{**good, **arguments})  # type: ignore[arg-type]
    assert caught.value.field == field


def test_mistake_in_the_last_file_returns_nothing(tmp_path: Path) -> None:
    """Good files do not come back without the bad one."""
    (tmp_path / "a.md").write_text("A: a")
    (tmp_path / "b.jsonl").write_text(f"{HELLO}\nbroken")
    with pytest.raises(UsageError) as caught:
        read_script([tmp_path / "a.md", tmp_path / "b.jsonl"], now=NOW)
    assert _where(caught.value, tmp_path) == "b.jsonl:2: JSON"
