"""What each conversation format becomes when it is in order."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ezra.replay.formats import read_script
from ezra.replay.script import BeliefLine, FactLine, RuleLine, Script, TurnLine
from tiers.records import ToolOutput

NOW = datetime(2026, 6, 1, 9, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def _read(folder: Path, name: str, content: str, **more: object) -> Script:
    path = folder / name
    path.write_text(content, encoding="utf-8", newline="")
    return read_script([path], now=NOW, **more)  # type: ignore[arg-type]


def _turns(script: Script) -> list[TurnLine]:
    return [line for line in script.lines() if isinstance(line, TurnLine)]


def _lines(*rows: Mapping[str, object]) -> str:
    return "\n".join(json.dumps(row) for row in rows)


def test_jsonl_turn_keeps_every_field(tmp_path: Path) -> None:
    """A turn has what its object says, its time in UTC, and the speaker as its agent."""
    row = {
        "speaker": "anna",
        "text": "Box now.",
        "at": "2026-05-15T14:30:00+02:00",
        "id": "a1",
        "topics": ["Tyres", "pit "],
        "response": "Copy.",
        "tool_outputs": [{"tool": "radar", "output": "dry"}],
    }
    script = _read(tmp_path, "pit.jsonl", json.dumps(row))
    assert _turns(script) == [
        TurnLine(
            conversation="pit",
            ref="pit:a1",
            speaker="anna",
            agent="anna",
            at=datetime(2026, 5, 15, 12, 30, tzinfo=UTC),
            topics=("pit", "tyres"),
            text="Box now.",
            response="Copy.",
            tool_outputs=(ToolOutput(tool="radar", output="dry"),),
        )
    ]
    assert (len(script), script.turns, script.skipped, script.agents) == (1, 1, 0, ("anna",))


def test_jsonl_facts_rules_and_beliefs_become_records(tmp_path: Path) -> None:
    """The other three types carry what the runtime needs to remember or commit them."""
    common = {"speaker": "ben", "at": "2026-05-15"}
    triple = {"subject": "mediums", "predicate": "last", "object": "18 laps"}
    script = _read(
        tmp_path,
        "pit.jsonl",
        _lines(
            {"type": "fact", **common, **triple, "tier": "core", "confidence": 0.5, "topics": []},
            {"type": "fact", **common, "text": "Dry.", "valid_from": "2026-05-14", "id": 7},
            {"type": "rule", **common, "trigger": "rain", "steps": ["look", "box"]},
            {
                "type": "belief",
                **common,
                "claim": "Start on softs.",
                "topic": "strategy",
                "key": ["start", "compound"],
                "value": "soft",
            },
        ),
    )
    core, archival, rule, belief = script.lines()
    assert isinstance(core, FactLine)
    assert isinstance(archival, FactLine)
    assert isinstance(rule, RuleLine)
    assert isinstance(belief, BeliefLine)
    assert (core.fact.text, core.fact.tier, core.fact.confidence, core.topics) == (
        "mediums last 18 laps",
        "core",
        0.5,
        (),
    )
    assert (archival.ref, archival.tier, archival.topics) == ("pit:7", "archival", None)
    assert archival.fact.valid_from == datetime(2026, 5, 14, tzinfo=UTC)
    assert (rule.rule.trigger, rule.rule.steps) == ("rain", ("look", "box"))
    assert (belief.claim, belief.topic, belief.value) == ("Start on softs.", "strategy", "soft")
    assert belief.key == ("start", "compound")
    assert script.turns == 0
    assert [line.content for line in script.lines()] == [
        "mediums last 18 laps",
        "Dry.",
        "When rain:\n- look\n- box",
        "Start on softs.",
    ]


def test_references_without_ids_stand_for_place_and_words(tmp_path: Path) -> None:
    """A reference counts from 1 and changes with the words, not with the time or the start."""
    first = {"speaker": "anna", "text": "Box now.", "at": "2026-05-15T14:30:00Z"}
    later = {**first, "at": "2027-01-01"}
    other = {**first, "text": "Stay out."}
    refs = [line.ref for line in _read(tmp_path, "a.jsonl", _lines(first, first)).lines()]
    same = [line.ref for line in _read(tmp_path, "a.jsonl", _lines(later, other)).lines()]
    assert refs[0].split(":")[:2] == ["a", "1"]
    assert refs[1].split(":")[:2] == ["a", "2"]
    assert len(refs[0].split(":")[2]) == 8
    assert same[0] == refs[0]
    assert same[1] != refs[1]


def test_several_conversations_in_a_file_qualify_their_agents(tmp_path: Path) -> None:
    """Lines are grouped by conversation, and agents of two conversations never share an id."""
    row = {"speaker": "anna", "text": "Hi.", "at": "2026-05-15"}
    script = _read(
        tmp_path,
        "a.jsonl",
        _lines(
            {**row, "conversation": "x"},
            {**row, "conversation": "y", "agent": "shared"},
            {**row, "conversation": "x", "text": "Again."},
        ),
    )
    assert [one.id for one in script.conversations] == ["x", "y"]
    assert [len(one.lines) for one in script.conversations] == [2, 1]
    assert script.agents == ("x/anna", "shared")
    assert script.conversations[0].agents == ("x/anna",)


def test_several_files_are_one_script_in_order(tmp_path: Path) -> None:
    """Each file is a conversation of its own and keeps the plain names of its speakers."""
    (tmp_path / "b.md").write_text("Anna: Hello.")
    (tmp_path / "a.md").write_text("Anna: Hello.")
    script = read_script([tmp_path / "b.md", tmp_path / "a.md"], now=NOW)
    assert [(line.conversation, line.agent) for line in script.lines()] == [
        ("b", "Anna"),
        ("a", "Anna"),
    ]


def test_given_topics_reach_lines_that_name_none(tmp_path: Path) -> None:
    """Topics of the call fill in for absent ones; named ones, empty ones and beliefs stay."""
    row = {"speaker": "anna", "text": "Hi.", "at": "2026-05-15"}
    belief = {"type": "belief", "speaker": "anna", "claim": "So.", "at": "2026-05-15"}
    content = _lines(row, {**row, "topics": ["own"]}, {**row, "topics": []}, belief)
    script = _read(tmp_path, "a.jsonl", content, topics=["Given"])
    assert [line.topics for line in script.lines()] == [("given",), ("own",), (), None]
    unnamed = _read(tmp_path, "a.jsonl", content, topics=[])
    assert [line.topics for line in unnamed.lines()] == [None, ("own",), (), None]


@pytest.mark.parametrize("breaks", ["\r\n", "\r", "\n\n"])
def test_byte_order_mark_and_line_breaks_change_nothing(tmp_path: Path, breaks: str) -> None:
    """Files of other systems give the same script."""
    row = json.dumps({"speaker": "anna", "text": "Grüße.", "at": "2026-05-15"})
    plain = _read(tmp_path, "a.jsonl", f"{row}\n{row}")
    assert _read(tmp_path, "a.jsonl", f"\ufeff{row}{breaks}{row}{breaks}") == plain


def test_openai_thread_pairs_questions_with_answers(tmp_path: Path) -> None:
    """Answers, tool outputs and a null content with tool calls end up in the user's turn."""
    call = {"id": "c1", "type": "function", "function": {"name": "lookup", "arguments": "{}"}}
    messages: list[dict[str, object]] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "name": "ann", "content": "How long do mediums last?", "id": "m1"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "18"},
        {"role": "assistant", "content": "About 18 laps."},
        {"role": "assistant", "content": "On this track."},
        {"role": "user", "content": [{"type": "text", "text": "See"}, {"type": "image_url"}]},
    ]
    script = _read(
        tmp_path, "chat.json", json.dumps({"messages": messages, "model": "x"}, indent=1)
    )
    first, second = _turns(script)
    assert (first.ref, first.speaker, first.agent) == ("chat:m1", "ann", "assistant")
    assert first.text == "How long do mediums last?"
    assert first.response == "About 18 laps.\n\nOn this track."
    assert first.tool_outputs == (ToolOutput(tool="lookup", output="18"),)
    assert (second.speaker, second.text) == ("user", "See\n[image_url left out]")
    assert second.response == ""
    assert (first.at, second.at) == (NOW, NOW + SECOND)
    assert script.skipped == 1


