"""What a caller of recall asks for, checked before anything is read, and what is asked for it.

A ``Search`` holds what is known so far, and what the engines are asked of the own graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, TypeAlias, TypedDict, TypeVar, get_args
from zoneinfo import ZoneInfo

from pydantic import BeforeValidator, Field, JsonValue

from tiers.errors import UsageError, check_at_most, check_whole
from tiers.lexical import is_blank
from tiers.moments import local
from tiers.recollection import WordStatistics
from tiers.records import ALL_TOPICS_MAX, IDS_MAX, Grain, Kind, Scope, SearchMode, SearchQuery, Turn

from ..checks import checked, narrowing_topics
from ..ranking.cues import Cues
from ..ranking.pool import Pool
from ..ranking.priors import ScopeClass
from ..ranking.scoring import Scored
from ..ranking.times import between
from ..recaller import Degradation, QuestionVector
from ..runtime import Runtime

_T = TypeVar("_T")

LIMIT_MAX = 100
DAYS_MAX = 36_500
_FIRST_DAY = 3  # of the calendar in which every time zone has a day before
TOKENS_MAX = 1_000_000
DEPTH_MAX = 4
KINDS: tuple[Kind, ...] = get_args(Kind)
KIND_ALIASES: Mapping[str, Kind] = {"chat_message": "turn", "document_chunk": "document"}
"""What platforms call kinds that have another name here."""
_KINDS_TOLD = ", ".join((*KINDS, *KIND_ALIASES))
GRAINS: tuple[Grain, ...] = get_args(Grain)

ScopeName: TypeAlias = Literal["session", "tenant", "user", "agent", "any"]
SCOPES: tuple[ScopeName, ...] = get_args(ScopeName)
ModeName: TypeAlias = Literal["hybrid", "keyword", "semantic"]
MODES: dict[ModeName, SearchMode] = {"hybrid": "hybrid", "keyword": "words", "semantic": "dense"}


class Narrowing(TypedDict, total=False):
    """What else may be said to recall; everything is optional.

    Attributes:
        mode: ``hybrid``, ``keyword`` (words alone) or ``semantic`` (meaning alone).
        grains: Of episodes only these: ``daily``, ``weekly``, …
        min_days_ago: Only what happened at least so many calendar days ago; 0 is today.
        max_days_ago: Only what happened at most so many calendar days ago.
        topics: Only records with one of these topics, ``*`` being any; they never widen what is
            visible.
        all_topics: Only records with every one of these topics, 16 at most.
        ids: Only these records of the own graph, 1,000 at most; empty restricts nothing.
        token_budget: The most tokens of all answers' texts together, estimated.
        depth: How many steps of the knowledge graph are followed from what the question names,
            0 to 4; 1 if not given.
        explain: Whether to say of each answer why it is where it is.
        receipt: Whether to keep a receipt of what was seen.
        half_life_days: After so many days half of a score is left, after twice as many a third
            (``1 / (1 + age / half-life)``), instead of the slow decay of the settings. The age
            counts from when it happened, however often it was used.
    """

    mode: ModeName
    grains: Grains
    min_days_ago: DaysAgo
    max_days_ago: DaysAgo | None
    topics: Iterable[str] | None
    all_topics: Iterable[str] | None
    ids: Sequence[str]
    token_budget: TokenBudget | None
    depth: Annotated[int, Field(ge=0, le=DEPTH_MAX)]
    explain: bool
    receipt: bool
    half_life_days: float | None


@dataclass(frozen=True)
class RecallRequest:
    """A question to recall, with everything that narrows it."""

    text: str
    limit: int = 10
    kinds: tuple[Kind, ...] = KINDS
    scope_name: ScopeName = "any"
    as_of: datetime | None = None
    rerank: bool = True
    mode: ModeName = "hybrid"
    grains: tuple[Grain, ...] = ()
    min_days_ago: int = 0
    max_days_ago: int | None = None
    topics: tuple[str, ...] = ()
    all_topics: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    token_budget: int | None = None
    depth: int = 1
    explain: bool = False
    receipt: bool = False
    half_life_days: float | None = None

    @property
    def has_conditions(self) -> bool:
        """Whether a visible record of a wanted kind may still not be wanted, whatever it says."""
        is_dated = self.min_days_ago or self.max_days_ago is not None
        return bool(is_dated or self.topics or self.all_topics or self.ids)

    @property
    def is_narrowed(self) -> bool:
        """Whether a visible turn may still not be wanted, whatever it says."""
        return self.has_conditions or "turn" not in self.kinds

    def window(self, now: datetime, zone: ZoneInfo) -> tuple[datetime | None, datetime | None]:
        """Return from when and before when something must have happened.

        Days are calendar days of the zone, counted back from the day of ``now``.
        """
        today = local(now, zone).date()
        since = until = None
        if self.max_days_ago is not None:
            first = today - timedelta(days=self.max_days_ago)
            since = between(first, first, zone).since
        if self.min_days_ago:
            last = today - timedelta(days=self.min_days_ago - 1)
            until = between(last, last, zone).since
        return since, until


def request_of(
    text: str,
    *,
    limit: int,
    kinds: Sequence[Kind] | None,
    scope: str = "any",
    as_of: datetime | None,
    rerank: bool,
    more: Narrowing,
) -> RecallRequest:
    """Return what is asked, or raise ``UsageError`` for the first argument that is wrong."""
    unknown = sorted(set(more) - set(Narrowing.__annotations__))
    if unknown:
        raise UsageError(unknown[0], more.get(unknown[0]), ", ".join(Narrowing.__annotations__))
    asked = RecallRequest(
        text=text,
        limit=limit,
        kinds=checked_kinds(kinds),
        scope_name=_one_of("scope", scope, SCOPES),
        as_of=as_of,
        rerank=rerank,
        mode=_one_of("mode", more.get("mode", "hybrid"), tuple(MODES)),
        grains=checked_grains(more.get("grains", ())),
        min_days_ago=more.get("min_days_ago", 0),
        max_days_ago=more.get("max_days_ago"),
        topics=narrowing_topics("topics", more.get("topics"), every=False),
        all_topics=narrowing_topics("all_topics", more.get("all_topics"), every=True),
        ids=_ids(more.get("ids", ())),
        token_budget=more.get("token_budget"),
        depth=more.get("depth", 1),
        explain=more.get("explain", False),
        receipt=more.get("receipt", False),
        half_life_days=more.get("half_life_days"),
    )
    _check(asked)
    return asked


def arguments_of(request: RecallRequest) -> dict[str, JsonValue]:
    """Return what a receipt keeps of a request besides its text."""
    asked = {one.name: getattr(request, one.name) for one in fields(request)}
    as_of = None if request.as_of is None else request.as_of.isoformat()
    lists = {name: list(value) for name, value in asked.items() if isinstance(value, tuple)}
    return asked | lists | {"as_of": as_of, "text": None}


def request_again(text: str, arguments: Mapping[str, Any]) -> RecallRequest:
    """Return the request that a receipt tells of, explaining and keeping nothing."""
    known = {one.name for one in fields(RecallRequest)} - {"text", "explain", "receipt"}
    given = {name: value for name, value in arguments.items() if name in known}
    given |= {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
    if given.get("as_of"):
        given["as_of"] = datetime.fromisoformat(given["as_of"])
    return RecallRequest(text=text, **given)


def check_identity(request: RecallRequest, scope: Scope) -> None:
    """Refuse a scope class that needs somebody whom the handle does not name.

    Raises:
        UsageError: ``user`` without a user, ``agent`` without an agent.
    """
    if request.scope_name == "user" and scope.user_id is None:
        raise UsageError("scope", "user", "a handle whose agent was spawned with a user_id")
    if request.scope_name == "agent" and scope.agent_id is None:
        raise UsageError("scope", "agent", "the handle of an agent")


def wanted_classes(
    request: RecallRequest, weights: Mapping[ScopeClass, float]
) -> tuple[ScopeClass, ...]:
    """Return the scope classes that are asked: the one that is named, else all but of weight 0."""
    if request.scope_name != "any":
        return (request.scope_name,)
    classes: tuple[ScopeClass, ...] = get_args(ScopeClass)
    return tuple(one for one in classes if weights[one] > 0)


def checked_kinds(kinds: Sequence[Kind] | None) -> tuple[Kind, ...]:
    """Return the kinds to search, all if none are given.

    Raises:
        UsageError: There is no such kind, or the list is empty.
    """
    if kinds is None:
        return KINDS
    named = tuple(map(kind_named, _listed("kinds", kinds)))
    unknown = [one for one in named if one not in KINDS]  # which need be nothing with a hash
    if unknown or not named:
        first = [one for place, one in enumerate(unknown) if one not in unknown[:place]]
        raise UsageError("kinds", first or named, _KINDS_TOLD)
    return tuple(dict.fromkeys(named))


def checked_grains(grains: Sequence[Grain]) -> tuple[Grain, ...]:
    """Return grains, if each is one.

    Raises:
        UsageError: One is none.
    """
    return tuple(_one_of("grains", one, GRAINS) for one in _listed("grains", grains))


def _listed(name: str, given: Iterable[_T]) -> Sequence[_T]:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise UsageError(name, given, "a set, list or tuple")
    return tuple(given)


def kind_named(name: Any) -> Any:  # noqa: ANN401 - whatever a caller gave for a kind
    """Return the kind that a name stands for; the name itself where it is none."""
    return KIND_ALIASES.get(name, name) if isinstance(name, str) else name


def _kind(name: object) -> object:
    kind = kind_named(name)
    if kind not in KINDS:
        raise ValueError(_KINDS_TOLD)
    return kind


KINDS_NAMED_MAX = len(KINDS) + len(KIND_ALIASES)
KindNamed: TypeAlias = Annotated[Kind, BeforeValidator(_kind)]
"""A kind, or what platforms call it: ``chat_message``, ``document_chunk``."""

Answers: TypeAlias = Annotated[int, Field(ge=1, le=LIMIT_MAX)]

DaysAgo: TypeAlias = Annotated[int, Field(ge=0, le=DAYS_MAX)]

TokenBudget: TypeAlias = Annotated[int, Field(ge=1, le=TOKENS_MAX)]

Kinds: TypeAlias = Annotated[
    Sequence[KindNamed], Field(max_length=KINDS_NAMED_MAX), BeforeValidator(checked_kinds)
]

Grains: TypeAlias = Annotated[Sequence[Grain], BeforeValidator(checked_grains)]


def _check(asked: RecallRequest) -> None:
    if not _is_said(asked.text):
        raise UsageError("query", asked.text, "a question that is not blank")
    check_whole("limit", asked.limit, 1, LIMIT_MAX)
    check_whole("depth", asked.depth, 0, DEPTH_MAX)
    check_whole("min_days_ago", asked.min_days_ago, 0, DAYS_MAX)
    if asked.token_budget is not None:
        check_whole("token_budget", asked.token_budget, 1, TOKENS_MAX)
    check_at_most("all_topics", len(asked.all_topics), ALL_TOPICS_MAX)
    if asked.half_life_days is not None and not _is_span(asked.half_life_days):
        raise UsageError("half_life_days", asked.half_life_days, f"above 0, {DAYS_MAX} at most")
    if asked.max_days_ago is not None:
        check_whole("max_days_ago", asked.max_days_ago, asked.min_days_ago, DAYS_MAX)
    if asked.as_of is None:
        return
    if not _is_moment(asked.as_of):
        raise UsageError("as_of", asked.as_of, "a time with its zone")
    furthest = max(asked.min_days_ago, asked.max_days_ago or 0)
    if asked.as_of.toordinal() - furthest < _FIRST_DAY:
        raise UsageError("as_of", asked.as_of, f"a time with {furthest} days of calendar before it")


def _ids(given: object) -> tuple[str, ...]:
    """Return the ids of the records that a question is kept to, each once."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise UsageError("ids", given, "a list of ids")
    ids = tuple(dict.fromkeys(given))
    if not all(isinstance(one, str) and one and one.isprintable() for one in ids):
        raise UsageError("ids", ids, "a list of ids")
    check_at_most("ids", len(ids), IDS_MAX)
    return ids


