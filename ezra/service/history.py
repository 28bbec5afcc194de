"""The history of a graph's beliefs, and branches, as the service does them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from tiers.records import (
    BeliefEvent,
    BranchPoint,
    Changed,
    Commitment,
    HistoricBelief,
    LoggedBelief,
    SignedHead,
    TrustRow,
)

from ..difference import BeliefDiff
from ..history import Explanation, History
from ..lives import BeliefLife
from ..proving import Inclusion, Verification
from ..redaction import RedactionReport
from ..replayed_turn import ReplayedTurn
from ..wire import Nothing, branching, history, proofs
from ..wire.graphs import GraphAnswer
from .caller import Caller
from .desk import Desk
from .handlers import handlers

Names: TypeAlias = Mapping[str, str]


async def _history(desk: Desk, names: Names) -> History:
    return (await desk.graph(names["graph_id"])).beliefs


@handlers.does(history.QUERY)
async def query(
    desk: Desk, _: Caller, names: Names, asked: history.QueryAsked
) -> tuple[HistoricBelief, ...]:
    """Return beliefs, active or not."""
    return await (await _history(desk, names)).query(**asked.said)


@handlers.does(history.LIVES)
async def lives(
    desk: Desk, _: Caller, names: Names, asked: history.LivesAsked
) -> tuple[BeliefLife, ...]:
    """Return beliefs with the spans in which they were active."""
    return await (await _history(desk, names)).lives(asked.belief_ids)


@handlers.does(history.ACTIVE)
async def active(desk: Desk, _: Caller, names: Names, __: Nothing) -> tuple[Commitment, ...]:
    """Return what is believed now."""
    return await (await _history(desk, names)).active()


@handlers.does(history.AS_OF)
async def as_of(
    desk: Desk, _: Caller, names: Names, asked: history.AsOfAsked
) -> tuple[Commitment, ...]:
    """Return what was believed at a moment."""
    return await (await _history(desk, names)).as_of(**asked.said)


@handlers.does(history.DIFF)
async def diff(desk: Desk, _: Caller, names: Names, asked: history.BetweenAsked) -> BeliefDiff:
    """Return how what was believed changed."""
    return await (await _history(desk, names)).diff(asked.a, asked.b)


@handlers.does(history.EXPLAIN)
async def explain(desk: Desk, _: Caller, names: Names, __: Nothing) -> Explanation:
    """Return where a belief came from."""
    return await (await _history(desk, names)).explain(names["belief_id"])


@handlers.does(history.REPLAY)
async def replay(desk: Desk, _: Caller, names: Names, asked: history.ReplayAsked) -> ReplayedTurn:
    """Return what a turn did to the beliefs."""
    return await (await _history(desk, names)).replay(asked.turn)


@handlers.does(history.EVENTS)
async def events(
    desk: Desk, _: Caller, names: Names, asked: history.PageAsked
) -> tuple[BeliefEvent, ...]:
    """Return the log without what was said."""
    return await (await _history(desk, names)).events(**asked.said)


@handlers.does(history.LOGGED)
async def logged(
    desk: Desk, _: Caller, names: Names, asked: history.PageAsked
) -> tuple[LoggedBelief, ...]:
    """Return the log with contents and salts."""
    return await (await _history(desk, names)).logged(**asked.said)


@handlers.does(history.SEQ_AT)
async def seq_at(desk: Desk, _: Caller, names: Names, asked: history.SeqAtAsked) -> int:
    """Return the last event at a moment."""
    return await (await _history(desk, names)).seq_at(asked.point)


@handlers.does(history.TRUST)
async def trust(desk: Desk, _: Caller, names: Names, asked: history.TrustAsked) -> float:
    """Return how far an agent is trusted."""
    return await (await _history(desk, names)).trust(asked.agent_id, asked.topic)


@handlers.does(history.TRUSTS)
async def trusts(desk: Desk, _: Caller, names: Names, __: Nothing) -> tuple[TrustRow, ...]:
    """Return the trust in every agent."""
    return await (await _history(desk, names)).trusts()


@handlers.does(history.SET_TRUST)
async def set_trust(desk: Desk, _: Caller, names: Names, asked: history.SetTrustAsked) -> float:
    """Set the trust in an agent; return what it was."""
    return await (await _history(desk, names)).set_trust(**asked.said)


@handlers.does(history.PIN)
async def pin(desk: Desk, _: Caller, names: Names, __: Nothing) -> Commitment:
    """Let a belief come first."""
    return await (await _history(desk, names)).pin(names["belief_id"])


@handlers.does(history.UNPIN)
async def unpin(desk: Desk, _: Caller, names: Names, __: Nothing) -> Commitment:
    """Let a belief no longer come first."""
    return await (await _history(desk, names)).unpin(names["belief_id"])


@handlers.does(history.REVERT)
async def revert(desk: Desk, _: Caller, names: Names, asked: history.ReasonAsked) -> Changed:
    """Take a belief back."""
    return await (await _history(desk, names)).revert(names["belief_id"], reason=asked.reason)


@handlers.does(history.REWIND)
async def rewind(desk: Desk, _: Caller, names: Names, asked: history.RewindAsked) -> Changed:
    """Let the beliefs of a moment be active again."""
    return await (await _history(desk, names)).rewind(**asked.said)


@handlers.does(history.REDACT)
async def redact(
    desk: Desk, _: Caller, names: Names, asked: history.ReasonAsked
) -> RedactionReport:
    """Destroy a belief's content."""
    return await (await _history(desk, names)).redact(names["belief_id"], reason=asked.reason)