def test_openai_agents_are_the_named_assistants(tmp_path: Path) -> None:
    """Who answers owns the turn; one who speaks unasked, or after another, gets an own turn."""
    messages = [
        {"role": "assistant", "name": "pit", "content": "Good morning."},
        {"role": "user", "content": "Morning."},
        {"role": "assistant", "name": "pit", "content": "Dry today."},
        {"role": "assistant", "name": "tyres", "content": "And warm."},
        {"role": "user", "content": "Thanks."},
    ]
    script = _read(tmp_path, "chat.json", json.dumps(messages))
    assert [(t.speaker, t.agent, t.text, t.response) for t in _turns(script)] == [
        ("pit", "pit", "Good morning.", ""),
        ("user", "pit", "Morning.", "Dry today."),
        ("tyres", "tyres", "And warm.", ""),
        ("user", "pit", "Thanks.", ""),
    ]


def test_openai_tools_called_unasked_join_what_is_said_about_them(tmp_path: Path) -> None:
    """An agent's own turn takes its words after the tools; without words it is skipped."""
    call = {"role": "assistant", "content": "", "tool_calls": [{"id": "c"}]}
    tool = {"role": "tool", "tool_call_id": "c", "content": "dry"}
    script = _read(
        tmp_path,
        "chat.json",
        json.dumps([call, tool, {"role": "assistant", "content": "It is dry."}, call, tool]),
    )
    (turn,) = _turns(script)
    assert (turn.text, turn.speaker) == ("It is dry.", "assistant")
    assert turn.tool_outputs == (ToolOutput(tool="tool", output="dry"),) * 2


