"""What stands in the braces of a script: values drawn once each, roles, and dates of its turns.

* ``{tool}`` is the first value drawn for this script from its slot ``tool``, or from the lists that
  all scripts share; ``{tool.2}`` the second. ``{Tool}`` begins with a capital letter.
* A value ``db-1 = the replica`` is ``{host}`` and, in other words, ``{host_is}``.
* A list that begins with ``*`` holds things, not answers: other scripts may be about them too.
* ``{lead}`` is who plays that role.
* ``{date@3}`` is the date of turn 3, ``{date+5@3}`` five days later: ``date`` "14 May", ``day``
  "Thursday 14 May", ``weekday``, ``month``, ``iso`` "2026-05-14".
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from datetime import datetime, timedelta

_BLANK = re.compile(r"\{([A-Za-z_]+)(?:\.(\d))?([+-]\d+)?(?:@(\d+))?\}")
_CHOICE = re.compile(r"\[\[([^\[\]]*)\]\]")
_TRIES_MAX = 1_000


class Shelf:
    """The values of one conversation: each is handed out once.

    Args:
        shared: Lists that every script may draw from, by name.
        rng: Decides the order.
    """

    def __init__(self, shared: Mapping[str, tuple[str, ...]], rng: random.Random) -> None:
        self._shared = shared
        self._rng = rng
        self._left: dict[tuple[str, str], list[str]] = {}
        self._made: set[str] = set()

    def draw(self, script: str, name: str, own: Mapping[str, tuple[str, ...]]) -> str:
        """Return a value that nobody was given yet.

        Raises:
            ValueError: There is no such list, or nothing is left of it.
        """
        values = own.get(name) or self._shared.get(name)
        if values is None:
            raise ValueError(f"{script}: nothing is called {name}")
        if values[0].startswith("~"):
            return self._make(values)
        owner = script if name in own or values[0] == "*" else ""
        values = tuple(value for value in values if value != "*")
        left = self._left.setdefault((owner, name), self._rng.sample(values, len(values)))
        if not left:
            raise ValueError(f"{script}: no {name} is left")
        return left.pop()

    def _make(self, patterns: tuple[str, ...]) -> str:
        """Return a new identifier: ``#`` becomes a digit, ``%`` a hexadecimal digit."""
        for _ in range(_TRIES_MAX):
            pattern = self._rng.choice(patterns)[1:]
            # No zero in front: 07 would be stated by 7 for a reader, and by nothing for a search.
            made = re.sub(r"#", lambda _: str(self._rng.randint(1, 9)), pattern)
            made = re.sub(r"%", lambda _: self._rng.choice("0123456789abcdef"), made)
            if made not in self._made:
                self._made.add(made)
                return made
        raise ValueError(f"no identifier is left of {patterns[0]}")


class Slots:
    """The blanks of one playing of a script; the same blank is filled alike each time.

    Args:
        script: Its name.
        own: Its own lists.
        shelf: Where values come from.
        roles: Who plays which role.
        dates: When each turn happens.
        rng: Decides the choices inside wordings.
    """

    def __init__(
        self,
        script: str,
        own: Mapping[str, tuple[str, ...]],
        shelf: Shelf,
        roles: Mapping[str, str],
        dates: Mapping[int, datetime],
        rng: random.Random,
    ) -> None:
        self._script = script
        self._own = own
        self._shelf = shelf
        self._roles = roles
        self._dates = dates
        self._rng = rng
        self._drawn: dict[str, list[str]] = {}

    def fill(self, text: str) -> str:
        """Return the text with its choices made and its blanks filled."""
        while _CHOICE.search(text):
            text = _CHOICE.sub(lambda found: self._rng.choice(found[1].split("|")), text)
        return _BLANK.sub(self._value, text)

    def _value(self, blank: re.Match[str]) -> str:
        name, which, days, turn = blank.groups()
        if turn:
            return dated(name, self._dates[int(turn)] + timedelta(days=int(days or 0)))
        value = self._named(name.lower(), int(which or 1))
        return value[:1].upper() + value[1:] if name[0].isupper() else value

    def _named(self, name: str, which: int) -> str:
        if name in self._roles:
            return self._roles[name]
        name, in_other_words, _ = name.partition("_is")
        drawn = self._drawn.setdefault(name, [])
        while len(drawn) < which:
            drawn.append(self._shelf.draw(self._script, name, self._own))
        value, _, description = drawn[which - 1].partition(" = ")
        return description if in_other_words else value


def dated(form: str, at: datetime) -> str:
    """Return a moment in one of the forms of a date.

    Raises:
        ValueError: No such form.
    """
    forms = {
        "date": f"{at.day} {at:%B}",
        "day": f"{at:%A} {at.day} {at:%B}",
        "weekday": f"{at:%A}",
        "month": f"{at:%B}",
        "iso": f"{at:%Y-%m-%d}",
    }
    if form not in forms:
        raise ValueError(f"no form of a date: {form}")
    return forms[form]
