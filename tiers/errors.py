"""The error tree of ezra. Constructors take facts and write the message themselves.

Drawing (checked by a test):

    EzraError
    ├── ConfigError            a setting or the environment: the key and the reason
    │   └── FolderInUse        another process has the folder of data
    ├── UsageError             the caller's mistake: field, value, what is accepted
    │   └── UnfitRecord        of a record that the caller makes
    ├── PolicyDenied           the agent may not touch this topic or source
    ├── WriteRefused           kept out of memory by the write guard: detectors, what is accepted
    ├── BudgetExceeded         a limit of tokens, model calls or writes is reached
    ├── NotFound               what was asked for by name does not exist
    ├── Conflict               the stored version differs: carries both
    │   ├── WasRedacted        what was redacted comes back only when asked to
    │   └── ErasedMeanwhile    a turn that an erasure reaches which ran while it was open
    ├── IntegrityError         a chain of events does not verify
    └── TierError              a storage engine: carries tier and operation
        ├── TierUnavailable    not reachable; may be repeated
        │   └── DiskFull       nothing was written; goes on when there is room
        ├── TierTimeout        outcome unknown; repeat only what is safe to repeat
        ├── TierRejected       the engine said no; not repeatable
        └── CorruptRecord      stored data cannot be read back

Driver exceptions never leave ``tiers``; they are chained as the cause. Absence is a value
(``None`` or an empty tuple), not an error, except where a caller names one thing to act on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Self

NEAR_MAX = 3
"""So many names are told that look like one that is not there."""
NEAR_CHARS_MAX = 64
"""Longer names are not compared: it takes with the square of their length."""

_SHOWN_CHARS = 120


def _shown(value: object) -> str:
    """Return ``repr(value)`` cut to a length that fits on a terminal line."""
    try:
        text = repr(value)
    except RecursionError:  # a body may be as deep as whoever sent it wanted
        text = type(value).__name__
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"


class EzraError(Exception):
    """Root of everything ezra raises on purpose."""


class ConfigError(EzraError):
    """A setting, a path or the environment does not allow what was asked."""

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(f"{key}: {reason}")
        self.key = key
        self.reason = reason


class FolderInUse(ConfigError):
    """Another process has the folder of data. May be repeated when it is done."""


class UsageError(EzraError):
    """An argument is not acceptable. Never retried, nothing was written."""

    def __init__(self, field: str, value: object, accepted: str) -> None:
        super().__init__(f"{field}: {_shown(value)} is not accepted; accepted: {accepted}")
        self.field = field
        self.value = value
        self.accepted = accepted


class UnfitRecord(UsageError, ValueError):
    """A record cannot be made of such values; a ``ValueError``, as pydantic's own error is."""


class PolicyDenied(EzraError):
    """The agent's policy does not cover what the call would touch. Nothing was read or written."""

    def __init__(self, agent_id: str, action: str, missing: tuple[str, ...], held: str) -> None:
        wanted = ", ".join(missing)
        super().__init__(
            f"agent {_shown(agent_id)} may not {action}: missing {wanted}; it holds {held}"
        )
        self.agent_id = agent_id
        self.action = action
        self.missing = missing


class WriteRefused(EzraError):
    """The write guard keeps a text out of memory. Nothing was stored as knowledge.

    Attributes:
        what: What it would have become: ``fact``, ``rule``, ``belief``, ``document``.
        detectors: Which detectors found something.
        accepted: What would be stored.
        held_id: Where it waits in quarantine until a person releases or discards it; ``None``
            where it was blocked.
    """

    def __init__(
        self, what: str, detectors: Sequence[str], accepted: str, held_id: str | None
    ) -> None:
        done = "is blocked" if held_id is None else f"was put aside as {held_id}"
        named = ", ".join(detectors)
        super().__init__(f"this {what} {done}: {named}; accepted: {accepted}")
        self.what = what
        self.detectors = tuple(detectors)
        self.accepted = accepted
        self.held_id = held_id


class BudgetExceeded(EzraError):
    """An agent or a graph would use more than its budget. Nothing was done and nothing counted.

    Attributes:
        stored: Of what is stored in batches, how many were stored in those before; they stay.
    """

    def __init__(
        self, whose: str, what: str, used: int, asked: int, limit: int, stored: int = 0
    ) -> None:
        before = f"; {stored} were stored before" if stored else ""
        super().__init__(
            f"the budget of {whose} allows {limit} {what.replace('_', ' ')}; "
            f"{used} are used, {asked} more were asked{before}"
        )
        self.whose = whose
        self.what = what
        self.used = used
        self.asked = asked
        self.limit = limit
        self.stored = stored

    def after(self, stored: int) -> BudgetExceeded:
        """Return the same refusal of a batch that came after so many were stored."""
        facts = (self.whose, self.what, self.used, self.asked, self.limit)
        return BudgetExceeded(*facts, stored + self.stored)