def test_openai_wordless_turns_are_counted_as_skipped(tmp_path: Path) -> None:
    """Tools called by nobody's wish and without a word make no turn."""
    messages = [
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "tool", "content": "dry"},
        {"role": "user", "content": "Hello."},
    ]
    script = _read(tmp_path, "chat.json", json.dumps(messages))
    assert ([turn.text for turn in _turns(script)], script.skipped) == (["Hello."], 1)


@pytest.mark.parametrize("moment", ["2026-05-15T12:00:00Z", 1778846400, 1778846400.0])
@pytest.mark.parametrize("name", ["created_at", "timestamp", "created"])
def test_openai_times_are_iso_or_unix_seconds(
    tmp_path: Path, name: str, moment: str | float
) -> None:
    """A stated time is taken; a message without one follows a second later."""
    messages = [{"role": "user", "content": "Hi.", name: moment}, {"role": "user", "content": "?"}]
    first, second = _turns(_read(tmp_path, "chat.json", json.dumps(messages)))
    assert first.at == datetime(2026, 5, 15, 12, tzinfo=UTC)
    assert second.at == first.at + SECOND


def test_openai_references_do_not_depend_on_the_start(tmp_path: Path) -> None:
    """Reading the same file on another day, or with another start, names the same turns."""
    content = json.dumps([{"role": "user", "content": "Hi."}])
    early = datetime(2001, 2, 3)  # noqa: DTZ001 - naive on purpose
    (by_now,) = _turns(_read(tmp_path, "chat.json", content))
    (by_start,) = _turns(_read(tmp_path, "chat.json", content, start=early))
    assert by_start.ref == by_now.ref
    assert by_start.at == early.replace(tzinfo=UTC)


