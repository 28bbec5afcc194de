"""Beliefs: what agents are committed to, the log of every change, and how rivals are settled."""

from __future__ import annotations

import json
from typing import Any, Literal, TypeAlias

from pydantic import Field

from .fields import Moment, Record, Text, Whole, Word
from .fleet import MergeStrategy
from .owned import Owned

TRUST_AT_FIRST = 1.0
"""Trust in an agent of which the log says nothing yet."""

BeliefKind: TypeAlias = Literal[
    "branched",
    "adopted",
    "committed",
    "contradicted",
    "superseded",
    "reverted",
    "restored",
    "rewound",
    "pinned",
    "unpinned",
    "trusted",
    "redacted",
]
"""What an event of a belief log tells. In the past tense, and the same in code, CLI and exports.

===========  ==============================================================================
branched     the log begins at a head of another graph's log
adopted      a belief of that graph is active here as it was there
committed    an agent committed to a belief, which is active from now on
contradicted two beliefs were held against each other; who won, by which strategy, and why
superseded   a belief is active no longer, since another took its place
reverted     a belief is active no longer, since it was taken back
restored     a belief is active again
rewound      the active beliefs are to be those of an earlier moment
pinned       an active belief comes first in contexts
unpinned     it no longer does
trusted      trust in an agent, about a topic, has changed
redacted     the content of a belief was destroyed, and it is active no longer
===========  ==============================================================================
"""


class Commitment(Owned):
    """An active belief: what its agent is committed to. ``key`` names what it is about.

    Attributes:
        claim: The belief in words.
        topic: What it is filed under; rivals are looked for under the same topic only.
        key: (subject, attribute); one belief of a key is active at a time.
        value: What the attribute is held to be.
        trust: Trust in its agent about its topic, when it was committed; the store knows it.
        pinned: Whether it comes first in contexts.
        source_ids: Records that it rests on.
        turn_id: The turn during or after which it was committed.
        receipt_id: The receipt of what that turn saw.
        origin_id: In a branch, the id that it has in the graph that was branched.
    """

    claim: Text
    topic: str | None = None
    key: tuple[Text, Text] | None = None
    value: Text | None = None
    trust: float = Field(default=TRUST_AT_FIRST, ge=0.0, le=1.0)
    pinned: bool = False
    source_ids: tuple[str, ...] = ()
    turn_id: str | None = None
    receipt_id: str | None = None
    origin_id: str | None = None


BeliefStatus: TypeAlias = Literal["active", "superseded", "reverted", "redacted"]


class HistoricBelief(Commitment):
    """A belief as the log has left it so far, active or not.

    Attributes:
        status: What became of it.
        committed_seq: The event that committed or adopted it.
        ended_seq: The event by which it ceased to be active; ``None`` while it is.
        superseded_by: The belief that took its place, if that is how it ended.
    """

    status: BeliefStatus = "active"
    committed_seq: int = Field(ge=1)
    ended_seq: int | None = None
    superseded_by: str | None = None


class BeliefEvent(Record):
    """One immutable entry of a graph's belief log. ``seq`` counts from 1 without gaps.

    It holds nothing that anybody said: ``content_digest`` is the salted SHA-256 of the content,
    which is stored apart so that it can be destroyed while the chain still verifies. ``hash``
    covers every other field and ``previous_hash``.

    Attributes:
        belief_id: What it is about; empty for events about the whole log.
        agent_id: Who made it happen; empty for the runtime and for people.
        turn: The turn of the graph that was under way, or the last; 0 before the first. Never
            falls. While several are under way their numbers are not known: it is the next one.
        turn_id: The turn that it was made in: that of its agent, or for an agent without one and
            for people the one that was opened last. Empty where none is known.
        recorded_at: Never before the event that precedes it.
        version: Of the form that is hashed.
    """

    id: str
    tenant: str
    graph_id: str
    seq: int = Field(ge=1)
    kind: BeliefKind
    belief_id: str
    agent_id: str
    turn: int = Field(default=0, ge=0)
    turn_id: str = ""
    recorded_at: Moment
    content_digest: str
    previous_hash: str
    hash: str
    version: int = 1


class LoggedBelief(Record):
    """A belief event with its content, which is ``None`` together with its salt once destroyed.

    ``salt`` is in hexadecimal digits, ``content`` canonical JSON.
    """

    event: BeliefEvent
    salt: str | None
    content: str | None

    @property
    def said(self) -> dict[str, Any] | None:
        """The content as it is meant; ``None`` once destroyed."""
        return None if self.content is None else json.loads(self.content)


class BeliefSpan(Record):
    """From which event on until before which a belief was active, and whether pinned."""

    since_seq: int
    until_seq: int | None = None
    pinned: bool = False


class ProjectedBelief(Record):
    """A belief as the projection of the log holds it, with every span in which it was active."""

    belief: HistoricBelief
    spans: tuple[BeliefSpan, ...]


