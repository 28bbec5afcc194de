"""What a method of a handle may be called with, as its signature says it.

Numbers, texts, moments, lists, choices and functions are checked here, by the handle in process and
by the client of a server alike, so that both refuse the same in the same words. What else a method
asks of an argument it checks by itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeAlias,
    Union,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
)

from annotated_types import Ge, Le
from pydantic import AfterValidator, BeforeValidator

from tiers.errors import UsageError
from tiers.fields import Record, misordered

COUNT_MAX = 2**53 - 1
"""The greatest whole number that every reader of JSON holds exactly; every store takes it."""

_NAMED_CHARS_MAX = 4_096
"""What stands in an address is no longer; as escaped text a server takes it."""

_LISTS = (Iterable, Sequence, Collection, tuple)
_NO_LISTS = (str, bytes, bytearray, Mapping)
_PLAIN: Mapping[Any, str] = {
    bool: "true or false",
    str: "text",
    bytes: "bytes",
    Path: "a path",
}


@dataclass(frozen=True)
class _Form:
    """One form that an argument may have.

    Attributes:
        words: What is accepted.
        fits: Whether something has it.
        item: The form of what is listed, where it is a list and that can be told.
        most: How many characters or members it has at most, where that is said.
        has_fields: Whether it is a record, or what has the fields of one.
    """

    words: str
    fits: Callable[[object], bool]
    item: _Forms | None = None
    most: int | None = None
    has_fields: bool = False


_Forms: TypeAlias = tuple[_Form, ...]


def _is_turn(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= COUNT_MAX


_TURN = _Form("the number of a turn", _is_turn)
"""One of the points of a history, which knows whether it has such a turn."""

_BY_ORIGIN: Mapping[Any, _Form] = {
    Callable: _Form("a function", callable),
    Mapping: _Form("fields", lambda value: isinstance(value, Mapping), has_fields=True),
}

ENCODABLE = "text without lone surrogates"
"""What is accepted where half of a character was given: no store and no wire can carry it."""


def check_call(method: Callable[..., Any], given: Mapping[str, object]) -> None:
    """Refuse arguments that are not what the signature of a method says.

    Args:
        method: Which is called.
        given: Its arguments by name; those that it does not name are not looked at.

    Raises:
        UsageError: One of them is not, or is none of those that the method names.
    """
    forms, named = _forms_of(method), _named_of(method)
    for name, value in given.items():
        if named and name not in named:
            raise UsageError(name, value, f"one of {', '.join(named)}")
        if name in forms:
            _check(name, value, forms[name])
    begin, end = (given.get(name) if name in forms else None for name in ("since", "until"))
    if words := misordered(begin, end):
        raise UsageError("until", end, words)


def takes_fields(method: Callable[..., Any], name: str) -> bool:
    """Whether an argument of a method may be a record or have some: they say more of themselves."""
    forms = _forms_of(method).get(name, ())
    return any(one.has_fields for form in forms for one in (form, *(form.item or ())))


def as_kept(given: Mapping[str, object], names: Collection[str]) -> dict[str, Any]:
    """Return arguments with names spelled as they are kept: without white space around them.

    What is nothing else stays as it was given, and is refused as that.

    Args:
        given: Arguments by name.
        names: Which of them are names, or lists of some.
    """
    return {name: _spelled(one) if name in names else one for name, one in given.items()}


def _spelled(given: object) -> object:
    if isinstance(given, str):
        return given.strip() or given
    return [_spelled(one) for one in given] if isinstance(given, list | tuple) else given


def checked_name(field: str, given: object) -> str:
    """Return a name, or an id, as it is given, if it is one: a blank one leads nowhere.

    Raises:
        UsageError: It is none, or longer than any is.
    """
    if not isinstance(given, str) or not given:
        raise UsageError(field, given, "a name of at least one character")
    if given.isspace():
        raise UsageError(field, given, "a name that is not blank")
    if len(given) > _NAMED_CHARS_MAX:
        raise UsageError(field, given, f"a name of at most {_NAMED_CHARS_MAX:,} characters")
    check_encodable(field, given)
    return given


def check_encodable(field: str, given: str) -> None:
    """Refuse text that UTF-8 cannot carry.

    Raises:
        UsageError: Half of a surrogate pair is in it.
    """
    try:
        given.encode()
    except UnicodeEncodeError:
        raise UsageError(field, given, ENCODABLE) from None


def _check(field: str, value: object, forms: _Forms) -> None:
    found = next((one for one in forms if one.fits(value)), None)
    if found is None:
        *others, last = (one.words for one in forms if one.words)
        words = f"{', '.join(others)} or {last}" if others else last
        raise UsageError(field, value, words)
    is_long = found.most is not None and isinstance(value, Collection) and len(value) > found.most
    if isinstance(value, str):
        if is_long:
            raise UsageError(field, value, f"text of at most {found.most} characters")
        check_encodable(field, value)
    elif is_long and isinstance(value, Collection):
        raise UsageError(field, len(value), f"at most {found.most} of them")
    elif found.item is not None and isinstance(value, Collection):
        # Who can be read but once is read later.
        for number, one in enumerate(value):
            _check(f"{field}[{number}]", one, found.item)


@cache
def _forms_of(method: Callable[..., Any]) -> dict[str, _Forms]:
    """Return the forms of the parameters whose types can be told by looking at a value."""
    made = {name: _forms(hint) for name, hint in hints_of(method).items()}
    return {name: forms for name, forms in made.items() if forms}


@cache
def _named_of(method: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of what a method takes that unpacks some; of others Python itself knows."""
    hints = get_type_hints(method, include_extras=True).values()
    return tuple(hints_of(method)) if any(get_origin(one) is Unpack for one in hints) else ()