def test_openai_threads_on_lines_and_in_lists_are_the_same(tmp_path: Path) -> None:
    """A list of threads and a line for each give the same conversations."""
    hello = [{"role": "user", "content": "Hi."}]
    threads: list[dict[str, object]] = [{"messages": hello}, {"id": "named", "messages": hello}]
    on_lines = _read(tmp_path, "chat.jsonl", _lines(*threads))
    assert _read(tmp_path, "chat.json", json.dumps(threads, indent=2)) == on_lines
    assert [one.id for one in on_lines.conversations] == ["chat-1", "named"]
    assert on_lines.agents == ("chat-1/assistant", "named/assistant")


def test_openai_messages_may_be_lines(tmp_path: Path) -> None:
    """One message a line is one thread, named like the file."""
    content = _lines({"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Yes?"})
    (turn,) = _turns(_read(tmp_path, "chat.jsonl", content))
    assert (turn.conversation, turn.text, turn.response) == ("chat", "Hi.", "Yes?")


MARKDOWN = """\
---
title: The weekend
conversation: weekend
topics: [tyres, "pit"]
---
# Notes

Some words before the first message.

## Thursday, 14 May 2026

**Anna:** Morning.
How are the tyres?

- soft
- hard

**Ben** (15:04): Fine. Note: they grain.
Anna: said so as well
**Anna (3:05 pm):** Good.
### A deeper heading
```
**Ben:** not a message
## 2020-01-01
```
---
not said by anybody
## 2026-05-15 09:30 second day
- **Anna**: Next day.
**Ben** (2026-05-15 10:00): Late.
"""


def test_markdown_chat_keeps_sessions_paragraphs_and_code(tmp_path: Path) -> None:
    """Dated headings set the time, continuation lines and fences stay with their message."""
    script = _read(tmp_path, "chat.md", MARKDOWN)
    assert [(turn.speaker, turn.text, turn.at) for turn in _turns(script)] == [
        (
            "Anna",
            "Morning.\nHow are the tyres?\n\n- soft\n- hard",
            datetime(2026, 5, 14, tzinfo=UTC),
        ),
        (
            "Ben",
            "Fine. Note: they grain.\nAnna: said so as well",
            datetime(2026, 5, 14, 15, 4, tzinfo=UTC),
        ),
        (
            "Anna",
            "Good.\n### A deeper heading\n```\n**Ben:** not a message\n## 2020-01-01\n```",
            datetime(2026, 5, 14, 15, 5, tzinfo=UTC),
        ),
        ("Anna", "Next day.", datetime(2026, 5, 15, 9, 30, tzinfo=UTC)),
        ("Ben", "Late.", datetime(2026, 5, 15, 10, 0, tzinfo=UTC)),
    ]
    assert {line.conversation for line in script.lines()} == {"weekend"}
    assert {line.topics for line in script.lines()} == {("pit", "tyres")}
    assert script.skipped == 1, "what is not said by anybody; the preface is no message"


def test_markdown_parts_that_nobody_says_are_counted(tmp_path: Path) -> None:
    """One for each heading or line of dashes that has words behind it, and none for the rest."""
    answer = (
        "**Ben:** A plan.\n\n---\n\n## Steps\n\n1. Box.\n\nWait.\n# Risks\n```\nrain\n```\n---\n\n"
    )
    script = _read(tmp_path, "chat.md", f"Preface.\n---\nMore.\n{answer}**Ann:** Thanks.\n## End\n")
    assert [turn.text for turn in _turns(script)] == ["A plan.", "Thanks."]
    assert script.skipped == 2


def test_markdown_front_matter_is_read_in_any_case_of_letters(tmp_path: Path) -> None:
    """Topics with a capital are topics: without them everybody would see the turns."""
    content = MARKDOWN.replace("topics:", "Topics:").replace("conversation:", "CONVERSATION:")
    script = _read(tmp_path, "chat.md", content)
    assert {line.topics for line in script.lines()} == {("pit", "tyres")}
    assert {line.conversation for line in script.lines()} == {"weekend"}


