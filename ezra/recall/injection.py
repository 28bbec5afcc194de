"""What is known about a message, brought unasked: documents, memories and facts, fairly mixed.

Each class of source is asked by itself and ranks its own, so that however many passages of
documents fit, a fact that fits comes in too. The rankings are fused by reciprocal ranks, what says
the same is brought once, a reranker has its say where one is configured, and tokens are counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias
from zoneinfo import ZoneInfo

from metaagents.lifecycle.periods import period_of
from tiers.concurrency import together
from tiers.errors import UsageError, check_within
from tiers.fencing import entry, fenced, named
from tiers.forms import as_answered, dated_text, shown_date
from tiers.lexical import estimate_tokens
from tiers.moments import UTC_ZONE
from tiers.records import Hit, Kind, Scope

from ..models.reranking.blending import reranked
from ..ranking.choosing import in_asked_order
from ..ranking.cues import asks, read_cues, stems_in, wants_order
from ..recaller import Degradation, QuestionVector, RecallResult
from ..runtime import Runtime
from ..turn.assemble import injected_text
from ..turn.routing import Answering, Bring
from .request import TOKENS_MAX, RecallRequest, checked_kinds
from .search import recollect

SourceClass: TypeAlias = Literal["document", "memory", "fact"]

CLASSES: Mapping[SourceClass, tuple[Kind, ...]] = {
    "fact": ("fact",),
    "document": ("document",),
    "memory": ("turn", "summary", "episode"),
}
"""What is asked by itself; where ranks are equal, in this order."""

INJECTABLE: tuple[Kind, ...] = tuple(kind for kinds in CLASSES.values() for kind in kinds)
HEADINGS: Mapping[SourceClass, str] = {
    "document": "From documents",
    "memory": "From earlier conversations",
    "fact": "Known facts",
}
TOKEN_BUDGET = 1_000
CONTEXT_SHARE = 0.25
"""The most of a context that is injected into it."""
PER_CLASS = 20
ITEMS_MAX = 20
FUSION_RANK = 60
"""As in Cormack, Clarke and Büttcher 2009: a first place counts 1/61, a tenth 1/70."""
SAME_WORDS = 0.8
"""Share of all content words of two texts from which on they say the same."""

OF_TIME_MAX = 8
"""So many turns are brought of a time that a message asks about."""


@dataclass(frozen=True)
class Injected:
    """What is known about a message.

    Attributes:
        query: What was asked; empty where there was nothing to ask.
        items: Best first.
        text: The items under headings, as a model may read them: one block of data, which says so.
            Under each the best first, or the oldest where the query asks in which order.
        tokens: Estimated tokens of the text.
        degraded: Tiers or capabilities that did not take part.
        skipped: For each leg left out, why.
        rerank_used: Whether a reranker changed the order.
    """

    query: str = ""
    items: tuple[Hit, ...] = ()
    text: str = ""
    tokens: int = 0
    degraded: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    rerank_used: bool = False


async def inject(
    runtime: Runtime,
    scope: Scope,
    query: str,
    *,
    token_budget: int = TOKEN_BUDGET,
    kinds: Sequence[Kind] | None = None,
) -> Injected:
    """Return what the scope may see that is about a question.

    Raises:
        UsageError: The budget is out of range, or a kind is none that can be injected.
    """
    wanted = checked_injectable(kinds)
    check_within("token_budget", token_budget, 1, TOKENS_MAX)
    if not query.strip():
        return Injected()
    state = runtime.degradation()
    rankings = await _rankings(runtime, scope, query, wanted, state)
    fused = fuse(rankings)
    if wants_order(query):  # what was made of turns does not stand for them: it has no place in it
        fused.sort(key=lambda hit: hit.kind == "fact")
    fused = without_repeats(fused)
    hits, rerank_used = await reranked(
        runtime.reranker,
        query,
        fused,
        state,
        candidates=runtime.settings.rerank_candidates,
        timeout_seconds=runtime.settings.rerank_timeout_seconds,
    )
    if runtime.reranker is not None:
        hits = await runtime.recaller.still(scope, hits, runtime.clock(), state)
    zone = runtime.settings.zone
    items = within(hits[:ITEMS_MAX], token_budget, zone)
    text = rendered(in_asked_order(query, items), zone)
    return Injected(
        query=query,
        items=tuple(map(as_answered, items)),
        text=text,
        tokens=estimate_tokens(text),
        degraded=tuple(state.lost),
        skipped=tuple(state.skipped),
        rerank_used=rerank_used,
    )


async def last_message(runtime: Runtime, scope: Scope, role: str) -> str:
    """Return what was said to an agent last; its role where nothing was."""
    state = runtime.degradation()
    found = await state.answer("cold", "last turn", runtime.turns.recent_turns(scope, 1), ())
    said = [turn.input for turn in found if turn.redacted_at is None]
    return said[-1] if said else role


def checked_injectable(kinds: Sequence[Kind] | None) -> tuple[Kind, ...]:
    """Return the kinds to bring, all that can be if none are given.

    Raises:
        UsageError: One of them cannot be brought.
    """
    wanted = INJECTABLE if kinds is None else checked_kinds(kinds)
    unknown = [kind for kind in wanted if kind not in INJECTABLE]
    if unknown:
        raise UsageError("kinds", unknown[0], ", ".join(INJECTABLE))
    return wanted


async def _rankings(
    runtime: Runtime, scope: Scope, query: str, wanted: Sequence[Kind], state: Degradation
) -> list[Sequence[Hit]]:
    """Return what each class has that is about the question, best first."""
    asked = [tuple(kind for kind in kinds if kind in wanted) for kinds in CLASSES.values()]
    names = await runtime.names.of(scope)

    async def ranking(kinds: tuple[Kind, ...]) -> Sequence[Hit]:
        if not kinds:
            return ()
        request = RecallRequest(text=query, limit=PER_CLASS, kinds=kinds, rerank=False)
        found = await recollect(runtime, scope, request)
        _note(state, found)
        return await runtime.recaller.relevant(query, found.items, names, state)

    return await together(ranking(kinds) for kinds in asked)


def _note(state: Degradation, found: RecallResult | Injected) -> None:
    for capability in found.degraded:
        state.lost.setdefault(capability)
    state.skipped.extend(why for why in found.skipped if why not in state.skipped)


def fuse(rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Return the hits of several rankings by reciprocal rank: the best of each class first.

    Scores of different classes cannot be compared; places can. Equal places keep the order of the
    rankings.
    """
    placed = [
        (place, number, hit)
        for number, hits in enumerate(rankings)
        for place, hit in enumerate(hits, start=1)
    ]
    placed.sort(key=lambda one: one[:2])
    return [hit.model_copy(update={"score": 1 / (FUSION_RANK + place)}) for place, _, hit in placed]