class NotFound(EzraError):
    """The thing named by the caller does not exist in the caller's scope.

    Attributes:
        near: Names that look like it, for who may list them; they are no part of the message.
    """

    def __init__(self, kind: str, name: str, what_it_is: str = "") -> None:
        meaning = f"; {what_it_is}" if what_it_is else ""
        super().__init__(f"{kind} {_shown(name)} does not exist in this scope{meaning}")
        self.kind = kind
        self.name = name
        self.near: tuple[str, ...] = ()

    def beside(self, known: Sequence[str]) -> Self:
        """Note which of the names that there are look like this one, and return it.

        A note is for who sees the error where it is raised. With many names it takes tens of
        milliseconds: not on an event loop.
        """
        if len(self.name) > NEAR_CHARS_MAX:
            return self
        spelled = {one.casefold(): one for one in known if len(one) <= NEAR_CHARS_MAX}
        near = get_close_matches(self.name.casefold(), spelled, NEAR_MAX)
        return self.note_near([spelled[one] for one in near])

    def note_near(self, names: Sequence[str]) -> Self:
        """Note names that look like this one, if there are any, and return it."""
        self.near = tuple(names)
        if names:
            self.add_note(f"near it: {', '.join(names)}")
        return self


class Conflict(EzraError):
    """What is stored differs from what the caller assumed. Nothing was written."""

    def __init__(self, what: str, expected: object, found: object) -> None:
        super().__init__(f"{what}: expected {_shown(expected)}, found {_shown(found)}")
        self.what = what
        self.expected = expected
        self.found = found


class WasRedacted(Conflict):
    """A document of that name was redacted, and nobody asked to have it back. Nothing was written.

    Or it was rolled back with this very content. ``what`` names it by its id: its name was redacted
    as well.
    """

    def __init__(self, what: str, *, rolled_back: bool = False) -> None:
        super().__init__(what, "one that was not redacted", "redacted")
        message = f"{what} was redacted and stays so; even_if_redacted brings it back"
        if rolled_back:
            message = (
                f"{what} was rolled back with this very content; put another version, undo the "
                "roll-back, or say even_if_redacted"
            )
        self.args = (message,)


class ErasedMeanwhile(Conflict):
    """A turn is not stored: an erasure that ran while it was open reaches it. Nothing was written.

    What it was told before the erasure would come back with it. Open it anew.
    """

    def __init__(self, turn_id: str, whose: str) -> None:
        super().__init__("turn", "no erasure since it was opened", f"an erasure of {whose}")
        ran = f"while it was open, an erasure of {whose} ran"
        self.args = (f"turn {_shown(turn_id)} is not stored: {ran}; open the turn anew",)
        self.turn_id = turn_id
        self.whose = whose


class IntegrityError(EzraError):
    """A chain of events does not verify from ``seq`` on."""

    def __init__(self, chain: str, seq: int, reason: str) -> None:
        super().__init__(f"{chain}, event {seq}: {reason}")
        self.chain = chain
        self.seq = seq
        self.reason = reason


class TierError(EzraError):
    """A storage engine failed. The driver's exception is the cause."""

    def __init__(self, tier: str, operation: str, reason: str) -> None:
        super().__init__(f"{tier} tier, {operation}: {reason}")
        self.tier = tier
        self.operation = operation
        self.reason = reason


class TierUnavailable(TierError):
    """The engine could not be reached, or is closed. May be repeated."""


class DiskFull(TierUnavailable):
    """The disk has no room left. Nothing was written; may be repeated when there is room."""

    PREFIX = "the disk is full"

    def __init__(self, tier: str, operation: str, reason: str) -> None:
        super().__init__(tier, operation, f"{self.PREFIX}: {reason}")


class TierTimeout(TierError):
    """No answer in time; the outcome is unknown. Repeat only what is safe to repeat."""


class TierRejected(TierError):
    """The engine refused the operation. Repeating it changes nothing."""


class CorruptRecord(TierError):
    """A stored record cannot be read back."""


@contextmanager
def refused(tell: Callable[[str], EzraError], *others: type[Exception]) -> Iterator[None]:
    """Turn what the system says of a file in the block into an error that names it.

    Args:
        tell: Makes the error of what the system says.
        others: What besides an ``OSError`` is told: a path with a NUL is a ``ValueError``.
    """
    kinds: tuple[type[Exception], ...] = (OSError, *others)
    try:
        yield
    except kinds as error:
        raise tell(getattr(error, "strerror", None) or str(error)) from error


def check_within(field: str, value: float, least: float, most: float) -> None:
    """Refuse a number outside of its bounds, both of which are accepted.

    Raises:
        UsageError: It is below or above them, or no number: ``True`` is none.
    """
    if isinstance(value, bool) or not least <= value <= most:
        raise UsageError(field, value, f"{least:,} to {most:,}")


def check_at_most(field: str, count: int, most: int) -> None:
    """Refuse more of something than is taken at once.

    Raises:
        UsageError: There are more.
    """
    if count > most:
        raise UsageError(field, count, f"at most {most:,}")


def check_whole(field: str, value: object, least: int, most: int) -> None:
    """Refuse what is no whole number within its bounds, both of which are accepted.

    Raises:
        UsageError: It is none.
    """
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    if not (is_whole and least <= value <= most):  # type: ignore[operator]
        raise UsageError(field, value, f"a whole number, {least:,} to {most:,}")
