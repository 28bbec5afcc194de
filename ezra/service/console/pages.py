"""Which pages the console has: each a function of what is asked, named by its address.

A page asks handles and returns a ``View``. What it may show was checked before it is called, from
the names in its path; a page that is given ``needs=None`` checks by ``caller.check`` itself. Its
parameters say what it is given, see ``Taking``; what is asked beside the path is a ``Query``.

The names, numbers and times that forms and addresses say are read here for all pages.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property, partial, wraps
from types import UnionType
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin
from urllib.parse import quote, unquote, urlencode

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)

from tiers.errors import UsageError
from tiers.fields import NAME_CHARS_MAX, Misfit

from ...wire import Need
from ...wire.operation import Time
from ..caller import Caller
from ..taking import Names, Taking, types_of

PREFIX = "/console"

_MANY = (tuple, list, frozenset)
_NAME = re.compile(r"{(\w+)}")

Verb: TypeAlias = Literal["GET", "POST"]


class Query(BaseModel):
    """Base of what a page is asked beside its path; blank fields of a form count as not given."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    @classmethod
    def of(cls, fields: Iterable[tuple[str, str]]) -> Any:  # noqa: ANN401 - whichever it is called on
        """Return what a query string or a form asks; a ``tuple`` field takes every value.

        Raises:
            UsageError: A value is not acceptable.
        """
        given: dict[str, list[str]] = {}
        for name, value in fields:
            if value.strip():
                given.setdefault(name, []).append(value)
        known = {name: one.annotation for name, one in cls.model_fields.items() if name in given}
        values = {
            name: given[name] if _takes_many(annotation) else given[name][-1]
            for name, annotation in known.items()
        }
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            first = Misfit.first_of(error)
            where = str(first.place[0]) if first.place else "query"
            shown = ", ".join(given.get(where, ()))
            raise UsageError(where, shown, first.accepted) from None


@dataclass(frozen=True)
class View:
    """What a page shows.

    Attributes:
        template: The file under ``templates/``. One that does not extend ``base.html`` is a
            fragment.
        values: What it is made of; records as handles return them.
        title: Of the page; for a fragment it does not matter.
        status: Of the answer.
        later: Gives a fragment that takes its time. The page is shown up to ``{{ later }}`` in its
            template before that is asked for, and the rest behind it.
    """

    template: str
    values: Mapping[str, object] = field(default_factory=dict)
    title: str = ""
    status: int = 200
    later: Callable[[], Awaitable[View]] | None = None


@dataclass(frozen=True)
class Sent:
    """Where an action leads: the browser is sent there by ``GET``.

    Attributes:
        to: The address, as ``href`` makes it.
    """

    to: str


Answering: TypeAlias = Callable[..., Awaitable[View | Sent]]
_F = TypeVar("_F", bound=Callable[..., Awaitable[Any]])
_T = TypeVar("_T")


