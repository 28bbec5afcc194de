"""Names and texts that careless engines trip over, and what looks like a given name."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from urllib.parse import quote

from tiers.records import ALL_TOPICS, NAME_CHARS_MAX, TOPICS_MAX

INJECTIONS = (
    '{"$ne": null}',
    '{"$gt": ""}',
    "$where: '1 == 1'",
    "' OR 1=1 --",
    "'; DROP TABLE facts; --",
    "') OR ('' = '",
    '") NEAR("',
    '" OR *',
    "words:zebra OR zebra*",
    "zebra) OR (tenant:*",
    '{"must": [], "should": [{"key": "tenant", "match": {"any": ["acme", "acm"]}}]}',
    '{"filter": {}, "with_payload": true}',
    "redis.call('FLUSHALL')",
    "*\r\n$7\r\nHGETALL\r\n",
    "]] return redis.call('KEYS', '*') --[[",
    "%(tenant)s {tenant} ${tenant} :tenant $own(f)",
    '["acme", "acm"]',
    "\x00\x1b[31m\u202e",
    ".*",
    "*",
    "%",
    "_",
    "\\",
    "zebra " * 400,
)
"""What is syntax somewhere, to be put into every string that is not a name."""

HOSTILE_NAMES = tuple(text.strip()[:NAME_CHARS_MAX] for text in INJECTIONS if text.isprintable())
"""Those of them that a name can be."""

SENTINELS = ("*", "@catalog", "NULL", "null", "None", "''", '""', "$own(t)", ":tenant", "0", "-1")
"""Names that mean something to ezra or to an engine."""

TENANTS = (
    "acme",
    "acm",
    "acme/race",
    "ACME",
    "\u0430cme",  # the first letter is Cyrillic
    "\uff41\uff43\uff4d\uff45",  # full width
    "acme%2Frace",
    "{acme}",
    "acme:race",
    "*",
    "NULL",
    "n" * NAME_CHARS_MAX,
    "n" * (NAME_CHARS_MAX - 1),
    "é",
    "e\u0301",
    '{"$ne": null}',
    "$own(t)",
    "acme\\",
    "ac_e",
    "acm%",
)
GRAPHS = (
    "race",
    "race/2",
    "rac",
    "Race",
    "r\u0430ce",
    "race%2F2",
    "race}:hot",
    "*",
    "@catalog",
    ":graph_id",
    "é",
    "e\u0301",
    "g" * NAME_CHARS_MAX,
    "' OR 1=1 --",
    "r.ce",
    "race\u034f",  # an invisible joiner that is printable
)
AGENTS = ("pit", "pit/1", "Pit", "p\u0456t", "}:hot", "pi", "*", "%7D:hot", "a" * NAME_CHARS_MAX)
USERS = ("ada", "ad", "Ada", "\u0430da", "NULL", "*", "ada/", "u" * NAME_CHARS_MAX)
TOPICS = ("tyres", "tyre", "t\u0443res", "\uff54\uff59\uff52\uff45\uff53", "null", "tyres/soft")
"""Pools to make worlds of; each begins with a plain name and what is most easily taken for it."""


def lookalikes(name: str) -> tuple[str, ...]:
    """Return other acceptable names that are easily taken for this one."""
    found = dict.fromkeys(
        one for one in _alike(name) if one != name and is_name(one) and one.strip() == one
    )
    return tuple(found)


def is_name(text: str) -> bool:
    """Whether a tenant, graph, agent or user can be called this."""
    return 0 < len(text) <= NAME_CHARS_MAX and text.isprintable()


def crowd_of_topics(topic: str) -> tuple[str, ...]:
    """Return as many topics as an agent may hold, none of them this one, many alike."""
    alike = [one for one in map(_folded, lookalikes(topic)) if one not in {topic, ALL_TOPICS}]
    filler = [f"{topic} {number}"[-NAME_CHARS_MAX:] for number in range(TOPICS_MAX)]
    return tuple(dict.fromkeys([*alike, *filler]))[:TOPICS_MAX]


def _folded(topic: str) -> str:
    return unicodedata.normalize("NFC", topic.strip().casefold())


def _alike(name: str) -> Iterator[str]:
    yield from (name[:-1], name[1:], f"{name}2", f"{name}/", f"{name}*", f"*{name}", f"{name} x")
    yield from (name.upper(), name.lower(), name.title(), name.swapcase())
    yield from (unicodedata.normalize(form, name) for form in ("NFC", "NFD", "NFKC", "NFKD"))
    yield from (quote(name, safe=""), quote(quote(name, safe=""), safe=""), f"%{ord(name[0]):02X}")
    yield from (
        name.replace("a", "\u0430"),
        name.replace("e", "\u0435"),
        name.replace("i", "\u0456"),
    )
    yield "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in name)
    yield from (f"{name}\u034f", f"{name}\ufe0f", f"\u115f{name}", f"{name}\u200d", f"{name}\u00a0")
    yield from (
        f"{{{name}}}",
        f"'{name}'",
        f'"{name}"',
        f"${name}",
        f":{name}",
        f"{name}\\",
        f"[{name}]",
    )
    yield from (f"^{name}$", f"{name[0]}%", f"{name[0]}*", f"{name[0]}.*", "_" * len(name))
    yield from SENTINELS
