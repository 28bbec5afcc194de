"""LangGraph: a store over an agent's memory, and its tools. Install ``ezra[langgraph]``.

A store's items are facts of the agent's session graph, so scope, history, audit and redaction are
theirs: an item that is put again supersedes the one before, one that is deleted is forgotten and
leaves its tombstone, and recall finds it like any other fact.

A search is filtered as stores of LangGraph understand it: ``{"kind": "report"}`` asks for equality,
``{"score": {"$gte": 3}}`` compares; a mapping without operators asks of what is inside, a list of
each place. What is not there, or is of another sort, is neither greater nor less.

Calls from other threads into the event loop in which an agent lives.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from tiers.errors import EzraError, UsageError
from tiers.extras import needs
from tiers.recollection import Place
from tiers.records import IDS_MAX, Fact

from ..handles.agent import Agent
from ..recall.request import LIMIT_MAX
from ..wire.tools import ToolSpec, agent_tools, error_line
from .keeping import (
    Kept,
    Namespace,
    Shelf,
    check_address,
    check_value,
    item_fact,
    item_of,
    namespace_of,
    predicate_of,
    searched_text,
)

R = TypeVar("R")


class HomeLoop:
    """The event loop that is running where this is made.

    Raises:
        UsageError: None is.
    """

    def __init__(self) -> None:
        running = _running()
        if running is None:
            raise UsageError("agent", "no event loop", "made in the event loop in which it lives")
        self._loop = running

    def wait(self, start: Callable[[], Coroutine[Any, Any, R]], instead: str) -> R:
        """Run a coroutine there and return what it does; for other threads.

        Args:
            start: Makes the coroutine.
            instead: What to do in the loop's own thread, which would wait for itself.

        Raises:
            UsageError: It is the loop's own thread, or the loop does not run any more.
        """
        if _running() is self._loop:
            raise UsageError("call", "one that blocks the event loop", instead)
        if not self._loop.is_running():
            raise UsageError("call", "an event loop that is over", "one that runs")
        return asyncio.run_coroutine_threadsafe(start(), self._loop).result()


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


with needs("langgraph", "ezra.adapters.langgraph"):
    from langchain_core.tools import StructuredTool, ToolException
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        get_text_at_path,
        tokenize_path,
        validate_op_namespace,
    )

OPERATIONS_MAX = 10_000
ITEMS_MAX = 100_000
"""So many items one search looks at; a prefix that narrows more has fewer."""

PAGE = 250
LOOK = 4
DELETED = "deleted from the LangGraph store"

_SHELF = Shelf("langgraph")


class EzraStore(BaseStore):
    """A LangGraph store that keeps its items in the memory of an agent.

    What the agent may see and write, its items are: agents of one session graph that share topics
    and user share them. Items of graphs that its own inherits from are not among them.

    * ``put`` keeps any JSON object, word for word, of up to 180,000 characters; ``index``
      chooses the fields by which a question finds it, ``False`` none.
    * ``search`` looks at every item below the prefix and keeps those that meet the filter; with a
      ``query`` recall puts the hundred best of these first, each with its score, and the rest
      follow as they do without one: last put first.
    * ``ttl`` is refused, as a store of the base does: ``graph.configure(retention=…)`` says how
      long what was superseded or forgotten stays.

    Made in the event loop in which the agent lives. ``batch`` and the other methods without ``a``
    are for other threads.

    Args:
        agent: The agent, in process or on a server.

    Raises:
        UsageError: No event loop is running.
    """

    def __init__(self, agent: Agent) -> None:
        super().__init__()
        self._home = HomeLoop()
        self._agent = agent
        self._writing = asyncio.Lock()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do operations from another thread than the event loop's; as ``abatch``.

        Raises:
            UsageError: It is the event loop's thread, which would wait for itself, or the loop is
                over.
        """
        instead = "await the method whose name begins with a: aget, asearch, aput, abatch, …"
        given = list(islice(ops, OPERATIONS_MAX + 1))
        return self._home.wait(lambda: self.abatch(given), instead)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do operations: what reads first, then what writes; of one item the last counts.

        All are checked before any is done.

        Raises:
            UsageError: One is not acceptable.
        """
        given = list(islice(ops, OPERATIONS_MAX + 1))
        if len(given) > OPERATIONS_MAX:
            raise UsageError("ops", "more", f"at most {OPERATIONS_MAX}")
        for op in given:
            _check(op)
        results = [await self._answer(op) for op in given]
        puts = {(op.namespace, op.key): op for op in given if isinstance(op, PutOp)}
        for op in puts.values():
            # Of two at once each would put the first version.
            async with self._writing:
                await self._put_anyway(op)
        return results

    async def _answer(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            return await self._get(op)
        if isinstance(op, SearchOp):
            return await self._search(op)
        if isinstance(op, ListNamespacesOp):
            return await self._namespaces(op)
        return None

    async def _get(self, op: GetOp) -> Item | None:
        versions = await self._versions(op.namespace, op.key)
        if not versions:
            return None
        kept = versions[-1]
        return Item(
            value=kept.value,
            key=kept.key,
            namespace=kept.namespace,
            created_at=kept.created_at,
            updated_at=kept.updated_at,
        )

    async def _put_anyway(self, op: PutOp) -> None:
        """Put an item, also where another process deletes the one before at that moment."""
        try:
            await self._put(op)
        except UsageError as refusal:
            if refusal.field != "supersedes":
                raise
            await self._put(op)

    async def _put(self, op: PutOp) -> None:
        former = await self._versions(op.namespace, op.key)
        if op.value is None:
            for one in former:
                await self._agent.forget(one.fact_id, reason=DELETED)
            return
        fact = item_fact(
            _SHELF,
            op.namespace,
            op.key,
            op.value,
            _searched(op),
            former[-1] if former else None,
        )
        if not former:
            await self._agent.remember(_SHELF.entry(op.namespace))
        # Two that were put at once by two processes both give way. Said again it is stored once.
        ended: list[str | None] = [one.fact_id for one in former]
        for fact_id in ended or [None]:
            await self._agent.remember(fact, supersedes=fact_id)

    async def _search(self, op: SearchOp) -> list[SearchItem]:
        found: list[Kept] = []
        for namespace in await self._directory():
            if namespace[: len(op.namespace_prefix)] == op.namespace_prefix:
                items = await self._items(namespace, ITEMS_MAX - len(found))
                found += (one for one in items if matches(one.value, op.filter))
        found.sort(key=lambda one: (one.updated_at, one.fact_id), reverse=True)
        scores: dict[str, float] = {}
        if op.query and op.query.strip():
            scores = await self._scores(op.query, [one.fact_id for one in found if one.is_searched])
            place = {fact_id: number for number, fact_id in enumerate(scores)}
            found.sort(key=lambda one: place.get(one.fact_id, len(place)))
        return [
            SearchItem(
                namespace=one.namespace,
                key=one.key,
                value=one.value,
                created_at=one.created_at,
                updated_at=one.updated_at,
                score=scores.get(one.fact_id),
            )
            for one in found[op.offset : op.offset + op.limit]
        ]

    async def _scores(self, query: str, ids: Sequence[str]) -> dict[str, float]:
        """Return the scores of what recall finds among some facts, best first.

        Of more than one question takes, the best of each part are asked about again.
        """
        while True:
            parts = [ids[start : start + IDS_MAX] for start in range(0, len(ids), IDS_MAX)]
            found = [await self._recalled(query, part) for part in parts]
            if len(parts) < 2:  # noqa: PLR2004 - the last question was about all that is left
                return found[0] if found else {}
            ids = [one for part in found for one in islice(part, LIMIT_MAX)]

    async def _recalled(self, query: str, ids: Sequence[str]) -> dict[str, float]:
        found = await self._agent.recall(query, kinds=("fact",), limit=LIMIT_MAX, ids=ids)
        asked = set(ids)
        scores: dict[str, float] = {}
        for hit in found.items:
            for one in (hit.id, *hit.folded):
                if one in asked:
                    scores.setdefault(one, hit.score)
        return scores

    async def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        below: dict[Namespace, list[Namespace]] = {}
        for namespace in await self._directory():
            if all(_fits(condition, namespace) for condition in op.match_conditions or ()):
                below.setdefault(namespace[: op.max_depth], []).append(namespace)
        found: list[Namespace] = []
        for shown in sorted(below):
            if len(found) >= op.offset + op.limit:
                break
            if await self._has_items(below[shown]):
                found.append(shown)
        return found[op.offset :]

    async def _has_items(self, namespaces: Iterable[Namespace]) -> bool:
        for namespace in namespaces:
            async for fact in self._live(_SHELF.subject(namespace), None, LOOK):
                if item_of(fact) is not None:
                    return True
        return False

    async def _directory(self) -> list[Namespace]:
        """Return the namespaces that there are, or were."""
        found = [namespace_of(fact) async for fact in self._live(_SHELF.directory, None, PAGE)]
        return sorted({one for one in found if one is not None})

    async def _items(self, namespace: Namespace, most: int) -> list[Kept]:
        """Return the items of a namespace as they were put last."""
        found: dict[str, Kept] = {}
        async for fact in self._live(_SHELF.subject(namespace), None, PAGE):
            kept = item_of(fact)
            if kept is None:
                continue
            if kept.key not in found or found[kept.key].age < kept.age:
                found[kept.key] = kept
            if len(found) > most:
                raise UsageError("namespace_prefix", "more", f"at most {ITEMS_MAX} items below it")
        return list(found.values())

    async def _versions(self, namespace: Namespace, key: str) -> list[Kept]:
        """Return what is live at an address, as a rule one; what was put last comes last."""
        subject, predicate = _SHELF.subject(namespace), predicate_of(key)
        found = [item_of(fact) async for fact in self._live(subject, predicate, PAGE)]
        return sorted((one for one in found if one is not None), key=lambda one: one.age)

    async def _live(self, subject: str, predicate: str | None, page: int) -> AsyncIterator[Fact]:
        """Yield the live facts at an address, of the agent's own graph, page by page."""
        behind: Place | None = None
        for _ in range(ITEMS_MAX):
            facts = await self._agent.knowledge.history(
                subject, predicate, limit=page, live_only=True, behind=behind
            )
            for fact in facts:
                if fact.graph_id == self._agent.graph_id:
                    yield fact
            if len(facts) < page:
                return
            behind = Place(facts[-1].recorded_at, facts[-1].id)
        raise UsageError("namespace", "more", f"at most {ITEMS_MAX} pages of facts at one address")