class TrustRow(Record):
    """How far an agent is trusted about a topic; ``topic`` is ``None`` for beliefs without one."""

    graph_id: str
    agent_id: str
    topic: str | None
    trust: float = Field(ge=0.0, le=1.0)


class Rival(Record):
    """An active belief that a new one is held against, and the present trust in its agent."""

    belief: Commitment
    trust: float


class Settlement(Record):
    """How a new belief and a rival were settled, decided before the new one is committed.

    Attributes:
        rival_id: The active belief.
        winner: ``new`` supersedes the rival, ``old`` supersedes the new belief at once, and
            ``both`` stay active, which two of one key cannot.
        strategy: By which it was decided.
        found_by: What said that they contradict each other: their ``key``, or a judge's name.
        reason: In words, for people; destroyed with either belief.
        agree: Both say the same: no contradiction, the later telling takes the place.
        decided: Somebody looked at both and chose, so that trust follows from it.
        similarity: Cosine of the claims, where that is how they met.
        trust_new: Trust in the agent of the new belief that was used.
        trust_old: Trust in the agent of the rival that was used.
    """

    rival_id: str
    winner: Literal["new", "old", "both"]
    strategy: MergeStrategy
    found_by: str = "key"
    reason: Text = ""
    agree: bool = False
    decided: bool = False
    similarity: float | None = None
    trust_new: float = TRUST_AT_FIRST
    trust_old: float = TRUST_AT_FIRST


class Committed(Record):
    """What came of a commit.

    Attributes:
        belief: As stored, with the trust in its agent.
        is_new: ``False`` when its id was in the log already, or nothing was written.
        active: Whether it is active now: a rival may have won.
        superseded: The beliefs whose place it took.
        unsettled: Active rivals of the same key that no settlement names, or none for settled
            ones that are active no longer: nothing was written, and the caller decides again.
        is_stale: Nothing was written, because a settled rival is no longer active.
    """

    belief: Commitment
    is_new: bool
    active: bool = True
    superseded: tuple[Commitment, ...] = ()
    unsettled: tuple[Rival, ...] = ()
    is_stale: bool = False


class Changed(Record):
    """What taking beliefs back did: ids that ended and ids that are active again, in order."""

    ended: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()


class BeliefQuery(Record):
    """Which beliefs of a graph are wanted; ``None`` and the empty tuple restrict nothing.

    Attributes:
        ids: Among these.
        topic: Filed under it, or committed to with it among the topics.
        agent_id: By this agent.
        user_id: Of this person.
        subject: Whose key has this subject.
        key: Of this (subject, attribute).
        statuses: What became of them.
        since_seq: Committed by this event or later.
        until_seq: Committed before this event.
        active_at: Active right after this event.
        after: ``committed_seq`` of the last one of the page before; 0 begins.
        limit: 1 to 1,000.
    """

    ids: tuple[str, ...] = ()
    topic: str | None = None
    agent_id: Word | None = None
    user_id: Word | None = None
    subject: str | None = None
    key: tuple[str, str] | None = None
    statuses: tuple[BeliefStatus, ...] = ()
    since_seq: int | None = None
    until_seq: int | None = None
    active_at: int | None = None
    after: int = Field(default=0, ge=0)
    limit: int = Field(default=100, ge=1, le=1000)


class SignedHead(Record):
    """A statement about the first ``size`` events of a log, signed with Ed25519.

    Attributes:
        last_hash: The hash of event ``size``.
        root: The root of the Merkle tree over the hashes of the events (RFC 9162, SHA-256).
        turn: Of event ``size``.
        public_key: 32 bytes in hexadecimal digits.
        signature: 64 bytes in hexadecimal digits, over every other field but ``frontier``.
        frontier: The roots of the perfect subtrees of which the tree is made, the largest first;
            from these the next head goes on. Not signed, since ``root`` follows from it.
        number: Counts the heads that are kept of a log, from 1; 0 for one that is not kept.
        previous: The digest of the head that was kept before it; empty for the first.
        audit_size: How many events the audit feed of the graph had.
        audit_hash: The hash of the last of these; empty without any.
    """

    version: Whole = 1
    tenant: str
    graph_id: str
    size: Whole = Field(ge=1)
    last_hash: str
    root: str
    turn: Whole = 0
    signed_at: Moment
    public_key: str
    signature: str = ""
    frontier: tuple[str, ...] = ()
    number: Whole = Field(default=0, ge=0)
    previous: str = ""
    audit_size: Whole = Field(default=0, ge=0)
    audit_hash: str = ""


class BranchPoint(Record):
    """Where a branch left: a head of the log of ``graph_id``, signed where there is a key.

    Attributes:
        graph_id: The graph that was branched.
        seq: The last of its events that count for the branch.
        last_hash: That event's hash; 64 zeros when the log was empty.
        root: Of the Merkle tree over those events.
        turn: The turn at which the branch left.
        head: The signed head of that size; ``None`` where no key was to be had.
    """

    graph_id: str
    seq: int = Field(ge=0)
    last_hash: str
    root: str
    turn: int
    head: SignedHead | None = None