def _is_said(given: object) -> bool:
    return isinstance(given, str) and not is_blank(given)


def _is_moment(given: object) -> bool:
    return isinstance(given, datetime) and given.tzinfo is not None


def _is_span(days: object) -> bool:
    return isinstance(days, int | float) and not isinstance(days, bool) and 0 < days <= DAYS_MAX


def _one_of(name: str, value: object, accepted: Sequence[_T]) -> _T:
    for one in accepted:
        if value == one:
            return one
    raise UsageError(name, value, ", ".join(map(str, accepted)))


WORD_CANDIDATES = 90
"""How many the leg of words brings. Measured: with 120 nothing more is found."""

CONVERSATION: tuple[Kind, ...] = ("turn", "tool_output", "summary", "episode", "belief")
STATEMENTS: tuple[Kind, ...] = ("fact", "rule")


@dataclass
class Search:
    """What one search knows so far.

    Attributes:
        runtime: What the runtime is made of.
        scope: Who asks.
        request: What is asked.
        now: When it is asked; the moment of ``as_of`` for a question to the past.
        state: Which tiers answered.
        pool: What was found.
        hot: Ids of turns in the asking agent's ring.
        leads: Own turns to look around, the best of each leg first.
        names: Names of the graph's speakers.
        cues: What the question says about its answer.
        vector: The question's vector, and whose it is.
        statistics: How rare the question's words are.
        scored: The pool, weighed.
    """

    runtime: Runtime
    scope: Scope
    request: RecallRequest
    now: datetime
    state: Degradation
    pool: Pool
    hot: dict[str, Turn] = field(default_factory=dict)
    leads: dict[str, None] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    cues: Cues = field(default_factory=Cues)
    vector: QuestionVector | None = None
    statistics: WordStatistics | None = None
    scored: Scored | None = None

    @property
    def classes(self) -> tuple[ScopeClass, ...]:
        """The scope classes that are asked."""
        return wanted_classes(self.request, self.runtime.settings.priors.class_weights)

    @property
    def asks_all_classes(self) -> bool:
        """Whether nothing is left out for its scope class."""
        return len(self.classes) == len(get_args(ScopeClass))

    @property
    def goes_by_words(self) -> bool:
        """Whether no meaning is compared."""
        return self.runtime.embedder is None or self.request.mode == "keyword"


