"""OpenAI Agents SDK: a session over an agent's memory, and its tools.

Install ``ezra[openai-agents]``. What a session keeps are facts of the agent's session graph, so
scope, history, audit and redaction are theirs. Recall and turns are not told of them, unless a
session asks for that.

The objects of an item's facts together are its JSON, word for word, and name the item, so that two
which say the same are two. The text of the first is what it says; recall finds it by that where it
is to. An item that is too long for one fact is kept in several.
"""

from __future__ import annotations

import asyncio
import json
from bisect import insort
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from json import dumps
from typing import Any, NamedTuple, Self, TypeAlias
from uuid import uuid4

from tiers.errors import UsageError
from tiers.extras import needs
from tiers.ids import Clock, system_clock
from tiers.knowledge import APART
from tiers.paging import parts
from tiers.recollection import Place
from tiers.records import Fact

from ..arguments import check_encodable
from ..checks import checked
from ..handles.agent import Agent
from ..handles.agent_facts import FORGOTTEN_MAX
from ..wire.tools import ToolSpec, agent_tools
from .keeping import Shelf, encodable

with needs("openai-agents", "ezra.adapters.openai_agents"):
    from agents import FunctionTool, TResponseInputItem
    from agents.memory import SessionSettings
    from agents.memory.session_settings import resolve_session_limit
    from agents.tool_context import ToolContext

ITEMS_MAX = 100_000
"""So many live items a session may have."""

POPPED, CLEARED = "popped from the session", "the session was cleared"

_PAGE = 500
_SKEW = 3_600 * 1_000_000
"""Microseconds by which the clocks of who adds may differ, or be set back, in what a limit reads.

What comes last is looked for among what was recorded last, and as far back as this before it.
"""
_SHELF = Shelf("openai")

Finding: TypeAlias = Callable[[ToolContext[Any]], Awaitable[Agent]]