def hints_of(method: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of what a method takes, of each part of what it unpacks as well."""
    hints, found = get_type_hints(method, include_extras=True), {}
    for one in list(inspect.signature(method).parameters.values())[1:]:
        hint = hints[one.name]
        if one.kind is not one.VAR_KEYWORD:
            found[one.name] = hint
        elif get_origin(hint) is Unpack:
            found |= get_type_hints(get_args(hint)[0], include_extras=True)
    return found


def _forms(hint: Any, bounds: tuple[Any, ...] = ()) -> _Forms:  # noqa: ANN401 - a type
    """Return the forms of a type; none where it takes more than can be told."""
    origin = get_origin(hint)
    if origin is Annotated:
        bare, *more = get_args(hint)
        is_made = any(isinstance(one, BeforeValidator | AfterValidator) for one in more)
        return () if is_made else _forms(bare, (*bounds, *more))
    if origin in (Union, UnionType):
        is_point = {int, datetime} <= set(get_args(hint))
        members = [
            (_TURN,) if is_point and one is int else _forms(one, bounds) for one in get_args(hint)
        ]
        return tuple(form for forms in members for form in forms) if all(members) else ()
    if origin is Literal:
        choices = get_args(hint)
        return (_Form(", ".join(choices), choices.__contains__),)
    if origin in _BY_ORIGIN:
        return (_BY_ORIGIN[origin],)
    if origin in _LISTS:
        item = _forms(get_args(hint)[0]) or None
        return (_Form("a set, list or tuple", _is_list, item, _most(bounds)),)
    return _plain(hint, bounds)


def _plain(hint: Any, bounds: tuple[Any, ...]) -> _Forms:  # noqa: ANN401 - a type
    if hint is NoneType:
        return (_Form("", lambda value: value is None),)
    if hint in (int, float):
        return (_number(hint, bounds),)
    if hint is datetime:
        return (_Form("a time with its zone", is_time),)
    if hint in _PLAIN:
        return (_Form(_PLAIN[hint], lambda value: isinstance(value, hint), most=_most(bounds)),)
    if isinstance(hint, type) and issubclass(hint, Record | tuple):
        article = "an" if hint.__name__[0] in "AEIOU" else "a"
        words = f"{article} {hint.__name__}"
        return (_Form(words, lambda value: isinstance(value, hint), has_fields=True),)
    return ()


def _number(kind: type, bounds: tuple[Any, ...]) -> _Form:
    """Return the form of a number within its bounds; a whole one is none below 0 if not said."""
    said = _flat(bounds)
    least = next((one.ge for one in said if isinstance(one, Ge)), 0 if kind is int else None)
    most = next((one.le for one in said if isinstance(one, Le)), None)
    kinds = (int,) if kind is int else (int, float)
    words = "a whole number" if kind is int else "a number"
    if least is not None and most is not None:
        words += f", {least:,} to {most:,}"
    elif least is not None:
        words += f" from {least:,}"
    top = COUNT_MAX if most is None and kind is int else most

    def fits(value: Any) -> bool:  # noqa: ANN401 - whatever was given
        is_one = isinstance(value, kinds) and not isinstance(value, bool)
        return is_one and (least is None or value >= least) and (top is None or value <= top)

    return _Form(words, fits)


def _most(bounds: tuple[Any, ...]) -> int | None:
    """Return how long something is at most, if that is said."""
    found = (getattr(one, "max_length", None) for one in (*bounds, *_flat(bounds)))
    return next((one for one in found if one is not None), None)


def _flat(bounds: tuple[Any, ...]) -> list[Any]:
    """Return bounds one by one; pydantic keeps those of a field together."""
    return [part for one in bounds for part in getattr(one, "metadata", (one,))]


def _is_list(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, _NO_LISTS)


def is_time(value: object) -> bool:
    """Whether something is a moment that says in which zone it is."""
    return isinstance(value, datetime) and not _is_zoneless(value)


def _is_zoneless(value: object) -> bool:
    return isinstance(value, datetime) and value.tzinfo is None