def without_repeats(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits without what a better one says already, whose id that one then carries."""
    kept: list[Hit] = []
    words: list[frozenset[str]] = []
    for hit in hits:
        mine = stems_in(hit.text)
        same = next((at for at, one in enumerate(words) if _says_the_same(mine, one)), None)
        if same is None:
            same = next((at for at, one in enumerate(kept) if hit.id in one.source_ids), None)
        if same is None:
            kept.append(hit)
            words.append(mine)
        else:
            folded = (*kept[same].folded, hit.id)
            kept[same] = kept[same].model_copy(update={"folded": folded})
    return kept


def _says_the_same(mine: frozenset[str], other: frozenset[str]) -> bool:
    return bool(mine) and len(mine & other) >= SAME_WORDS * len(mine | other)


def within(hits: Sequence[Hit], token_budget: int, zone: ZoneInfo = UTC_ZONE) -> tuple[Hit, ...]:
    """Return those whose text fits a budget of tokens, headings included, best first."""
    kept: list[Hit] = []
    for hit in hits:
        if estimate_tokens(rendered([*kept, hit], zone)) <= token_budget:
            kept.append(hit)
    return tuple(kept)


def rendered(hits: Sequence[Hit], zone: ZoneInfo = UTC_ZONE) -> str:
    """Return hits as a model may read them: a block, with a heading for each class of source.

    What was said is dated by the days of the zone, as ``search_memory`` dates it.
    """
    parts: list[str] = []
    for source, heading in HEADINGS.items():
        lines = [_entry(hit, zone) for hit in hits if hit.kind in CLASSES[source]]
        if lines:
            parts.append("\n".join([f"## {heading}", *lines]))
    return fenced("memory", parts, says_what=True) if parts else ""


def _entry(hit: Hit, zone: ZoneInfo) -> str:
    """Return a hit as an entry, behind where it stands or when it was."""
    source = str(hit.kind)
    if hit.kind == "fact":  # what holds is kept in days of UTC
        source = shown_date(hit.valid_from) or source
    elif hit.occurred_at is not None:
        source = period_of(hit.occurred_at, "daily", zone)
    if hit.citation is not None:
        cited = [hit.citation.title or hit.citation.name, *hit.citation.headings]
        page = "" if hit.citation.page is None else f", page {hit.citation.page}"
        source = f"{' > '.join(map(named, cited))}{page}"
    return entry(source, injected_text(dated_text(hit)), is_flat=hit.kind == "fact")


def bringing(runtime: Runtime, message: str) -> Bring:
    """Return what brings what is known about a message into its context."""

    async def bring(scope: Scope, state: Degradation) -> tuple[Hit, ...]:
        room = max(1, int(runtime.settings.context_tokens * CONTEXT_SHARE))
        found = await inject(runtime, scope, message, token_budget=room)
        _note(state, found)
        return found.items

    return bring


def telling_of_time(runtime: Runtime, message: str, at: datetime) -> Answering | None:
    """Return what brings turns of the past time that a message asks about.

    Of "What did I do yesterday?" no word stands in what was said then, and its meaning is near
    nothing. ``None``: it asks nothing.

    Args:
        runtime: Where it looks.
        message: What is said.
        at: When: "yesterday" is the day before.
    """
    if not asks(message):
        return None

    async def bring(
        scope: Scope, state: Degradation, vector: QuestionVector | None
    ) -> tuple[Hit, ...]:
        zone = runtime.settings.zone
        cues = read_cues(message, await runtime.names.of(scope), at, zone)
        if not cues.days and not any(span.since <= at for span in cues.spans):
            return ()
        request = RecallRequest(text=message, limit=OF_TIME_MAX, kinds=("turn",), rerank=False)
        found = await recollect(runtime, scope, request, vector)
        _note(state, found)
        dated = ((hit, hit.occurred_at or hit.recorded_at) for hit in found.items)
        return tuple(hit for hit, moment in dated if cues.speaks_of(moment, zone))

    return bring
