"""Operations derived from the methods of handles that offer themselves.

What is asked is a model of the method's parameters, what is answered its return type, and its
docstring says both in words. Where a method takes any list, a list comes over the wire; a moment
comes with its zone; a whole number is one that every reader of JSON holds.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, reduce
from operator import or_
from types import UnionType
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin, get_type_hints

from pydantic import BeforeValidator, Field, Strict, TypeAdapter, create_model

from ..arguments import COUNT_MAX
from ..operations import ForModel, InPath, Kept, Need, Offer, Sent, argument_words, offer_of
from .operation import (
    LISTED,
    ONE_OR_MORE,
    Asked,
    Count,
    Nothing,
    Operation,
    Point,
    PointInQuery,
    Time,
    whole,
)

Method: TypeAlias = Callable[..., Any]

_LISTS = (Iterable, Sequence)
_TYPED = (int, float, bool)
_PLAIN: Mapping[Any, Any] = {int: Count, datetime: Time}


@dataclass(frozen=True)
class Handle:
    """A handle as the doors know it.

    Attributes:
        name: ``agent.board``: how to come by it, and how its operations are called.
        path: Under which its operations are, with the names of graph and agent in braces.
        kind: Its class.
        reads: What somebody must be allowed who reads by it.
        changes: What somebody must be allowed who changes something by it.
        asks: What is asked, by method, where that is not what the method's parameters say.
        answers: What is answered, by method, where one returns or changes what a handle shows.
    """

    name: str
    path: str
    kind: type
    reads: Need
    changes: Need
    asks: Mapping[str, type[Asked]] = field(default_factory=dict)
    answers: Mapping[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The names in its path: none, that of a graph, or those of a graph and an agent."""
        return tuple(re.findall(r"\{(\w+)\}", self.path))

    @property
    def attributes(self) -> tuple[str, ...]:
        """Where it is, from the agent, graph, catalog or tenant of its path on."""
        holder, *attributes = self.name.split(".")
        if holder == "beliefs":  # a graph's, though their operations do not say so
            return (holder,)
        return tuple(attributes)

    @cached_property
    def offered(self) -> dict[str, Offered]:
        """What it offers, by the name of the method, in the order in which it is written."""
        found = {}
        for kind in reversed(self.kind.__mro__):
            for name, method in vars(kind).items():
                offer = offer_of(method)
                if offer is not None:
                    found[name] = Offered(self, name, method, offer)
        return found


@dataclass(frozen=True)
class Offered:
    """One method of a handle as an operation.

    Attributes:
        handle: Whose.
        method_name: What it is called there.
        method: As the class has it.
        offer: How it is asked for.
    """

    handle: Handle
    method_name: str
    method: Method
    offer: Offer

    @cached_property
    def signature(self) -> inspect.Signature:
        """The method's own, ``self`` first."""
        return inspect.signature(self.method)

    @cached_property
    def hints(self) -> dict[str, Any]:
        """The types of its parameters and of what it returns, with their bounds."""
        return get_type_hints(self.method, include_extras=True)

    @property
    def words(self) -> dict[str, str]:
        """What its docstring says of each parameter."""
        return argument_words(self.method)

    @property
    def summary(self) -> str:
        """What its docstring says first."""
        lines = (inspect.getdoc(self.method) or "").splitlines()
        return " ".join(lines[: lines.index("")] if "" in lines else lines)

    @cached_property
    def operation(self) -> Operation[Any, Any]:
        """The operation; made when it is first asked for, since models take their time."""
        handle, offer = self.handle, self.offer
        return Operation(
            offer.name or f"{handle.name}.{self.method_name}",
            offer.verb,
            handle.path + offer.path,
            handle.asks.get(self.method_name) or self._asks(),
            TypeAdapter(handle.answers.get(self.method_name, self.hints["return"])),
            offer.needs or (handle.changes if offer.changes else handle.reads),
            self.summary,
            repeats=offer.repeats,
        )

    @cached_property
    def in_path(self) -> dict[str, str]:
        """The parameters that stand in the path: under which name, by the parameter."""
        parts = re.findall(r"\{(\w+)\}", self.offer.path)
        named = {
            one.name: parameter
            for parameter, hint in self.hints.items()
            for one in getattr(hint, "__metadata__", ())
            if isinstance(one, InPath)
        }
        return {named.get(part, part): part for part in parts}

    def _asks(self) -> type[Asked]:
        fields: dict[str, Any] = {}
        words = self.words
        in_query = self.offer.verb in ("GET", "DELETE")
        for name, parameter in list(self.signature.parameters.items())[1:]:
            if name in self.in_path or _stays_here(self.hints[name]):
                continue
            default = ... if parameter.default is inspect.Parameter.empty else parameter.default
            about = Field(default=default, description=words.get(name))
            fields[name] = (_as_sent(self.hints[name], in_query=in_query), about)
        if not fields:
            return Nothing
        title = "".join(part.title() for part in self.method_name.split("_"))
        made = create_model(
            f"{title}Asked",
            __base__=Asked,
            __doc__=self.summary,
            __module__=self.method.__module__,  # tells those of one name from each other
            **fields,
        )
        made.method = self.method
        return made


