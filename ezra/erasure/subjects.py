"""Who is erased: a subject, a user or an agent; or everybody."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tiers.cold.subject_mentions import Service, Subject
from tiers.errors import UsageError
from tiers.records import AgentRecord

from ..checks import check_text

SUBJECT_CHARS_MAX = 1_000
"""A name is no longer; what is, each text of a graph would be compared with."""


class Whose(NamedTuple):
    """Which records are erased: one of the four is given. ``everything`` is, whoever wrote it."""

    subject: str | None = None
    user_id: str | None = None
    agent_id: str | None = None
    everything: bool = False

    def check_reason(self, reason: str) -> None:
        """Refuse a reason that names the subject: the audit feed and the receipt would keep it.

        Raises:
            UsageError: It is blank, or does.
        """
        check_text("reason", reason, "a reason that is not blank")
        if self.is_named_by(reason):
            accepted = "a reason that does not name who is erased; a case number, say"
            raise UsageError("reason", reason, accepted)

    def check(self, among: Sequence[str] = ("subject", "user_id", "agent_id")) -> None:
        """Refuse what says not just whose, or of a subject that names nobody.

        Each text with a full stop would speak of ".".

        Args:
            among: What the caller could say it by.

        Raises:
            UsageError: Not exactly one is given; or the subject has neither letter nor digit, or
                is too long for a name.
        """
        given = [name for name in among if getattr(self, name) is not None]
        if len(given) != 1:
            field = given[1] if given else among[0]
            accepted = f"exactly one of {', '.join(among[:-1])} and {among[-1]}"
            raise UsageError(field, getattr(self, field), accepted)
        if self.subject is not None and len(self.subject) > SUBJECT_CHARS_MAX:
            accepted = f"a name of at most {SUBJECT_CHARS_MAX} characters"
            raise UsageError("subject", self.subject, accepted)
        if self.subject is not None and not any(map(str.isalnum, self.subject)):
            raise UsageError("subject", self.subject, "a name with a letter or a digit")

    def is_named_by(self, text: str) -> bool:
        """Whether a text speaks of the subject, if there is one."""
        return self.subject is not None and Subject(self.subject).is_in(text)

    def served_by(self, agents: Iterable[AgentRecord]) -> Service:
        """Return when which agents worked for the user: what they shared then is the user's too."""
        if self.user_id is None:
            return {}
        served = {one.id: one.service_of(self.user_id) for one in agents}
        return {agent_id: when for agent_id, when in served.items() if when}

    @property
    def kind(self) -> str:
        """What a receipt says was erased."""
        if self.everything:
            return "graph"
        given = {"subject": self.subject, "user": self.user_id, "agent": self.agent_id}
        return next((name for name, value in given.items() if value is not None), "nobody")
