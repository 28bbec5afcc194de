"""How what an application keeps under an address becomes a fact, and a fact becomes it again. Pure.

Of an item the fact's object is the whole, word for word; its text is what recall finds it by. Names
are compared without regard to case, underscores and white space, and addresses are not: what could
be taken for something else is written as bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from tiers.errors import UsageError
from tiers.knowledge import KEPT
from tiers.records import TEXT_CHARS_MAX, Fact

from ..checks import checked

Namespace: TypeAlias = tuple[str, ...]

ADDRESS_CHARS_MAX = 2_000
VALUE_CHARS_MAX = TEXT_CHARS_MAX - 10 * ADDRESS_CHARS_MAX
"""Of JSON; what stays of a fact's text is for the address, whose characters take up to six."""

DEPTH_MAX = 100
SEARCHED_CHARS_MAX = 4_000
"""So much of a value is found by its words; models for embeddings read less."""

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-.")
_DIGEST_CHARS = 12
_ESCAPED = re.compile(r"\\(?:[^u]|u[0-9a-f]{4})")
_KEPT_ESCAPED = ('\\"', "\\\\")


@dataclass(frozen=True)
class Shelf:
    """The addresses of one application's items.

    Attributes:
        name: The application's; of lower-case letters.
    """

    name: str

    @property
    def directory(self) -> str:
        """The subject of the facts that say which namespaces there are."""
        return f"{KEPT}{self.name}"

    def subject(self, namespace: Namespace) -> str:
        """Return the subject of the items of a namespace."""
        return f"{self.directory}/{_path(namespace)}"

    def entry(self, namespace: Namespace) -> Fact:
        """Return the fact that says that there is a namespace.

        Its text is a digest: it is found by its address, and is no answer to any question.
        """
        predicate = f"namespace:{_path(namespace)}"
        document = json_text({"namespace": namespace})
        text = f"{self.directory} {_digest(predicate)}"
        return _fact(self.directory, predicate, document, text)


@dataclass(frozen=True)
class Kept:
    """An item as a fact keeps it.

    Attributes:
        fact_id: The fact.
        namespace: Where it is.
        key: Its name there.
        value: What it is.
        version: How often it was put since it was there, from 1.
        created_at: When it was put first.
        updated_at: When it was put last.
        is_searched: Whether a question may find it.
    """

    fact_id: str
    namespace: Namespace
    key: str
    value: dict[str, Any]
    version: int
    created_at: datetime
    updated_at: datetime
    is_searched: bool

    @property
    def age(self) -> tuple[int, datetime, str]:
        """What versions are ordered by: of two that were put at once the later one counts."""
        return (self.version, self.updated_at, self.fact_id)


def predicate_of(key: str) -> str:
    """Return the predicate of an item in its namespace."""
    return f"item:{_escaped(key)}"


def item_fact(
    shelf: Shelf,
    namespace: Namespace,
    key: str,
    value: Mapping[str, Any],
    searched: Iterable[str] | None,
    former: Kept | None,
) -> Fact:
    """Return the fact that keeps an item from now on.

    Args:
        shelf: Whose items they are.
        namespace: Where it is.
        key: Its name there.
        value: What it is; goes through JSON.
        searched: What it is found by; nothing but its address if ``None``.
        former: The item in whose place it comes.
    """
    document = json_text(
        {
            "namespace": list(namespace),
            "key": key,
            "value": dict(value),
            "version": 1 if former is None else former.version + 1,
            "created_at": None if former is None else former.created_at.isoformat(),
            "searched": searched is not None,
        }
    )
    subject, predicate = shelf.subject(namespace), predicate_of(key)
    about = " ".join(searched or ())[:SEARCHED_CHARS_MAX]
    # One text is one fact: the digest tells this version of this item from all others.
    text = f"{' / '.join((*namespace, key))}: {about} #{_digest(subject, predicate, document)}"
    return _fact(subject, predicate, document, text)


def searched_text(value: Mapping[str, Any]) -> str:
    """Return a whole value as text to be found by."""
    return json_text(dict(value))