def memory_tools(agent: Agent) -> list[StructuredTool]:
    """Return the tools over an agent's memory, for ``ToolNode`` and ``bind_tools``.

    What they answer is JSON; what is refused is told to the model as the tool's error. Made in the
    event loop in which the agent lives.

    Args:
        agent: The agent, in process or on a server.

    Raises:
        UsageError: No event loop is running.
    """
    home = HomeLoop()
    return [_tool(spec, agent, home) for spec in agent_tools()]


class MemoryTool(StructuredTool):
    """A tool to which every argument is the model's, whatever its name is.

    LangChain's own takes some names for its own, such as ``self`` and ``config``: it drops them, or
    the run ends with a ``TypeError``.
    """

    def _run(self, /, *args: Any, **arguments: Any) -> Any:  # noqa: ANN401 - as LangChain says
        return self.func(*args, **arguments)  # type: ignore[misc]

    async def _arun(self, /, *args: Any, **arguments: Any) -> Any:  # noqa: ANN401 - as LangChain says
        return await self.coroutine(*args, **arguments)  # type: ignore[misc]


def _tool(spec: ToolSpec, agent: Agent, home: HomeLoop) -> StructuredTool:
    async def call(**arguments: Any) -> str:  # noqa: ANN401 - what a model says
        try:
            answer = await spec.call(agent, arguments)
        except EzraError as error:
            raise ToolException(error_line(error)) from error
        return answer.model_dump_json()

    def wait(**arguments: Any) -> str:  # noqa: ANN401 - what a model says
        return home.wait(lambda: call(**arguments), "await the tool's ainvoke")

    return MemoryTool(
        name=spec.name,
        description=spec.description,
        args_schema=spec.parameters,
        func=wait,
        coroutine=call,
        handle_tool_error=True,
        metadata={"effect": spec.effect},
    )


