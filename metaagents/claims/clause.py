"""A clause: what a text states at one place. Pure data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from .forms import base
from .lexicon import Mode

USER, AGENT = "user", "assistant"

Disagreement: TypeAlias = Literal[
    "not said",
    "another number",
    "another name",
    "denied",
    "less sure",
    "another time",
    "another subject",
    "another role",
    "another speaker",
    "no such cause",
    "more than was said",
]
"""
====================  ========================================================================
reason                what is wrong with a claim
====================  ========================================================================
not said              a content word of it stands nowhere in what it would rest on
another number        a number of it is not there, or counts something else
another name          a name, a day, a month or an address of it is not there
denied                one of both says that it is not so
less sure             the source asks, supposes, plans, proposes or sets a condition
another time          it is over, or has yet to be
another subject       the source says it of somebody else
another role          who does and who suffers it are exchanged
another speaker       somebody else says it, or an agent alone
no such cause         both halves were said, and not that one is why the other is
more than was said    "always", "only", "every", where the source has no such word
====================  ========================================================================
"""


@dataclass(frozen=True)
class Voice:
    """Who says a text, and to whom.

    Attributes:
        kind: ``user``, ``agent``, ``tool``, or ``text`` for what speaks of everybody by name.
        names: Of the speaker, in lower case.
        to: Names of whom is spoken to.
    """

    kind: str
    names: frozenset[str] = frozenset()
    to: frozenset[str] = frozenset()

    @property
    def selves(self) -> frozenset[str]:
        """What ``I`` stands for."""
        own = {"user": USER, "agent": AGENT}.get(self.kind)
        return self.names | {own} if own else self.names


@dataclass
class Clause:
    """One clause. Words are given by their roots.

    Attributes:
        subjects: Who or what stands before the verb, pronouns resolved.
        owners: Of whom these are: of ``Ada's sister`` Ada.
        objects: Who and what stands after the verb, pronouns resolved.
        by: Who did it, of a passive.
        company: Who does it too: ``with my uncle``.
        words: Every content word, with the form in which it stands: ``past``, ``s`` or ``""``.
        exact: Every word as it is.
        names: Words that are written as names, as they are.
        numbers: Each number with the words after it that it may count.
        verb: Its main verb; ``""`` where that says nothing in particular.
        groups: Of its numbers and names, in which of the parts that ``and`` joins they stand.
        told_by: Whose words these are, if somebody is said to have said them.
        directions: What follows ``from`` and ``to``, and which of them.
        owned: Whose a thing is, by the thing.
        is_reason: Whether it says why the other half of its sentence is so: led by ``because``.
        is_result: Whether it says what came of the other half: led by ``so``.
        modes: How it is meant.
        frame: Whether its verb reports, asks or proposes what the rest of it says.
        objects_named: Of the objects, those that are people.
        received: Whether it says who got something, and from whom.
        may_stand_alone: Whether it may be said for itself, not in the words of the one before.
        plain_modes: How it is meant if so.
        near: Whom and what the clauses before speak of, for what it leaves open.
        points: Of which things its object may be one, named by a pronoun alone: ``I bought it``.
        is_linked: Whether it goes on about what was said before it: a fragment, or a pronoun.
    """

    subjects: frozenset[str] = frozenset()
    owners: frozenset[str] = frozenset()
    objects: frozenset[str] = frozenset()
    by: frozenset[str] = frozenset()
    company: frozenset[str] = frozenset()
    words: dict[str, str] = field(default_factory=dict)
    exact: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    numbers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    addresses: frozenset[str] = frozenset()
    modes: frozenset[Mode] = frozenset()
    limits: frozenset[str] = frozenset()
    verb: str = ""
    groups: dict[str, int] = field(default_factory=dict)
    told_by: frozenset[str] = frozenset()
    directions: dict[str, str] = field(default_factory=dict)
    owned: dict[str, frozenset[str]] = field(default_factory=dict)
    is_reason: bool = False
    is_result: bool = False
    denied: bool = False
    past: bool = False
    present: bool = False
    progressive: bool = False
    passive: bool = False
    copular: bool = False
    possesses: bool = False
    has_verb: bool = False
    frame: bool = False
    is_linked: bool = False
    points: frozenset[str] = frozenset()
    is_plural: bool = False
    received: bool = False
    may_stand_alone: bool = False
    plain_modes: frozenset[Mode] = frozenset()
    objects_named: frozenset[str] = frozenset()
    near: frozenset[str] = frozenset()

    @property
    def is_empty(self) -> bool:
        """Whether it has no word that says anything in particular."""
        content = set(self.words)
        if self.frame:
            who = self.subjects | self.told_by | self.objects_named | self.owners
            content -= who | {base(one) for one in who}
        return not (content or self.numbers or self.addresses)