def queries(search: Search) -> list[SearchQuery]:
    """Return what the engines are asked of the own graph: one query unless classes are left out.

    A class whose weight is 0 is not asked for, so that it takes nobody's place.
    """
    base, scope = everything(search), search.scope
    if search.asks_all_classes:
        return [base]
    asked = [_of_class(base, one, scope) for one in search.classes]
    if search.request.scope_name == "any" and "session" in search.classes:
        # Facts and rules that are neither the user's nor the agent's are the session's.
        asked.append(_narrowed(base, STATEMENTS))
    return [one for one in asked if one is not None and one.kinds]


def everything(search: Search) -> SearchQuery:
    """Return the query for all that is asked, whatever its scope class."""
    request = search.request
    since, until = request.window(search.now, search.runtime.settings.zone)
    return checked(
        SearchQuery,
        {"text": "query"},
        text=request.text,
        kinds=request.kinds,
        limit=max(WORD_CANDIDATES, request.limit),
        now=search.runtime.clock(),
        mode=MODES[request.mode],
        as_of=request.as_of,
        since=since,
        until=until,
        grains=request.grains,
        topics=request.topics,
        all_topics=request.all_topics,
        ids=request.ids,
    )


def _of_class(base: SearchQuery, one: ScopeClass, scope: Scope) -> SearchQuery | None:
    """Return the query for one scope class; ``None`` when the handle has no such identity."""
    owner = {"user": scope.user_id, "agent": scope.agent_id}.get(one, "")
    if owner is None:
        return None
    among = {"session": CONVERSATION, "tenant": ("document",)}.get(one, STATEMENTS)
    owners = {"user": {"user_id": owner}, "agent": {"writer_id": owner}}
    return _narrowed(base, among).model_copy(update=owners.get(one, {}))


def _narrowed(base: SearchQuery, among: Sequence[Kind]) -> SearchQuery:
    return base.model_copy(update={"kinds": tuple(kind for kind in base.kinds if kind in among)})