class EzraSession:
    """The SDK's ``Session`` in the memory of an agent: items are kept word for word, in order.

    Each item is a fact of the agent's graph: who holds its topics and works for its user sees it,
    so agents that are handed a conversation go on in the same session. An item that is popped and a
    session that is cleared are forgotten: no answer has them from then on, their tombstones and the
    audit feed tell what happened, and their content goes when ``forgotten_facts_days`` are over.

    An item may have up to 9 million characters of JSON; it is refused before any of a call's items
    is kept. Adding is not all or nothing: of a call that failed the first items may be there.

    Args:
        session_id: Of the conversation; the agent's graph may have any number.
        agent: The agent, in process or on a server.
        session_settings: How many items a run is given, if not all.
        private: Whether only this agent may see the items.
        recalled: Whether recall finds what is added, as it finds facts. Else it is read by the
            session alone: a conversation that is kept whole would drown what was remembered.
        clock: Where the time comes from; what is added later comes later, whoever adds it.

    Raises:
        UsageError: The session has no id, or one that no store can keep.
    """

    def __init__(
        self,
        session_id: str,
        agent: Agent,
        *,
        session_settings: SessionSettings | None = None,
        private: bool = False,
        recalled: bool = False,
        clock: Clock = system_clock,
    ) -> None:
        if not session_id.strip():
            raise UsageError("session_id", session_id, "text that is not blank")
        check_encodable("session_id", session_id)
        self.session_id = session_id
        self.session_settings = session_settings
        self._agent = agent
        self._private = private
        self._recalled = recalled
        self._clock = clock
        self._subject = _SHELF.subject((session_id,))
        self._last: int | None = None
        self._writing = asyncio.Lock()

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the last items, oldest first; all of them without a limit.

        Raises:
            UsageError: There are more than ``ITEMS_MAX``, or the agent has left.
        """
        most = resolve_session_limit(limit, self.session_settings)
        if most is not None and most <= 0:
            return []
        return [item_of(pieces) for pieces in await self._live_items(most)]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items after those that are there.

        Raises:
            UsageError: One is no JSON or too long, and none is added; or the agent has left.
        """
        async with self._writing:
            first = await self._next() if items else 0
            facts = [
                fact
                for number, item in enumerate(items, first)
                for fact in pieces_of(self._subject, number, item, is_recalled=self._recalled)
            ]
            for fact in facts:
                await self._agent.remember(fact, private=self._private)
            if items:
                self._last = first + len(items) - 1

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the last item away and return it; ``None`` when there is none."""
        async with self._writing:
            passed: set[str] = set()
            while True:
                found = await self._live_items(len(passed) + 1)
                last = [pieces for pieces in found if pieces[0].item not in passed]
                if not last:
                    return None
                # Whoever forgets it has it: of two that pop at once, one gets the item before.
                if await self._forget(last[-1], POPPED):
                    popped: TResponseInputItem = item_of(last[-1])
                    return popped
                passed.add(last[-1][0].item)

    async def clear_session(self) -> None:
        """Take all items away: in one step, or for a long session in one for each hundred facts."""
        async with self._writing:
            ids = [one.fact_id async for page in self._pages() for one in page.pieces]
            for some in parts(ids, FORGOTTEN_MAX):
                await self._agent.forget_facts(some, reason=CLEARED)

    async def _forget(self, pieces: Sequence[Piece], reason: str) -> bool:
        """Take an item away; whether this call did, and not another before it."""
        ids = [one.fact_id for one in pieces]
        done = await self._agent.forget_facts(ids, reason=reason)
        return ids[0] in done

    async def _next(self) -> int:
        """Return a number above those of all items that were ever seen here.

        Microseconds: what another session object adds later comes later, without asking it.
        """
        if self._last is None:
            await self._live_items(1)
        return max((self._last or 0) + 1, _microseconds(self._clock()))

    async def _live_items(self, most: int | None = None) -> list[list[Piece]]:
        """Return the pieces of each whole live item, in order; of the last ones, if not of all.

        What was recorded last is read first, and no more of it than can hold the last items.
        """
        found: dict[str, list[Piece]] = {}
        numbers: list[int] = []
        async with aclosing(self._pages()) as pages:
            async for page in pages:
                for piece in page.pieces:
                    pieces = found.setdefault(piece.item, [])
                    pieces.append(piece)
                    if len(pieces) == piece.pieces:
                        insort(numbers, piece.number)
                if most is not None and most <= len(numbers) and numbers[-most] > page.end + _SKEW:
                    break
                if len(found) > ITEMS_MAX:
                    raise UsageError(
                        "session", self.session_id, f"one of at most {ITEMS_MAX} items"
                    )
        whole = [sorted(one, key=lambda piece: piece.place) for one in found.values()]
        whole = [pieces for pieces in whole if len(pieces) == pieces[0].pieces]
        whole.sort(key=lambda pieces: pieces[0].age)
        self._last = max([self._last or 0, *numbers])
        return whole if most is None else whole[-most:]

    async def _pages(self) -> AsyncGenerator[_Page]:
        """Yield what there is of the session, what was recorded last first."""
        behind: Place | None = None
        while True:
            facts = await self._agent.knowledge.history(
                self._subject, limit=_PAGE, live_only=True, newest_first=True, behind=behind
            )
            if not facts:
                return
            pieces = [piece for piece in map(Piece.of, self._own(facts)) if piece is not None]
            yield _Page(pieces, _microseconds(facts[-1].recorded_at))
            if len(facts) < _PAGE:
                return
            behind = Place(facts[-1].recorded_at, facts[-1].id)

    def _own(self, facts: Iterable[Fact]) -> Iterable[Fact]:
        """Leave out what the agent's graph inherits: that conversation is another's."""
        return (fact for fact in facts if fact.graph_id == self._agent.graph_id)


def memory_tools(agent: Agent | Finding) -> list[FunctionTool]:
    """Return the tools by which a model uses an agent's memory: recall, remember_fact, ….

    Args:
        agent: The agent, in process or on a server; or what finds it by the context of the run, for
            an application that serves many users. What a model says never chooses it.
    """
    return [_tool(spec, agent) for spec in agent_tools()]


def _tool(spec: ToolSpec, agent: Agent | Finding) -> FunctionTool:
    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        asking = agent(context) if callable(agent) else agent
        return dumps(await spec.answered(asking, arguments), ensure_ascii=False)

    return FunctionTool(
        name=spec.name,
        description=spec.description,
        params_json_schema=spec.parameters,
        on_invoke_tool=invoke,
        # Strict schemas know no defaults: a model would have to say every argument every time.
        strict_json_schema=False,
    )


def _microseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000)


ITEM = "item"
ITEM_APART = f"{APART}{ITEM}"
"""The predicates of what recall finds, and of what it does not."""
_CONTINUED = "…"
PIECE_CHARS_MAX = 90_000  # within the fact it is JSON again, of up to twice the length
PIECES_MAX = 100
BORDER_CHARS = 400
"""So much of either side of a cut is kept with both pieces, for whoever looks for a name."""
SEARCHED_CHARS_MAX = 4_000
"""So much of an item is found by its words; the models of embeddings read less."""


@dataclass(frozen=True)
class Piece:
    """A part of an item, as a fact keeps it.

    Attributes:
        fact_id: The fact.
        item: Names the item.
        number: Where the item comes; higher is later.
        place: Which part of it, from 0.
        pieces: How many it has.
        said: That part of its JSON.
        age: What items are ordered by.
    """

    fact_id: str
    item: str
    number: int
    place: int
    pieces: int
    said: str
    age: tuple[int, datetime, str]

    @classmethod
    def of(cls, fact: Fact) -> Self | None:
        """Return what a fact keeps; ``None`` when somebody else wrote something else there."""
        try:
            kept = json.loads(fact.object or "")
            number, place, pieces = (int(kept[name]) for name in ("number", "place", "pieces"))
            item, said = str(kept["item"]), str(kept["said"])
        except (ValueError, TypeError, KeyError):
            return None
        age = (number, fact.recorded_at, fact.id)
        return cls(fact.id, item, number, place, pieces, said, age)


class _Page(NamedTuple):
    """Some of what there is of a session.

    Attributes:
        pieces: The last of it first.
        end: When the first of it was recorded, in microseconds.
    """

    pieces: list[Piece]
    end: int


def pieces_of(subject: str, number: int, item: object, *, is_recalled: bool = False) -> list[Fact]:
    """Return the facts that keep an item from now on.

    Args:
        subject: The address of the conversation.
        number: Where it comes in it.
        item: The item; goes through JSON.
        is_recalled: Whether recall finds it by its words.

    Raises:
        UsageError: It is no JSON object, or too long.
    """
    if not isinstance(item, Mapping):
        raise UsageError("items", type(item).__name__, "items as JSON objects")
    try:
        whole = json.dumps(dict(item), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError("items", str(error), "what JSON can say") from error
    starts = range(0, len(whole), PIECE_CHARS_MAX)
    if len(starts) > PIECES_MAX:
        most = PIECE_CHARS_MAX * PIECES_MAX
        raise UsageError("items", len(whole), f"at most {most:,} characters of JSON for each")
    name = uuid4().hex
    return [
        checked(
            Fact,
            subject=subject,
            predicate=ITEM if is_recalled else ITEM_APART,
            object=json.dumps(
                {
                    "item": name,
                    "number": number,
                    "place": place,
                    "pieces": len(starts),
                    "said": whole[at : at + PIECE_CHARS_MAX],
                    "borders": [_border(whole, cut) for cut in (at, at + PIECE_CHARS_MAX)],
                }
            ),
            text=_plain(words_of(item)) if place == 0 else _CONTINUED,
        )
        for place, at in enumerate(starts)
    ]


def _border(whole: str, cut: int) -> str:
    """Return what stands about a cut: a name that it goes through is found in both pieces."""
    is_cut = 0 < cut < len(whole)
    return whole[cut - BORDER_CHARS : cut + BORDER_CHARS] if is_cut else ""


def item_of(pieces: Sequence[Piece]) -> Any:  # noqa: ANN401 - an item of the SDK, as it was given
    """Return the item that all its pieces, in order, keep."""
    return json.loads("".join(one.said for one in pieces))


def words_of(item: Mapping[str, Any]) -> str:
    """Return what an item is found by: who said it, and what was said, called or returned."""
    who = str(item.get("role") or item.get("name") or item.get("type") or ITEM)
    said = [_texts(item.get(name)) for name in ("content", "arguments", "output", "summary")]
    return f"{who}: {' '.join(one for one in said if one)}"[:SEARCHED_CHARS_MAX]


def _texts(value: object) -> str:
    """Return the text of a content, which is one, or a list of parts that have one."""
    if isinstance(value, str):
        return value[:SEARCHED_CHARS_MAX]
    if isinstance(value, Mapping):
        return _texts(value.get("text"))
    if isinstance(value, Sequence):
        return " ".join(filter(None, map(_texts, value[:SEARCHED_CHARS_MAX])))
    return ""


def _plain(text: str) -> str:
    return encodable(text).replace("\x00", "")