def test_markdown_plain_names_and_bullets(tmp_path: Path) -> None:
    """Without bold names, plain ones and bullets begin messages; longer phrases do not."""
    content = (
        "race engineer: Box now.\n"
        "- Anna (driver): Copy.\n"
        "see https://example.org: or 15:04: or this rather long phrase: fine\n"
        "* Ben (23:58): Late.\n"
        "Ben (00:03): Later.\n"
    )
    script = _read(tmp_path, "chat.txt", content)
    assert [(turn.speaker, turn.at) for turn in _turns(script)] == [
        ("race engineer", NOW),
        ("Anna (driver)", NOW + SECOND),
        ("Ben", datetime(2026, 6, 1, 23, 58, tzinfo=UTC)),
        ("Ben", datetime(2026, 6, 2, 0, 3, tzinfo=UTC)),
    ]
    assert _turns(script)[1].text.startswith("Copy.\nsee https://example.org")


@pytest.mark.parametrize(
    "heading",
    [
        "2026-05-08 13:56",
        "2026-05-08T15:56+02:00",
        "2026-05-08 1:56 pm",
        "2026-05-08 01:56 PM",
        "1:56 pm on 8 May, 2026",
        "Friday, May 8th, 2026 at 13:56",
        "Session 2 (8 may 2026, 13:56:00)",
    ],
)
def test_markdown_headings_name_dates_in_many_ways(tmp_path: Path, heading: str) -> None:
    """Each way of writing one moment is understood as that moment."""
    (turn,) = _turns(_read(tmp_path, "chat.md", f"## {heading}\nAnna: Hi."))
    assert turn.at == datetime(2026, 5, 8, 13, 56, tzinfo=UTC)


def test_messages_of_one_stated_minute_keep_their_order(tmp_path: Path) -> None:
    """Messages that share a time follow each other by a second; a later time is taken as it is."""
    content = "## 2026-05-08\nA (10:00): a\nB (10:00): b\nC: c\nD (10:01): d\nE (09:00): e"
    seconds = [turn.at.strftime("%H:%M:%S") for turn in _turns(_read(tmp_path, "c.md", content))]
    assert seconds == ["10:00:00", "10:00:01", "10:00:02", "10:01:00", "09:00:00"]


def test_locomo_trimmed_form(tmp_path: Path) -> None:
    """Turns keep their ids, captions are appended, and a session's turns are spaced."""
    turns = [
        {"id": "D1:1", "session": 1, "date": "2023-05-08T13:56", "speaker": "Ann", "text": "Hi!"},
        {
            "id": "D1:2",
            "session": 1,
            "date": "2023-05-08T13:56",
            "speaker": "Bo",
            "text": "Look.",
            "caption": "a red car",
        },
    ]
    conversations = [{"id": "conv-1", "turns": turns, "qa": []}, {"id": "conv-2", "turns": turns}]
    script = _read(tmp_path, "data.json", json.dumps({"conversations": conversations}))
    lines = _turns(script)
    assert [line.ref for line in lines] == [
        "conv-1:D1:1",
        "conv-1:D1:2",
        "conv-2:D1:1",
        "conv-2:D1:2",
    ]
    assert lines[1].text == "Look. [shares image: a red car]"
    assert lines[1].agent == "conv-1/Bo"
    assert lines[0].at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert lines[1].at == lines[0].at + SECOND


