"""Step 4: what the tiers hold for a message, read side by side.

The ring is read while the question's vector is made. Each leg has a deadline; one that fails or is
late is left out, and the turn's ``degradation`` says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from metaagents.learning.core import CoreBlock
from tiers.concurrency import both, together
from tiers.ids import Clock
from tiers.learning import name_of_speaker
from tiers.previews import with_previews
from tiers.records import FactTier, Hit, HotState, Kind, Scope, SearchQuery, Turn

from ..ranking.cues import asks, read_cues
from ..ranking.pool import SESSION_GAP, Pool
from ..ranking.scoring import Question, score
from ..ranking.weights import DEFAULT_WEIGHTS
from ..recaller import QuestionVector, Recaller, with_vector
from .context_budget import TAIL_SHARE, TailPlan, plan_tail, turns_wanted
from .eliding import with_previews_of
from .personal import STANDING_MAX, STANDING_WORDS, facts_of, is_standing, shown_of
from .rings import Rings
from .routing import Admission, Conversation, Hydrated, Meant, RouterLimits
from .shadowing import core_seen, nearest_core, unhidden
from .slots import shows_names
from .telling import telling_more

if TYPE_CHECKING:
    from tiers.cold.stores import SemanticStore, TurnStore

ARCHIVAL_LIMIT = 8
ARCHIVAL_CANDIDATES = 16
"""Of who speaks more is looked at: what helps them need not be about what they say."""

PERSONAL_MIN = 4
"""So many facts of that are shown however many are about the message."""

SUMMARY_LIMIT = 6
SUMMARY_CANDIDATES = 15
"""A day, its week, month, quarter and year may all tell the same, where little was said."""

TURN_LIMIT = 8
"""Of what was said before the ring: summaries leave out words that a message may ask for."""

ASKED_TURNS_MIN = 6
"""So many are shown to who asks, however little they are like the question."""


class Sifted(NamedTuple):
    """What a leg found: what is about the message, other facts of who speaks, and the rest."""

    about: tuple[Hit, ...]
    personal: tuple[Hit, ...] = ()
    passed_over: tuple[Hit, ...] = ()


@dataclass(eq=False)
class Hydrator:
    """Reads what the tiers hold for a message.

    Attributes:
        rings: The ring, pinned beliefs and mesh result per agent.
        turns: What was said before.
        semantic: Core facts.
        recaller: Embeds the question; finds summaries, episodes, facts and turns.
        limits: Sizes.
        clock: Where the time comes from.
    """

    rings: Rings
    turns: TurnStore
    semantic: SemanticStore
    recaller: Recaller
    limits: RouterLimits
    clock: Clock

    async def read(self, turn: Admission) -> Hydrated:
        """Return what is held for a message; core facts and rules as the opening has them."""
        meant, conversation = await both(self._by_meaning(turn), self._conversation(turn))
        said = await self._said_before(turn, meant, conversation)
        warm = tuple(telling_more(meant.warm, said, self.limits.zone)[:SUMMARY_LIMIT])
        if turn.opening is None:
            return Hydrated(meant, conversation, said, warm)
        now = self.clock() if turn.scope.lineage else turn.request.at
        opening = turn.opening
        core = await nearest_core(turn.scope, opening.core, opening.nearer, now=now)
        block = self.limits.core_block_of(core, turn.scope, turn.request.at)
        return Hydrated(meant, conversation, said, warm, block, core.shadowed, opening.rules)

    async def core_of(self, scope: Scope) -> CoreBlock:
        """Return the core block of a context for the scope, without what is hidden."""
        core = await core_seen(self.semantic, scope, self.clock)
        return self.limits.core_block_of(core, scope, self.clock())

    async def _by_meaning(self, turn: Admission) -> Meant:
        """Read what is found by the question's vector, once that is made."""
        text = turn.request.input
        vector = await self.recaller.vector(turn.scope, text, turn.names, turn.degradation)
        archival, warm, said, inherited = await together(
            side(turn, vector)
            for side in (self._archival, self._summaries, self._turns, self._inherited)
        )
        room = max(PERSONAL_MIN, ARCHIVAL_LIMIT - len(archival.about))
        return Meant(
            vector=vector,
            archival=archival.about[:ARCHIVAL_LIMIT],
            personal=shown_of((*archival.personal, *inherited.personal), _name_in(turn), room),
            passed_over=archival.passed_over,
            warm=warm.about,
            of_time=said.about,
            turns=said.passed_over,
            inherited=inherited.about,
        )

    async def _archival(self, turn: Admission, vector: QuestionVector | None) -> Sifted:
        """Recall facts, of the message and of what counts for every answer, by one search."""
        query = self._query(turn, vector, ("fact",), ARCHIVAL_CANDIDATES, "archival")
        query = query.model_copy(update={"text": f"{query.text} {STANDING_WORDS}"})
        found = await self.recaller.archival(turn.scope, query, turn.degradation)
        sifted = await self._sifted(turn, found)
        name = _name_in(turn)
        known = [hit for hit in (*sifted.about, *sifted.personal) if is_standing(hit, name)]
        if len(found) < ARCHIVAL_CANDIDATES or len(known) >= STANDING_MAX:
            return sifted
        standing = _without(known, await self._standing(turn))
        return sifted._replace(personal=(*sifted.personal, *standing))

    async def _standing(self, turn: Admission) -> list[Hit]:
        """Look up what counts for every answer, where so many are known that not all may come."""
        query = self._query(turn, None, ("fact",), ARCHIVAL_CANDIDATES, "archival")
        wanted = {"text": STANDING_WORDS, "user_id": turn.scope.user_id}
        call = self.recaller.words.search_words(turn.scope, query.model_copy(update=wanted))
        found = await turn.degradation.answer("cold", "standing facts", call, ())
        name = _name_in(turn)
        return [hit for hit in _personal_among(found, turn) if is_standing(hit, name)]

    async def _summaries(self, turn: Admission, vector: QuestionVector | None) -> Sifted:
        query = self._query(turn, vector, ("summary", "episode"), SUMMARY_CANDIDATES)
        found = await self.recaller.found(turn.scope, query, "warm", turn.degradation)
        return Sifted(found)

    async def _turns(self, turn: Admission, vector: QuestionVector | None) -> Sifted:
        """Recall what was said: of a time that is asked about, and what else may be of use."""
        query = self._query(turn, vector, ("turn",), TURN_LIMIT + self.limits.ring_capacity)
        found = await self.recaller.found(turn.scope, query, "turns", turn.degradation)
        bring = turn.request.of_time
        of_time = () if bring is None else await bring(turn.scope, turn.degradation, vector)
        return Sifted(about=of_time, passed_over=found)

    async def _said_before(
        self, turn: Admission, meant: Meant, conversation: Conversation
    ) -> tuple[Hit, ...]:
        """Return the turns that are told besides those which are shown anyway."""
        shown = conversation.shown
        of_time = _without(shown, meant.of_time)
        about = await self._worth_telling(turn, _without(shown, meant.turns))
        said = list({hit.id: hit for hit in (*of_time, *about)}.values())[:TURN_LIMIT]
        return await with_previews_of(self.turns, turn.scope, said, turn.degradation)

    async def _worth_telling(self, turn: Admission, found: Sequence[Hit]) -> Sequence[Hit]:
        """Return the turns that are about the message, in recall's order where not all are told.

        Who asks is told the nearest in any case: nothing in "Her name is Biscuit" is like "What is
        my dog called?".
        """
        about = await self._about(turn, found)
        if len(about) > TURN_LIMIT:
            return self._nearest_first(turn, about)
        if len(about) >= ASKED_TURNS_MIN or not asks(turn.request.input):
            return about
        others = _without(about, self._nearest_first(turn, found))
        return (*about, *others[: ASKED_TURNS_MIN - len(about)])

    def _nearest_first(self, turn: Admission, hits: Sequence[Hit]) -> list[Hit]:
        """Order turns as recall does; the index knows nothing of dates and people."""
        reader, zone, text = self.recaller.reader, self.limits.zone, turn.request.input
        pool = Pool(turn.scope.graph_id, reader, turn.scope.tenant)
        pool.add_leg("turns", hits)
        by_id = {hit.id: hit for hit in hits}
        for candidate in pool:
            candidate.cosine = by_id[candidate.id].cosine
        cues = read_cues(text, turn.names, turn.request.at, zone)
        question = Question(text, cues, None, turn.scope.user_id, zone)
        scored = score(pool, question, DEFAULT_WEIGHTS)
        return [by_id[scored.candidates[place].id] for place in scored.best(len(hits))]

    async def _inherited(self, turn: Admission, vector: QuestionVector | None) -> Sifted:
        """Read episodes and archival facts of ancestors, where links or the catalog carry them."""
        if not turn.scope.lineage:
            return Sifted(())
        query = self._query(turn, vector, ("episode", "fact"), SUMMARY_LIMIT)
        found = await self.recaller.inherited(turn.scope, query, turn.degradation)
        seen = await unhidden(self.semantic, turn.scope, found, self.clock, turn.degradation)
        return await self._sifted(turn, seen)

    def _query(
        self,
        turn: Admission,
        vector: QuestionVector | None,
        kinds: tuple[Kind, ...],
        limit: int,
        tier: FactTier | None = None,
    ) -> SearchQuery:
        text, now = turn.request.subject, self.clock()
        query = SearchQuery(text=text, kinds=kinds, tier=tier, limit=limit, now=now)
        return with_vector(query, vector)

    async def _sifted(self, turn: Admission, found: tuple[Hit, ...]) -> Sifted:
        about = await self._about(turn, found)
        personal = _personal_among(_without(about, found), turn)
        return Sifted(about, personal, _without((*about, *personal), found))

    async def _about(self, turn: Admission, found: Sequence[Hit]) -> tuple[Hit, ...]:
        """Return the hits that are about the message."""
        text, names = turn.request.subject, turn.names
        return await self.recaller.relevant(text, found, names, turn.degradation)

    async def _conversation(self, turn: Admission) -> Conversation:
        """Read hot turns, and what is brought unasked: at a start, which they tell, or always."""
        if turn.agent.inject == "turn":
            (hot, tail), injected = await both(self._shown(turn), self._injected(turn))
            return Conversation(hot, tail, injected)
        hot, tail = await self._shown(turn)
        is_asked = turn.agent.inject == "start" and _begins(turn, hot)
        return Conversation(hot, tail, await self._injected(turn) if is_asked else ())

    async def _injected(self, turn: Admission) -> tuple[Hit, ...]:
        """Bring what is known about the message."""
        bring = turn.request.inject
        return () if bring is None else await bring(turn.scope, turn.degradation)

    async def _shown(self, turn: Admission) -> tuple[HotState, TailPlan | None]:
        """Return the ring, and what of the conversation is shown where the window is known."""
        hot = await self._ring(turn)
        policy = self.limits.window_of(turn.agent)
        if policy is None:
            return hot, None
        room = int(self.limits.context_tokens * TAIL_SHARE)
        last = await self._last_turns(turn, hot)
        is_named = shows_names(last, turn.agent.id, turn.request.speaker)
        return hot, plan_tail(last, room, policy, is_named=is_named)

    async def _ring(self, turn: Admission) -> HotState:
        """Return the ring but for turns whose words were destroyed in cold while hot was away."""
        hot = await self.rings.read(turn.scope, turn.degradation, keeps=not turn.is_rehearsal)
        now = self.clock()
        ring = await self.recaller.standing_turns(turn.scope, hot.turns, now, turn.degradation)
        return hot.model_copy(update={"turns": ring})

    async def _last_turns(self, turn: Admission, hot: HotState) -> tuple[Turn, ...]:
        """Return the turns that a tail may need: the ring's, or more where that holds fewer."""
        ring = hot.turns
        wanted = turns_wanted(ring[-1] if ring else None)
        if len(ring) >= wanted or (ring and ring[0].seq == 1):
            return ring[-wanted:]
        call = self.turns.recent_turns(turn.scope, wanted)
        recent = await turn.degradation.answer("cold", "tail", call, ring)
        return tuple(map(with_previews, recent))


def _begins(turn: Admission, hot: HotState) -> bool:
    """Whether nothing was said to the agent yet, or not for a long while."""
    return not hot.turns or turn.request.at - hot.turns[-1].occurred_at > SESSION_GAP


def _personal_among(hits: Sequence[Hit], turn: Admission) -> tuple[Hit, ...]:
    """Return the hits that are facts of who speaks."""
    return tuple(facts_of(_name_in(turn), turn.scope.user_id, hits))


def _name_in(turn: Admission) -> str:
    """Return what facts call who speaks."""
    return name_of_speaker(turn.request.speaker, turn.agent.id, turn.scope.user_id)


def _without(taken: Sequence[Hit | Turn], hits: Sequence[Hit]) -> tuple[Hit, ...]:
    ids = {hit.id for hit in taken}
    return tuple(hit for hit in hits if hit.id not in ids)