@dataclass(frozen=True)
class Page:
    """One page, fragment or action.

    Attributes:
        path: Below ``/console``, with names in braces.
        verb: ``GET`` for pages and fragments, ``POST`` for actions.
        needs: What the caller has to be allowed; ``None`` when the function checks.
        asks: What is parsed from the query string, or from the form.
        function: Answers, called with what it takes.
        label: Its name in the navigation; ``None`` keeps it out.
        key: The letter that leads there after ``g``.
        only_asks: Whether an action changes nothing, so that it can be asked again.
    """

    path: str
    verb: Verb
    needs: Need | None
    asks: type[Query]
    function: Answering
    label: str | None = None
    key: str | None = None
    only_asks: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names in its path, in order."""
        return tuple(_NAME.findall(self.path))

    @cached_property
    def answer(self) -> Taking:
        """What it shows, or where it leads: called with pool, caller, names and what is asked.

        Raises:
            TypeError: Its function takes what the page does not give.
        """
        return Taking(self.function, self.names, self.asks)

    def check(self, caller: Caller, names: Names) -> None:
        """Refuse what the caller's token does not cover; nothing was read.

        Raises:
            PolicyDenied: It does not.
        """
        if self.needs is not None:
            does = "open" if self.verb == "GET" else "post to"
            operation = f"{does} {PREFIX}{self.path}"
            caller.check(self.needs, operation, names.get("graph_id"), names.get("agent_id"))

    def is_for(self, caller: Caller, names: Names) -> bool:
        """Return whether a caller may open it."""
        if self.needs is None:
            return True
        return caller.may(self.needs, names.get("graph_id"), names.get("agent_id"))

    def address(self, names: Names) -> str:
        """Return where it is for these names."""
        return PREFIX + _NAME.sub(lambda found: named(names[found[1]]), self.path).rstrip("/")


class Pages:
    """The pages of the console, in the order in which the navigation shows them."""

    def __init__(self) -> None:
        self._pages: dict[tuple[Verb, str], Page] = {}

    def page(
        self,
        path: str,
        *,
        needs: Need | None,
        label: str | None = None,
        key: str | None = None,
    ) -> Callable[[_F], _F]:
        """Register the decorated function for a page or a fragment.

        Args:
            path: Below ``/console``: ``/graphs/{graph_id}/beliefs``.
            needs: What the caller has to be allowed about the graph and the agent of the path.
            label: Puts it into the navigation: of the console when its path has no name, of the
                graph when it has ``graph_id`` alone, of the agent with ``agent_id`` as well.
            key: A letter that leads there after ``g``; each once.
        """
        return self._register(partial(Page, path, "GET", needs, label=label, key=key))

    def rows(self, path: str, template: str) -> Callable[[_F], _F]:
        """Register what the decorated page shows once more, drawn as a fragment: its next rows.

        Args:
            path: Of the fragment.
            template: Of the fragment.
        """

        def register(function: _F) -> _F:
            page = next(one for one in self if one.function is function)

            @wraps(function)
            async def fragment(**taken: Any) -> View:  # noqa: ANN401 - as the page is asked
                view: View = await function(**taken)
                return replace(view, template=template)

            made = partial(replace, page, path=path, label=None, key=None)
            self._register(made)(fragment)
            return function

        return register

    def action(self, path: str, *, needs: Need | None) -> Callable[[_F], _F]:
        """Register the decorated function for a form that is sent by ``POST``.

        Its form holds ``csrf_field()`` of ``macros.html``, which is checked before it is called.
        """
        return self._register(partial(Page, path, "POST", needs))

    def question(self, path: str, *, needs: Need | None) -> Callable[[_F], _F]:
        """Register the decorated function for a form that changes nothing: a question.

        As an action; but the browser is sent to an address of the page of this path, where the
        question is answered. So one can go back to the answer, and load it again.
        """
        return self._register(partial(Page, path, "POST", needs, only_asks=True))

    def question_at(self, path: str) -> Page | None:
        """Return what answers the questions of a page; ``None`` where none are asked."""
        found = self._pages.get(("POST", path))
        return found if found is not None and found.only_asks else None

    def __iter__(self) -> Iterator[Page]:
        return iter(self._pages.values())

    def arrange(self, *modules: str) -> None:
        """Show pages in the order of the modules that they are in; others come last."""
        place = {name: index for index, name in enumerate(modules)}
        ordered = sorted(
            self._pages.items(),
            key=lambda item: place.get(item[1].function.__module__, len(place)),
        )
        self._pages = dict(ordered)

    def labelled(self, *names: str) -> tuple[Page, ...]:
        """Return the pages of the navigation whose path has exactly these names."""
        return tuple(page for page in self if page.label is not None and page.names == names)

    def _register(self, made: Callable[..., Page]) -> Callable[[_F], _F]:
        def register(function: _F) -> _F:
            asks = next((one for one in types_of(function).values() if _is_query(one)), Query)
            page = made(function=function, asks=asks)
            _ = page.answer  # what it takes is checked at once
            if (page.verb, page.path) in self._pages:
                raise ValueError(f"{page.verb} {page.path} is there twice")
            if page.key is not None and any(one.key == page.key for one in self):
                raise ValueError(f"the key {page.key!r} leads to two pages")
            self._pages[page.verb, page.path] = page
            return function

        return register


def href(*parts: str | int, **query: object) -> str:
    """Return the address of a page, each part one name: ``href("graphs", graph_id, "beliefs")``.

    What the query holds as ``None`` or empty is left out; of a sequence each value is said.
    """
    path = "/".join((PREFIX, *(named(str(part)) for part in parts)))
    parameters = {name: value for name, value in query.items() if value not in (None, "", ())}
    return f"{path}?{urlencode(parameters, doseq=True)}" if parameters else path


def further(
    page: Sequence[str], rows: Sequence[str], position: Mapping[str, object] | None
) -> tuple[str, str] | None:
    """Return where a list goes on: the page from there on, and the next rows alone.

    Args:
        page: The parts of the address of the page.
        rows: Those of the fragment that has the next rows.
        position: What both say to go on; ``None`` at the end of the list.
    """
    return None if position is None else (href(*page, **position), href(*rows, **position))


def paged(
    found: Sequence[_T],
    most: int,
    page: Sequence[str],
    rows: Sequence[str],
    behind: Callable[[_T], Mapping[str, object]],
) -> dict[str, object]:
    """Return the ``rows`` that a page of a list shows, and ``more``: where it goes on, if it does.

    Args:
        found: One more than are shown tells that there is a further page.
        most: So many are shown.
        page: As ``further`` takes it.
        rows: Likewise.
        behind: Returns what an address says to go on behind a row.
    """
    shown = found[:most]
    position = behind(shown[-1]) if len(found) > most else None
    return {"rows": shown, "more": further(page, rows, position)}


def named(name: str) -> str:
    """Return a name as one part of a path.

    A browser takes ``.`` and ``..`` for steps, even escaped, so these are told by a tilde.
    """
    is_step = name in (".", "..") or name.startswith("~")
    return quote(f"~{name}" if is_step else name, safe="")


def name_of(part: str) -> str:
    """Return the name that a part of a path says; the other way round of ``named``."""
    name = unquote(part)
    return name.removeprefix("~")


def _is_query(hint: Any) -> bool:  # noqa: ANN401 - annotations have no type
    return isinstance(hint, type) and issubclass(hint, Query)


def _takes_many(annotation: Any) -> bool:  # noqa: ANN401 - annotations have no type
    if get_origin(annotation) in (Union, UnionType):
        return any(_takes_many(one) for one in get_args(annotation))
    return get_origin(annotation) in _MANY or annotation in _MANY


pages = Pages()


LATEST = 2**53 - 1
"""Behind the last event of every feed, and the last turn: browsers count no further."""

Word: TypeAlias = Annotated[
    str, StringConstraints(max_length=NAME_CHARS_MAX, strip_whitespace=True)
]
Name: TypeAlias = Annotated[Word, StringConstraints(min_length=1)]
Count: TypeAlias = Annotated[int, Field(ge=0, le=LATEST)]
Number: TypeAlias = Annotated[int, Field(ge=1, le=LATEST)]


def _zoned(value: object) -> object:
    """Return a time without a zone, as ``datetime-local`` sends it, as one of UTC."""
    if not isinstance(value, str):
        return value
    try:
        has_zone = datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return value
    return value if has_zone else f"{value}+00:00"


FormTime: TypeAlias = Annotated[Time, BeforeValidator(_zoned)]
"""A moment; UTC where the form says no zone."""