def test_locomo_published_form(tmp_path: Path) -> None:
    """Sessions are read by number, with their dates in words."""
    sample = {
        "sample_id": "conv-9",
        "conversation": {
            "speaker_a": "Ann",
            "session_10_date_time": "10:05 am on 2 June, 2023",
            "session_10": [{"speaker": "Ann", "dia_id": "D10:1", "text": "Ten."}],
            "session_2_date_time": "1:56 pm on 8 May, 2023",
            "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "", "blip_caption": "dog"}],
            "session_11_date_time": "1:00 pm on 9 July, 2023",
        },
        "qa": [],
    }
    script = _read(tmp_path, "data.json", json.dumps([sample], indent=1))
    assert [(turn.ref, turn.text, turn.at) for turn in _turns(script)] == [
        ("conv-9:D2:1", "[shares image: dog]", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("conv-9:D10:1", "Ten.", datetime(2023, 6, 2, 10, 5, tzinfo=UTC)),
    ]
    assert script.agents == ("Bo", "Ann")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("chat", '{"speaker": "a", "text": "Hi.", "at": "2026-05-15"}'),
        ("chat.txt", '{"speaker": "a", "text": "Hi.", "at": "2026-05-15"}\n' * 2),
        ("chat.json", '[{"speaker": "a",\n"text": "Hi.", "at": "2026-05-15"}]'),
        ("chat.log", "a: Hi."),
        ("chat.markdown", "a: Hi."),
        ("chat.txt", "[link]\na: Hi."),
        ("chat.ndjson", '{"role": "user", "name": "a", "content": "Hi."}'),
        ("chat.txt", ' [ {"role": "user", "name": "a", "content": "Hi."} ]'),
    ],
)
def test_format_is_found_by_extension_then_content(tmp_path: Path, name: str, content: str) -> None:
    """Files of any extension are recognised by how they begin."""
    first = _turns(_read(tmp_path, name, content))[0]
    assert (first.speaker, first.text) == ("a", "Hi.")


def test_given_format_overrides_what_a_file_looks_like(tmp_path: Path) -> None:
    """A Markdown chat in a .json file can be read by saying so."""
    script = _read(tmp_path, "chat.json", "Anna: Hi.", format="markdown")
    assert _turns(script)[0].speaker == "Anna"


@pytest.mark.parametrize("is_wrapped", [True, False], ids=["results", "list"])
def test_memories_of_mem0_are_facts(tmp_path: Path, *, is_wrapped: bool) -> None:
    """Of their users, valid from when they were made; what states no time follows."""
    rows = [
        {"id": "m1", "memory": "Likes tea.", "user_id": "jane", "hash": "x",
         "created_at": "2025-01-01T10:00:00-08:00", "categories": ["Food"], "metadata": None},
        {"id": "m2", "memory": "Speaks French."},
    ]  # fmt: skip
    script = _read(tmp_path, "mem0.json", json.dumps({"results": rows} if is_wrapped else rows))
    first, second = (line for line in script.lines() if isinstance(line, FactLine))
    made = datetime(2025, 1, 1, 18, 0, tzinfo=UTC)
    assert (first.ref, first.agent, first.at, first.valid_from) == ("mem0:m1", "jane", made, made)
    assert (first.text, first.topics) == ("Likes tea.", ("food",))
    assert (second.agent, second.at, second.valid_from) == ("user", made + SECOND, None)


def test_of_a_conversation_of_chatgpt_the_shown_branch_is_played(tmp_path: Path) -> None:
    """Without what was edited away, and what has no word."""

    def node(name: str, parent: str | None, role: str, *parts: object) -> dict[str, object]:
        content = {"content_type": "text", "parts": list(parts)}
        message = {"id": name, "author": {"role": role}, "content": content, "create_time": 1.7e9}
        return {"id": name, "parent": parent, "message": message, "children": []}

    nodes = [
        {"id": "root", "parent": None, "message": None, "children": ["s"]},
        node("s", "root", "system", ""),
        node("old", "s", "user", "Box?"),
        node("new", "s", "user", {"content_type": "image_asset_pointer"}, "Box now?"),
        node("a", "new", "assistant", "Yes."),
    ]
    mapping = {str(one["id"]): one for one in nodes}
    talk = {"title": "Box", "conversation_id": "c1", "current_node": "a", "mapping": mapping}
    script = _read(tmp_path, "conversations.json", json.dumps([talk]))
    (turn,) = _turns(script)
    assert (turn.ref, turn.speaker, turn.agent) == ("c1:new", "user", "assistant")
    assert turn.text == "[image_asset_pointer left out]\nBox now?"
    assert (turn.response, turn.at, script.skipped) == (
        "Yes.",
        datetime.fromtimestamp(1.7e9, UTC),
        1,
    )
