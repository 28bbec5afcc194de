"""Which tiers a value of ``--from`` or ``--to`` names, and how it may be shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from ezra.moving.addresses import ends_of, shown
from tiers.errors import UsageError

MONGODB = "mongodb+srv://me:p%40ss@db.example/ezra?w=majority"
QDRANT = "https://qdrant.example:6333"
REDIS = "rediss://:secret@cache.example:6379/1"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder that is there."""
    folder = tmp_path / ".ezra"
    folder.mkdir()
    return folder


def test_tiers_are_told_by_scheme(home: Path) -> None:
    """What is not named stays embedded, whatever the environment says."""
    ends = ends_of(["embedded"], [REDIS, MONGODB, QDRANT], home, None, {})
    assert (ends.source.home, ends.source.mongodb_uri, ends.source.qdrant_url) == (home, None, None)
    assert ends.target.mongodb_uri is not None
    assert ends.target.mongodb_uri.get_secret_value() == MONGODB
    assert ends.target.qdrant_url is not None
    assert ends.target.qdrant_url.get_secret_value() == QDRANT
    assert ends.target.redis_url is not None
    assert ends.target.redis_url.get_secret_value() == REDIS


def test_an_end_is_not_filled_from_the_environment(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``embedded`` means embedded even where a runtime would use a server."""
    monkeypatch.setenv("EZRA_MONGODB_URI", MONGODB)
    ends = ends_of(["embedded"], [QDRANT], home, None, {})
    assert (ends.source.mongodb_uri, ends.target.mongodb_uri) == (None, None)


def test_a_url_may_be_in_the_environment(home: Path) -> None:
    """So that a password need not be on the command line, where everybody can read it."""
    ends = ends_of(["env:URL"], ["embedded"], home, None, {"URL": MONGODB})
    assert ends.source.mongodb_uri is not None
    assert ends.source.mongodb_uri.get_secret_value() == MONGODB


def test_the_target_may_have_a_folder_of_its_own(home: Path, tmp_path: Path) -> None:
    """``--to-home`` is where the target's embedded tiers are; without it, ``--home``."""
    other = tmp_path / "other"
    assert ends_of(["embedded"], ["embedded"], home, other, {}).target.home == other
    assert ends_of(["embedded"], [MONGODB], home, None, {}).target.home == home


def test_the_ledger_is_beside_the_folder_and_of_the_two_ends(home: Path, tmp_path: Path) -> None:
    """The same two ends have the same ledger, whatever the password; others have another."""
    ledger = ends_of(["embedded"], [MONGODB], home, None, {}).ledger
    again = ends_of(["embedded"], [MONGODB.replace("p%40ss", "new")], home, None, {}).ledger
    back = ends_of([MONGODB], ["embedded"], home, None, {}).ledger
    assert ledger == again
    assert ledger != back
    assert (ledger.parent, ledger.name[:11]) == (tmp_path.resolve(), ".ezra.move-")


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (["embedded"], ["embedded"]),
        (["embedded"], [REDIS]),
        ([MONGODB], [MONGODB]),
        (["embedded"], ["ftp://somewhere"]),
        (["embedded"], ["somewhere"]),
        (["embedded"], [""]),
        (["embedded"], ["env:NOTHING"]),
        (["embedded"], [QDRANT, "http://other"]),
    ],
)
def test_what_moves_nothing_or_is_no_place_is_refused(
    home: Path, source: list[str], target: list[str]
) -> None:
    """With what would be accepted."""
    with pytest.raises(UsageError):
        ends_of(source, target, home, None, {})


def test_a_source_folder_has_to_be_there(tmp_path: Path) -> None:
    """A mistyped folder is not made; one that is not needed is not asked for."""
    missing = tmp_path / "missing"
    with pytest.raises(UsageError, match="a folder that holds a memory"):
        ends_of(["embedded"], [MONGODB], missing, None, {})
    assert ends_of([MONGODB, QDRANT], ["embedded"], missing, None, {}).target.home == missing


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (MONGODB, "mongodb+srv://db.example/ezra"),
        (REDIS, "rediss://cache.example:6379/1"),
        ("mongodb://a:1,b:2/db?replicaSet=rs", "mongodb://a:1,b:2/db"),
        ("http://[::1]:6333", "http://[::1]:6333"),
        ("mongodb://me:p@w@host/db", "mongodb://host/db"),
        ("mongodb://me:p/w@host/db", "mongodb://…"),
        ("mongodb://me:p?w@host/db", "mongodb://…"),
        ("mongodb://me:p#w@host/db", "mongodb://…"),
        ("http://host/?key=a@secret", "http://…"),
        ("http://host/?key=secret", "http://host/"),
        ("http://ho st/secret", "http://…"),
        ("me:secret@host", "…"),
        ("embedded", "embedded"),
        ("env:URL", "env:URL"),
    ],
)
def test_what_is_shown_holds_no_secret(url: str, expected: str) -> None:
    """User, password and query are left out; what cannot be told apart is not shown at all."""
    assert shown(url) == expected
