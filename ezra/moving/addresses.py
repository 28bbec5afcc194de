"""The two ends of a move, as people name them: ``embedded``, and the URLs of servers. Pure.

A server is told by its scheme. What is not named stays embedded, in the folder of its end.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tiers.errors import UsageError

from ..settings import Settings

Tier = Literal["hot", "warm", "cold"]

EMBEDDED = "embedded"
FROM_ENVIRONMENT = "env:"
ACCEPTED = (
    "embedded, mongodb://…, mongodb+srv://…, http://…, https://…, redis://…, or env:NAME for a "
    "URL that is in the environment"
)

_TIERS: Mapping[str, Tier] = {
    "mongodb": "cold",
    "mongodb+srv": "cold",
    "http": "warm",
    "https": "warm",
    "redis": "hot",
    "rediss": "hot",
    "unix": "hot",
    "redis+sentinel": "hot",
    "redis+cluster": "hot",
}
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://.")
_HOSTS_AND_PATH = re.compile(r"[\w.,:\[\]-]+(?:/[\w./-]*)?")


@dataclass(frozen=True)
class Ends:
    """Where a move goes from and to.

    Attributes:
        source: Settings of the one end.
        target: Settings of the other.
        ledger: Where the move is written down if nobody says otherwise: beside the folder, under
            a name that is the same whenever the same two ends are named.
    """

    source: Settings
    target: Settings
    ledger: Path


def ends_of(
    source: Sequence[str],
    target: Sequence[str],
    home: Path | None,
    to_home: Path | None,
    environment: Mapping[str, str],
) -> Ends:
    """Return the two ends.

    Args:
        source: What ``--from`` was given: any number of values.
        target: What ``--to`` was given.
        home: Folder of what is embedded; that of the settings if not given.
        to_home: Folder of what is embedded at the target, if that is another one.
        environment: Where ``env:NAME`` is looked up.

    Raises:
        UsageError: A value is not accepted, or nothing would move.
    """
    one = _settings("--from", source, home, environment)
    other = _settings("--to", target, to_home or one.home, environment)
    if _stores_of(one) == _stores_of(other):
        reason = (
            "another place for the cold or the warm tier than --from; between two folders, give "
            "--to-home; the hot tier is a cache that needs no move: set EZRA_REDIS_URL"
        )
        raise UsageError("--to", " ".join(shown(value) for value in target), reason)
    if one.needs_home and not one.home.is_dir():
        raise UsageError("--home", str(one.home), "a folder that holds a memory")
    named = "\n".join(shown(place) for place in (*_stores_of(one), *_stores_of(other)))
    name = hashlib.sha256(named.encode()).hexdigest()[:12]
    folder = one.home.resolve()
    return Ends(one, other, folder.with_name(f"{folder.name}.move-{name}.json"))


def shown(url: str) -> str:
    """Return a place as it may be printed: scheme, hosts and path, no user, password or query.

    What cannot be taken apart with certainty is shown by its scheme alone, and what is neither a
    URL nor one of our own words not at all.
    """
    found = _SCHEME.match(url)
    if found is None:
        return url if url.startswith((EMBEDDED, FROM_ENVIRONMENT)) else "…"
    rest = url.split("://", 1)[1]
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if "@" in rest[len(authority) :]:
        # Nobody can tell whether that is still the password.
        return f"{found[1]}://…"
    place = re.split(r"[?#]", rest.rpartition("@")[2], maxsplit=1)[0]
    return f"{found[1]}://{place if _HOSTS_AND_PATH.fullmatch(place) else '…'}"


def _settings(
    option: str, values: Sequence[str], home: Path | None, environment: Mapping[str, str]
) -> Settings:
    urls: dict[Tier, str | None] = {"hot": None, "warm": None, "cold": None}
    for value in values:
        if value == EMBEDDED:
            continue
        url = _looked_up(option, value, environment)
        found = _SCHEME.match(url)
        tier = _TIERS.get(found[1].lower()) if found else None
        if tier is None:
            raise UsageError(option, shown(url), ACCEPTED)
        if urls[tier] is not None:
            raise UsageError(option, shown(url), f"one place for the {tier} tier")
        urls[tier] = url
    # Given even where there is none: variables of the environment speak of no end of a move.
    servers = {"redis_url": urls["hot"], "qdrant_url": urls["warm"], "mongodb_uri": urls["cold"]}
    return Settings(**servers) if home is None else Settings(**servers, home=home)


def _looked_up(option: str, value: str, environment: Mapping[str, str]) -> str:
    if not value.startswith(FROM_ENVIRONMENT):
        return value
    name = value.removeprefix(FROM_ENVIRONMENT)
    if not environment.get(name):
        raise UsageError(option, value, "a variable of the environment that holds a URL")
    return environment[name]


def _stores_of(settings: Settings) -> tuple[str, str]:
    """Return where the tiers that can move are. Secrets are among it: it is only compared."""
    home = f"embedded {settings.home.resolve()}"
    cold, warm = settings.mongodb_uri, settings.qdrant_url
    return (
        cold.get_secret_value() if cold else home,
        warm.get_secret_value() if warm else home,
    )
