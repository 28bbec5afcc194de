"""What is done about findings, by whose words they are in. Pure.

A person may say how they want to be answered; a page that a tool read may not. What was caught by
mistake is not lost but put aside, except where nobody honest writes such a thing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple, get_args

from tiers.quarantine import Action, Detector, Finding
from tiers.records import Source

from .detectors import scan

SOURCES: tuple[Source, ...] = get_args(Source)
DETECTORS: tuple[Detector, ...] = get_args(Detector)
ACTIONS: tuple[Action, ...] = get_args(Action)
"""From the mildest to the strictest."""

EVERY = "*"

_ROWS: Mapping[Detector, tuple[Action, Action, Action, Action, Action]] = {
    "override": ("quarantine", "quarantine", "quarantine", "quarantine", "allow"),
    "forgery": ("quarantine", "block", "block", "quarantine", "allow"),
    "exfiltration": ("quarantine", "quarantine", "quarantine", "quarantine", "allow"),
    "hidden": ("quarantine", "quarantine", "quarantine", "quarantine", "allow"),
    "secret": ("redact", "redact", "redact", "redact", "redact"),
    "order": ("allow", "quarantine", "quarantine", "quarantine", "allow"),
    "trigger": ("allow", "quarantine", "quarantine", "quarantine", "allow"),
    "protected": ("allow", "block", "block", "allow", "allow"),
    "echo": ("allow", "allow", "quarantine", "allow", "allow"),
    "look-alike": ("allow", "quarantine", "quarantine", "quarantine", "allow"),
    "size": ("allow", "quarantine", "allow", "allow", "allow"),
}
_COLUMNS: tuple[Source, ...] = ("user", "tool", "agent", "document", "system")
TABLE: Mapping[tuple[Source, Detector], Action] = MappingProxyType(
    {
        (source, detector): action
        for detector, row in _ROWS.items()
        for source, action in zip(_COLUMNS, row, strict=True)
    }
)
"""What is done where the settings say nothing else."""


class Verdict(NamedTuple):
    """What is to be done with a text.

    Attributes:
        action: The strictest that any finding asks for.
        text: The text, secrets replaced by labels where it is stored or put aside.
        findings: Those that ask for more than to allow it.
    """

    action: Action
    text: str
    findings: tuple[Finding, ...]

    @property
    def detectors(self) -> tuple[Detector, ...]:
        """The names of the detectors that asked for the action."""
        return tuple(dict.fromkeys(one.detector for one in self.findings))


@dataclass(frozen=True)
class GuardPolicy:
    """Which action a finding calls for.

    Attributes:
        changes: What the settings change of the table: ``<source>.<detector>`` to an action, with
            ``*`` for every one. What names both comes before what names a detector, that before
            what names a source.
    """

    changes: Mapping[str, Action] = field(default_factory=dict)

    def action(self, source: Source, detector: Detector) -> Action:
        """Return what is done about a finding in the words of a source."""
        keys = (f"{source}.{detector}", f"{EVERY}.{detector}", f"{source}.{EVERY}", EVERY)
        changed = next((self.changes[key] for key in keys if key in self.changes), None)
        return changed or TABLE[source, detector]

    def judge(self, text: str, source: Source, *, is_statement: bool = True) -> Verdict:
        """Return what is to be done with a text.

        Args:
            text: Of any length.
            source: Whose words they are.
            is_statement: Whether it is to be remembered as one statement.
        """
        return self._verdict(text, source, scan(text, source, is_statement=is_statement))

    def judge_secrets(self, text: str, source: Source) -> Verdict:
        """Return what is to be done with a text that is no knowledge and is kept as it is said.

        Orders in it are nobody's statement, but a secret that is stored can be read by whoever
        reads the store.
        """
        found = scan(text, source, is_statement=False)
        return self._verdict(text, source, (one for one in found if one.detector == "secret"))

    def _verdict(self, text: str, source: Source, found: Iterable[Finding]) -> Verdict:
        wanted: list[tuple[Action, Finding]] = []
        for one in found:
            action = self.action(source, one.detector)
            if action != "allow":
                wanted.append((action, one))
        if not wanted:
            return Verdict("allow", text, ())
        strictest = max((action for action, _ in wanted), key=ACTIONS.index)
        findings = tuple(one for _, one in wanted)
        spans = [one for action, one in wanted if action == "redact" or one.detector == "secret"]
        return Verdict(strictest, labelled(text, spans), findings)


DEFAULT = GuardPolicy()


def checked_changes(changes: Mapping[str, Action]) -> dict[str, Action]:
    """Return changes of the table as they are given, once each is known to name something.

    Raises:
        ValueError: One names no source or no detector.
    """
    for key in changes:
        source, dot, detector = key.partition(".")
        is_known = key == EVERY or (
            dot and source in {*SOURCES, EVERY} and detector in {*DETECTORS, EVERY}
        )
        if not is_known:
            message = (
                f"{key!r} is no <source>.<detector>; sources: {', '.join(SOURCES)}, *; "
                f"detectors: {', '.join(DETECTORS)}, *"
            )
            raise ValueError(message)
    return dict(changes)


def labelled(text: str, findings: Sequence[Finding]) -> str:
    """Return a text with what was found replaced by labels that say what it was."""
    parts: list[str] = []
    after = 0
    for one in sorted(findings, key=lambda one: (one.start, -one.end)):
        if one.start >= after:
            parts += [text[after : one.start], f"[removed: {one.what}]"]
            after = one.end
        else:
            after = max(after, one.end)
    return "".join([*parts, text[after:]])


def strictest(verdicts: Iterable[Verdict]) -> Action:
    """Return the strictest action of several texts that are stored together."""
    return max((one.action for one in verdicts), key=ACTIONS.index, default="allow")