def check_value(value: object) -> None:
    """Refuse a value that would not come back as it was; lists and tuples are one to JSON.

    Raises:
        UsageError: It is no mapping with text for keys, has what JSON has not, or is too long.
    """
    if not isinstance(value, Mapping):
        raise UsageError("value", type(value).__name__, "a mapping")
    level: list[object] = [value]
    for _ in range(DEPTH_MAX):
        level = [inner for one in level for inner in _inside(one)]
        if not level or len(level) > VALUE_CHARS_MAX:
            break
    if level:
        raise UsageError("value", "more", f"at most {DEPTH_MAX} levels, and what JSON can hold")
    length = len(json_text(dict(value)))
    if length > VALUE_CHARS_MAX:
        raise UsageError("value", length, f"at most {VALUE_CHARS_MAX} characters of JSON")


def check_address(namespace: Sequence[str], key: str = "") -> None:
    """Refuse an address that is too long, or that no store can keep.

    Raises:
        UsageError: It is.
    """
    length = sum(map(len, namespace)) + len(namespace) + len(key)
    if length > ADDRESS_CHARS_MAX:
        raise UsageError(
            "namespace", length, f"at most {ADDRESS_CHARS_MAX} characters with the key"
        )
    for name in (*namespace, key):
        _check_text("namespace", name)


def item_of(fact: Fact) -> Kept | None:
    """Return the item that a fact keeps; ``None`` when it keeps none."""
    document = _object(fact)
    namespace, key, value = document.get("namespace"), document.get("key"), document.get("value")
    version, created_at = document.get("version"), document.get("created_at")
    if not isinstance(key, str) or not isinstance(value, dict) or not isinstance(version, int):
        return None
    return Kept(
        fact_id=fact.id,
        namespace=_labels(namespace),
        key=key,
        value=value,
        version=version,
        created_at=_moment(created_at) or fact.recorded_at,
        updated_at=fact.recorded_at,
        is_searched=document.get("searched") is True,
    )


def namespace_of(fact: Fact) -> Namespace | None:
    """Return the namespace that an entry of the directory names; ``None`` when it is no entry."""
    document = _object(fact).get("namespace")
    return _labels(document) if isinstance(document, list) else None


def _fact(subject: str, predicate: str, document: str, text: str) -> Fact:
    return checked(Fact, subject=subject, predicate=predicate, object=document, text=text)


def _object(fact: Fact) -> dict[str, Any]:
    """Return what a fact's object says; nothing when somebody else wrote something else there."""
    try:
        document = json.loads(fact.object or "", strict=False)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _labels(given: object) -> Namespace:
    return tuple(map(str, given)) if isinstance(given, list) else ()


def _moment(text: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return moment if moment is not None and moment.tzinfo is not None else None


def _inside(one: object) -> Iterable[object]:
    """Return what is one level further in.

    Raises:
        UsageError: It is a text, or has a key, that no store can keep.
    """
    if isinstance(one, str):
        _check_text("value", one)
    if isinstance(one, Mapping):
        for name in one:
            _check_text("value", name)
        return one.values()
    return one if isinstance(one, list | tuple) else ()


def _check_text(field: str, text: object) -> None:
    if not isinstance(text, str):
        raise UsageError(field, type(text).__name__, "text for keys")
    if "\x00" in text or not _can_be_sent(text):
        raise UsageError(field, "a text", "without NUL characters and lone surrogates")


def encodable(text: str) -> str:
    """Return a text that UTF-8 can carry: a question mark stands for half of a character."""
    return text.encode(errors="replace").decode()


def _can_be_sent(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def json_text(value: object) -> str:
    """Return a value as JSON in which words stay words.

    Whoever looks for a name in it, to erase a person, finds it: nothing but quotes and backslashes
    is escaped. Line breaks stand as they are, so it is read with ``strict=False``.

    Raises:
        UsageError: The value is no JSON.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError("value", str(error), "what JSON can say") from error
    return _ESCAPED.sub(_unescaped, text)


def _unescaped(found: re.Match[str]) -> str:
    return found[0] if found[0] in _KEPT_ESCAPED else str(json.loads(f'"{found[0]}"'))


def _path(namespace: Namespace) -> str:
    return "/".join(map(_escaped, namespace))


def _escaped(name: str) -> str:
    """Return a name so that no other is spelled alike."""
    return "".join(
        one if one in _PLAIN else "".join(f"%{byte:02x}" for byte in one.encode()) for one in name
    )


def _digest(*parts: str) -> str:
    digest = hashlib.sha256("\n".join(parts).encode())
    return digest.hexdigest()[:_DIGEST_CHARS]