def _stays_here(hint: Any) -> bool:  # noqa: ANN401 - a type
    """Whether an argument is for whoever calls in process alone."""
    return Sent(None) in getattr(hint, "__metadata__", ())


def _as_sent(hint: Any, *, in_query: bool) -> Any:  # noqa: ANN401 - a type
    """Return the type that comes over the wire for what a method takes."""
    bare, bounds = _split(hint)
    less = [one.hint for one in bounds if isinstance(one, Sent)]
    if less:
        return _as_sent(less[0], in_query=in_query)
    if bare in _TYPED and not in_query:  # JSON has types; in a query string all is text
        bounds = (*bounds, Strict())
    if bare is int and any(one for one in bounds if not isinstance(one, Strict)):
        return Annotated[(int, Field(le=COUNT_MAX), *bounds, BeforeValidator(whole))]
    if get_origin(bare) in _LISTS:
        many = _many(_as_sent(get_args(bare)[0], in_query=in_query))
        return Annotated[(many, *bounds, LISTED)]
    made = _PLAIN.get(bare, bare)
    if get_origin(bare) in (Union, UnionType):
        made = _one_of(get_args(bare), in_query=in_query)
    return Annotated[(made, *bounds)] if bounds else made


def _one_of(members: tuple[Any, ...], *, in_query: bool) -> Any:  # noqa: ANN401 - a type
    """Return a union as it comes: a point in time is a number or a moment, each as it was meant.

    In a query string one value is a list of one.
    """
    kept: list[Any] = list(members)
    sent: list[Any] = []
    if int in kept and datetime in kept:
        kept = [one for one in kept if one not in (int, datetime)]
        sent = [PointInQuery if in_query else Point]
    for hint in tuple(kept) if in_query else ():
        bare, bounds = _split(hint)
        if get_origin(bare) in _LISTS and get_args(bare)[0] in kept:
            alone = get_args(bare)[0]
            kept = [one for one in kept if one not in (hint, alone)]
            sent.append(Annotated[(_many(alone), *bounds, ONE_OR_MORE)])
    sent += [_as_sent(one, in_query=in_query) for one in kept]
    return reduce(or_, sent)


def _many(one: Any) -> Any:  # noqa: ANN401 - types
    """Return the type of any number of something."""
    return tuple[one, ...]


def _split(hint: Any) -> tuple[Any, tuple[Any, ...]]:  # noqa: ANN401 - a type
    """Return a type without its bounds, and these; what a model is told is none."""
    if get_origin(hint) is not Annotated:
        return hint, ()
    bare, *bounds = get_args(hint)
    return bare, tuple(one for one in bounds if not isinstance(one, ForModel | Kept))