def _check(op: object) -> None:
    """Refuse an operation that cannot be done, before any is."""
    if not isinstance(op, GetOp | SearchOp | ListNamespacesOp | PutOp):
        raise UsageError("ops", type(op).__name__, "GetOp, SearchOp, ListNamespacesOp, PutOp")
    validate_op_namespace(op)
    if isinstance(op, GetOp | PutOp):
        check_address(op.namespace, op.key)
    if isinstance(op, PutOp) and op.value is not None:
        check_value(op.value)
        if op.ttl is not None:
            raise UsageError("ttl", op.ttl, "none: a graph's retention says what goes when")
    if isinstance(op, SearchOp | ListNamespacesOp):
        for name in ("limit", "offset"):
            if getattr(op, name) < 0:
                raise UsageError(name, getattr(op, name), "0 or more")
    if isinstance(op, SearchOp) and op.filter is not None:
        check_filter(op.filter)


def _searched(op: PutOp) -> list[str] | None:
    """Return the texts by which an item is found; ``None`` when it is not."""
    if op.index is False or op.value is None:
        return None
    if op.index is None:
        return [searched_text(op.value)]
    value: Any = dict(op.value)
    return [text for path in op.index for text in get_text_at_path(value, tokenize_path(path))]


def _fits(condition: MatchCondition, namespace: Namespace) -> bool:
    """Whether a namespace begins, or ends, with a path in which ``*`` stands for any label."""
    count = len(condition.path)
    if len(namespace) < count:
        return False
    if condition.match_type not in ("prefix", "suffix"):
        raise UsageError("match_type", condition.match_type, "prefix, suffix")
    part = (
        namespace[:count]
        if condition.match_type == "prefix"
        else namespace[len(namespace) - count :]
    )
    return all(asked in ("*", label) for asked, label in zip(condition.path, part, strict=True))