@handlers.does(proofs.SIGN)
async def sign(desk: Desk, _: Caller, names: Names, __: Nothing) -> SignedHead:
    """Sign the log as it is now."""
    return await (await _history(desk, names)).sign()


@handlers.does(proofs.HEADS)
async def heads(
    desk: Desk, _: Caller, names: Names, asked: history.PageAsked
) -> tuple[SignedHead, ...]:
    """Return signed heads."""
    return await (await _history(desk, names)).heads(**asked.said)


@handlers.does(proofs.PROVE)
async def prove(desk: Desk, _: Caller, names: Names, asked: proofs.ProveAsked) -> Inclusion:
    """Return the proof that an event is in the log."""
    return await (await _history(desk, names)).prove(asked.seq, asked.size)


@handlers.does(proofs.PROVE_GROWTH)
async def prove_growth(
    desk: Desk, _: Caller, names: Names, asked: proofs.ProveGrowthAsked
) -> tuple[str, ...]:
    """Return the proof that the log has only grown."""
    return await (await _history(desk, names)).prove_growth(asked.old_size, asked.size)


@handlers.does(proofs.VERIFY)
async def verify(desk: Desk, _: Caller, names: Names, asked: proofs.VerifyAsked) -> Verification:
    """Check the whole log."""
    return await (await _history(desk, names)).verify(**asked.said)


@handlers.does(proofs.ORIGIN)
async def origin(desk: Desk, _: Caller, names: Names, __: Nothing) -> BranchPoint | None:
    """Return where the graph was branched."""
    return await (await _history(desk, names)).origin()


@handlers.does(branching.BRANCH)
async def branch(
    desk: Desk, caller: Caller, names: Names, asked: branching.BranchAsked
) -> GraphAnswer:
    """Make a branch; a token for one graph makes none, since it could not reach it."""
    operation = branching.BRANCH
    caller.check(operation.needs, operation.name, asked.session_graph_id, None)
    made = await (await desk.graph(names["graph_id"])).branch(**asked.said)
    return GraphAnswer(id=made.id, inherits_from=made.inherits_from)


@handlers.does(branching.DIFF)
async def diff_of_graphs(
    desk: Desk, caller: Caller, names: Names, asked: branching.DiffAsked
) -> BeliefDiff:
    """Return how two graphs differ, both of which the caller may read."""
    operation = branching.DIFF
    caller.check(operation.needs, operation.name, asked.other_id, None)
    other = await desk.graph(asked.other_id)
    return await (await desk.graph(names["graph_id"])).diff(other)
