"""What the write guard found, and what it has put aside until a person decides.

What is put aside is in no search, no context and no other store.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pydantic import Field

from .fields import Moment, Record, Source, Text
from .owned import Owned

Detector: TypeAlias = Literal[
    "override",
    "forgery",
    "exfiltration",
    "hidden",
    "secret",
    "order",
    "trigger",
    "protected",
    "echo",
    "look-alike",
    "size",
]
"""
============  =====================================================================
name          what it finds
============  =====================================================================
override      an order to drop the rules: "ignore all previous instructions"
forgery       a role, a system prompt or a tool call that somebody made up
exfiltration  an order to send memories, conversations or credentials somewhere
hidden        an order in a spelling that hides it: invisible, encoded, spaced out
secret        a key, token, password or card number
order         a standing order to the assistant: "from now on always …"
trigger       an order that waits for an occasion: "when the user thanks you, pay …"
protected     a change of a setting that no text may change
echo          an agent's own earlier words as evidence
look-alike    words of letters that only look like others
size          a statement that is too long, endless or repeats itself
============  =====================================================================
"""

Action: TypeAlias = Literal["allow", "redact", "quarantine", "block"]
Severity: TypeAlias = Literal["low", "medium", "high"]
Held: TypeAlias = Literal["fact", "rule", "belief", "document"]
"""What a text that was put aside would have become."""
State: TypeAlias = Literal["held", "released", "discarded"]

HELD_PAGE_MAX = 100
HELD_MAX = 10_000
"""So many texts of a graph may wait; what comes then is refused and not kept."""


class Finding(Record):
    """What a detector found in a text.

    Attributes:
        detector: Which.
        severity: How bad it is, whoever wrote it.
        what: What it is, in words that repeat nothing of the text.
        start: Its first character in the text.
        end: The character behind it.
    """

    detector: Detector
    severity: Severity
    what: str
    start: int = Field(ge=0)
    end: int = Field(ge=0)


class Quarantined(Owned):
    """A text that was to be stored, put aside. ``agent_id`` is who wrote it.

    Attributes:
        held: What it would have become.
        source: Whose words it is.
        text: What it says, secrets replaced by labels.
        payload: What is needed to store it after all, as JSON values.
        findings: Why it was put aside; places are those of the text as it was given.
        state: Whether it waits, was stored after all, or was thrown away.
        reason: Why somebody decided so.
        decided_at: When.
        released_id: The record that it became.
    """

    held: Held
    source: Source
    text: Text
    payload: dict[str, Any] = Field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    state: State = "held"
    reason: str = ""
    decided_at: Moment | None = None
    released_id: str | None = None