def _ordered(value: object, bound: object, is_so: Callable[[Any, Any], bool]) -> bool:
    """Compare two numbers, or two texts."""
    for sort in (int | float, str):
        if isinstance(value, sort) and isinstance(bound, sort):
            return not (isinstance(value, bool) or isinstance(bound, bool)) and is_so(value, bound)
    return False


_OPERATORS: Mapping[str, Callable[[object, object], bool]] = {
    "$eq": lambda value, bound: value == bound,
    "$ne": lambda value, bound: value != bound,
    "$gt": lambda value, bound: _ordered(value, bound, lambda one, two: one > two),
    "$gte": lambda value, bound: _ordered(value, bound, lambda one, two: one >= two),
    "$lt": lambda value, bound: _ordered(value, bound, lambda one, two: one < two),
    "$lte": lambda value, bound: _ordered(value, bound, lambda one, two: one <= two),
}


def check_filter(asked: object) -> None:
    """Refuse a filter that cannot be meant.

    Raises:
        UsageError: It is no mapping, or has an operator that there is not.
    """
    if not isinstance(asked, Mapping):
        raise UsageError("filter", type(asked).__name__, "a mapping")
    for condition in asked.values():
        if not isinstance(condition, Mapping):
            continue
        if not _compares(condition):
            check_filter(condition)
            continue
        unknown = sorted(str(name) for name in condition if name not in _OPERATORS)
        if unknown:
            raise UsageError("filter", unknown[0], ", ".join(_OPERATORS))


def matches(value: Mapping[str, Any], asked: Mapping[str, Any] | None) -> bool:
    """Whether a value meets every condition of a filter."""
    return all(_meets(value.get(name), condition) for name, condition in (asked or {}).items())


def _meets(value: object, condition: object) -> bool:
    if isinstance(condition, Mapping):
        if _compares(condition):
            return all(_OPERATORS[name](value, bound) for name, bound in condition.items())
        return isinstance(value, Mapping) and matches(value, condition)
    if isinstance(condition, list | tuple):
        return (
            isinstance(value, list | tuple)
            and len(value) == len(condition)
            and all(_meets(one, two) for one, two in zip(value, condition, strict=True))
        )
    return value == condition


def _compares(condition: Mapping[Any, Any]) -> bool:
    return any(isinstance(name, str) and name.startswith("$") for name in condition)
