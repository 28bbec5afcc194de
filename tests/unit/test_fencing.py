"""What others left stands in a context as data: fenced, labelled, on lines that it cannot leave."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.forgeries import NEEDLE, forgeries, read_context
from support.records import START, fact, hit, turn

from ezra.recall.injection import rendered
from ezra.turn.assemble import LAYOUTS, Material, assemble, messages_of
from ezra.turn.slots import LAYOUT, STEADY_LAYOUT, Slot
from tiers.documents import Citation
from tiers.fencing import RULE, as_said, entry, flat, inert, json_line, named
from tiers.records import AgentRecord, Ancestor, Commitment, MeshResult, Rule, ToolOutput

FORGED = forgeries(50)
AGENT = AgentRecord(
    tenant="acme", graph_id="imola", id="strategist", role="Plans stints.", spawned_at=START
)
HIDDEN = "\r\x0b\x0c\x1b\x85\u2028\u2029\u200b\u200e\u202e\u2066\ufeff\U000e0041"
TRUSTED = f"You are strategist. Plans stints.\n\n{RULE}"


def cited(text: str, name: str = "tyres.md") -> Any:
    """Return a passage as recall brings it."""
    where = Citation(document_id="d", shelf="s", name=name, title=text, revision=1)
    return hit("p", kind="document", text=text, citation=where, agent_id="strategist")


def returning(text: str, tool: str = "bank") -> Any:
    """Return a turn in which a tool returned something."""
    outputs = (ToolOutput(tool=tool, output=text), ToolOutput(tool="ls", output="a.log"))
    return turn(2, "Look.", response="Done.", tool_outputs=outputs)


MONACO = [Ancestor(graph_id="monaco", path=("monaco",))]
SLOTS: dict[str, tuple[str, Any]] = {
    "belief": ("belief by scout", lambda t: {"beliefs": [_belief(t)]}),
    "core": ("fact", lambda t: {"core": [fact(1, t)]}),
    "core of an ancestor": (
        "fact by strategist in monaco",
        lambda t: {"core": [fact(1, t, graph_id="monaco")], "lineage": MONACO},
    ),
    "rule trigger": ("rule", lambda t: {"rules": [_rule(t, "box")]}),
    "rule step": ("rule", lambda t: {"rules": [_rule("safety car", t)]}),
    "archival fact": ("fact", lambda t: {"archival": [_found("fact", t, valid_from=START)]}),
    "injected fact": ("fact", lambda t: {"injected": [_found("fact", t)]}),
    "injected document": ("document tyres.md", lambda t: {"injected": [cited(t)]}),
    "injected turn": ("turn by scout", lambda t: {"injected": [_found("turn", t, "scout")]}),
    "summary": ("summary", lambda t: {"warm": [_found("summary", t)]}),
    "episode": ("episode", lambda t: {"warm": [_found("episode", t)]}),
    "found turn": ("turn", lambda t: {"warm": [_found("turn", t)]}),
    "live source": ("live source", lambda t: {"mesh": _mesh(t)}),
    "tool output": ("tool bank", lambda t: {"hot": [returning(t)]}),
}


def _belief(text: str) -> Commitment:
    return Commitment(id="b", claim=text, agent_id="scout")


def _rule(trigger: str, step: str) -> Rule:
    return Rule(id="r", trigger=trigger, steps=(step,), agent_id="strategist")


def _found(kind: Any, text: str, agent_id: str = "strategist", **more: Any) -> Any:
    return hit(f"{kind}-9", kind=kind, text=text, agent_id=agent_id, **more)


def _mesh(text: str) -> MeshResult:
    return MeshResult(source="timing", text=text, queried_at=START)


def test_r9_23_the_forgeries_are_fifty_and_different() -> None:
    """Else the next test would say less than it claims; each has the word that is looked for."""
    assert len(set(FORGED)) == 50
    assert all(NEEDLE in one for one in FORGED)
    naive = [f"You are x.\n\n[memory]\n- [fact] {one}\n[end of memory]" for one in FORGED]
    caught = [read_context([{"role": "system", "content": one}]).problems for one in naive]
    assert sum(map(bool, caught)) >= 40, "the judge sees them where nothing is done"


@pytest.mark.parametrize("layout", [LAYOUT, STEADY_LAYOUT])
@pytest.mark.parametrize("kind", SLOTS)
def test_r9_23_no_text_leaves_its_entry(kind: str, layout: int) -> None:
    """50 forgeries in a kind of slot: one entry, under its label, and nothing else has changed."""
    label, made = SLOTS[kind]
    for forged in FORGED:
        material = Material(agent=AGENT, input="And now?", layout=layout, **made(forged))
        context = assemble(material, 100_000)
        found = read_context(context.messages)
        assert found.problems == [], (forged, found.problems)
        assert found.trusted.strip() == TRUSTED
        holding = [one for one in [*found.entries, *found.returned] if NEEDLE in one.text]
        assert [one.label for one in holding] == [label], forged
        assert len(found.entries) + len(found.returned) == 1 + (kind == "tool output")
        assert all(NEEDLE not in said for _, said in found.said)


@pytest.mark.parametrize("layout", [LAYOUT, STEADY_LAYOUT])
@pytest.mark.parametrize("whose", ["input", "hot input", "response"])
def test_r9_23_what_is_said_opens_no_block(whose: str, layout: int) -> None:
    """A message of its own has its role; it cannot look like what memory or a tool has said."""
    for forged in FORGED:
        hot = turn(2, forged if whose == "hot input" else "Look.", response="Done.")
        if whose == "response":
            hot = turn(2, "Look.", response=forged)
        asked = forged if whose == "input" else "And now?"
        material = Material(
            agent=AGENT, input=asked, layout=layout, hot=[hot], core=[fact(1, "18 laps.")]
        )
        messages = assemble(material, 100_000).messages
        found = read_context(messages)
        assert found.problems == [], (forged, found.problems)
        assert [(one.label, one.text) for one in found.entries] == [("fact", "18 laps.")]
        assert found.returned == []
        roles = [role for role, said in found.said if NEEDLE in said]
        assert roles == ["assistant" if whose == "response" else "user"]


@pytest.mark.parametrize("forged", FORGED)
def test_r9_23_names_open_nothing_either(forged: str) -> None:
    """Of agents, graphs, documents and tools: a label is one label, whatever they are called."""
    name = "".join(char for char in forged if char.isprintable())[:250].strip()
    slots = assemble(
        Material(
            agent=AGENT,
            input="And now?",
            beliefs=[Commitment(id="b", claim="Rain.", agent_id=name)],
            core=[fact(1, "18 laps.", graph_id=name)],
            lineage=[Ancestor(graph_id=name, path=(name,))],
            injected=[cited("Passage.", name=forged)],
            hot=[returning("3 rows", tool=name)],
        ),
        100_000,
    )
    found = read_context(slots.messages)
    assert found.problems == []
    texts = [one.text for one in (*found.entries, *found.returned)]
    assert texts == ["Rain.", "18 laps.", "Passage.", "3 rows", "a.log"]
    told = rendered([cited("Passage.", name=forged), cited(forged), _found("turn", forged)])
    lines = told.split("\n")
    assert (lines[0], lines[-1]) == ("[memory]", "[end of memory]")
    ours = ("## From documents", "## From earlier conversations", "")
    assert all(line.startswith(("- [", "  | ")) or line in ours for line in lines[2:-1])


def test_r9_23_an_ordinary_context_reads_as_before() -> None:
    """Words stay words: the fence costs two lines, a label, and a mark where a line goes on."""
    rule = Rule(id="r", trigger="safety car", steps=("box", "mediums"), agent_id="strategist")
    material = Material(
        agent=AGENT,
        input="How long do they last?",
        core=[fact(1, "Mediums last 18 laps.")],
        rules=[rule],
        archival=[_found("fact", "Café «Imola» 🏎️ opens at 9 a.m.", valid_from=START)],
        hot=[returning("P3\n\nP4")],
    )
    system, said, answered, asked = assemble(material, 1_000).messages
    assert system["content"] == (
        f"{TRUSTED}\n\n[memory]\n## Core facts\n- [fact] Mediums last 18 laps.\n"
        "## Procedures\n- [rule] When safety car:\n  | - box\n  | - mediums\n"
        "## Facts that may help\n"
        "- [fact] Café «Imola» 🏎️ opens at 9 a.m. (since 2026-05-14)\n[end of memory]"
    )
    assert said["content"] == (
        "Look.\n[tools]\n- [tool bank] P3\n  | P4\n- [tool ls] a.log\n[end of tools]"
    )
    assert (answered["content"], asked["content"]) == ("Done.", "How long do they last?")


def test_r9_23_former_layouts_stay_as_they_were() -> None:
    """A receipt of before is rebuilt as it was then: nothing was fenced, in either of the two."""
    slots = [
        Slot("system", "system"),
        Slot("core", "core\n## x", record="fact"),
        Slot("injected", "known", record="document"),
        Slot("input", "[memory]", messages=(("user", "[memory]"),)),
    ]
    assert {1, 2, 3} < LAYOUTS
    once = "system\n\n## Core facts\n- core\n## x\n\n## What is known about this\n- known"
    asked = {"role": "user", "content": "[memory]"}
    assert messages_of(slots, 2) == [{"role": "system", "content": once}, asked]
    assert messages_of(slots, 3) == [
        {"role": "system", "content": "system\n\n## Core facts\n- core\n## x"},
        {
            "role": "user",
            "content": "From memory, not said by anybody, for what is said next:\n\n"
            "## What is known about this\n- known",
        },
        asked,
    ]


@given(st.text())
def test_r9_23_any_text_stays_in_its_entry(text: str) -> None:
    """One first line and marked others, whatever it is; on one line where that is asked for."""
    first, *others = entry("fact", text).split("\n")
    assert first.startswith("- [fact]")
    assert all(line.startswith("  | ") for line in others)
    assert not set("".join([first, *others])) & set(HIDDEN)
    assert "\n" not in entry("fact", text, is_flat=True)
    assert json.loads(json_line({text: [text]})) == {text: [text]}
    assert len(json_line({text: text}).splitlines()) == 1
    assert "[" not in named(text)
    assert as_said(text).replace("> ", "").replace(" ", "") == text.replace("> ", "").replace(
        " ", ""
    )


@pytest.mark.parametrize(
    "text",
    [
        "Mediums last 18 laps.",
        "a < b, b > c, x |> y, Vec<String>, [1, 2], `code`, # 3",
        "👩‍💻 ❤️ 🏎️ 1️⃣",
        "می‌خواهم дождь 雨が降る",
    ],
)
def test_r9_23_ordinary_text_is_not_touched(text: str) -> None:
    """Operators, generics, emoji and scripts with joiners come through as they are."""
    assert (inert(text), flat(text), as_said(text)) == (text, text, text)
    assert json_line(text) == json.dumps(text, ensure_ascii=False)
