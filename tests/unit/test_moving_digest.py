"""Moving: the ends that a command names, and digests of tables that say where they differ."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from support.cold_samples import belief_by, fact_by, graph_of
from support.tier_samples import NOW, entry_of, scope_of

from ezra.moving.addresses import ends_of, shown
from ezra.moving.digest import BUCKETS, Tally, bucket_of, name_of, prints_of, same_row
from tiers.errors import UsageError
from tiers.evidence import ChainedAudit
from tiers.records import (
    BeliefEvent,
    BeliefSpan,
    HistoricBelief,
    LoggedBelief,
    ProjectedBelief,
    Record,
    SignedHead,
    TrustRow,
)
from tiers.upkeep import FactUse, QueuedWork

# Digests of tables: what they see, what they do not, and where they look for what differs.

FACTS = [fact_by(text=f"Fact {number}.") for number in range(300)]


def tallied(rows: list[Record]) -> Tally:
    """Return the tally of rows."""
    tally = Tally()
    tally.add(prints_of(rows))
    return tally


def test_order_does_not_count() -> None:
    """Two stores may keep the same rows in different orders."""
    shuffled = Random(1).sample(FACTS, len(FACTS))
    assert tallied(shuffled) == tallied(list(FACTS))
    assert tallied(shuffled).count == 300
    assert len(tallied(shuffled).digest) == 64


@pytest.mark.parametrize(
    "rows",
    [
        FACTS[1:],
        [*FACTS, FACTS[0]],
        [*FACTS, FACTS[0], FACTS[0]],
        [FACTS[1], *FACTS[1:]],
        [FACTS[0].model_copy(update={"uses": 1}), *FACTS[1:]],
        [FACTS[0].model_copy(update={"recorded_at": NOW.replace(microsecond=1)}), *FACTS[1:]],
    ],
)
def test_every_row_counts_as_often_as_it_is_there(rows: list[Record]) -> None:
    """A row missing, doubled, or changed in any field changes the digest of its bucket only."""
    whole, other = tallied(list(FACTS)), tallied(rows)
    assert other.digest != whole.digest
    buckets = {bucket_of(one) for one in prints_of(FACTS[:2])}
    assert set(whole.differing(other)) <= buckets
    assert whole.differing(other)


def test_rows_are_spread_over_buckets() -> None:
    """What differs is looked for in few rows."""
    buckets = {bucket_of(one) for one in prints_of(FACTS)}
    assert len(buckets) > BUCKETS // 2


def test_vectors_count_bit_by_bit_and_are_the_same_up_to_a_millionth() -> None:
    """The digest sees the last bit; the comparison of two rows forgives it."""
    entry = entry_of(scope_of(), 1, vector=(0.6, 0.8, 0.0, 0.0))
    near = entry.model_copy(update={"vector": (0.6000001, 0.8, 0.0, 0.0)})
    far = entry.model_copy(update={"vector": (0.60001, 0.8, 0.0, 0.0)})
    none = entry.model_copy(update={"vector": None})
    other = entry.model_copy(update={"text": "other"})
    assert tallied([entry]).digest != tallied([near]).digest
    one, *rest = prints_of([entry, near, far, none, other])
    assert [same_row(one, row) for row in (one, *rest)] == [True, True, False, False, False]
    assert not same_row(one, None)


EVENT = {
    "id": "e", "tenant": "acme", "graph_id": "g", "seq": 2, "kind": "pinned", "belief_id": "b",
    "agent_id": "a", "recorded_at": NOW, "content_digest": "", "previous_hash": "", "hash": "",
    "turn": 3, "version": 2,
}  # fmt: skip
HEAD = {
    "tenant": "acme", "graph_id": "g", "size": 2, "last_hash": "", "root": "", "turn": 3,
    "signed_at": NOW, "public_key": "ab", "signature": "cd", "frontier": ("ef",),
}  # fmt: skip
BELIEF = HistoricBelief(**belief_by(claim="secret").model_dump(), committed_seq=1)
SPANS = (BeliefSpan(since_seq=1, until_seq=2), BeliefSpan(since_seq=2, pinned=True))


def test_rows_are_named_by_ids_alone() -> None:
    """Names are printed, so they hold no content."""
    event = ChainedAudit(
        seq=3, tenant="acme", graph_id="g", agent_id=None, kind="k", recorded_at=NOW
    )
    work = QueuedWork(
        graph_id="g",
        agent_id=None,
        kind="index",
        key="k",
        payload={"secret": 1},
        attempts=0,
        queued_at=NOW,
        due_at=NOW,
        parked=False,
        problem="secret",
    )
    assert [
        name_of(graph_of("g")),
        name_of(event),
        name_of(work),
        name_of(FactUse(graph_id="g", fact_id="f", cause="c", used_at=NOW)),
        name_of(ProjectedBelief(belief=BELIEF, spans=SPANS)),
        name_of(LoggedBelief(event=EVENT, salt="5a", content='"secret"')),
        name_of(TrustRow(graph_id="g", agent_id="a", topic="t", trust=0.5)),
        name_of(SignedHead(**HEAD)),
    ] == ["g", "g/3", "g/index/k", "g/f/c", f"race/{BELIEF.id}", "g/2", "g/a/t", "g/2/ab"]


def test_no_two_rows_have_one_name() -> None:
    """What hides behind a namesake would not be compared."""
    owners = [("g", "a/b", None), ("g/a", "b", None), ("g\\", "a/b", None), ("g", "a", "b")]
    owners += [("g", "a", None), ("g", "a", "None"), ("g", "a/None", None)]
    rows = [TrustRow(graph_id=g, agent_id=a, topic=t, trust=0.5) for g, a, t in owners]
    assert len({name_of(row) for row in rows}) == len(rows)


@pytest.mark.parametrize(
    ("row", "changes"),
    [
        (
            LoggedBelief(event=EVENT, salt="5a", content="{}"),
            [
                {"event": BeliefEvent(**{**EVENT, "turn": 4})},
                {"event": BeliefEvent(**{**EVENT, "version": 1})},
                {"salt": None, "content": None},
                {"content": "{ }"},
            ],
        ),
        (
            ProjectedBelief(belief=BELIEF, spans=SPANS),
            [
                {"spans": SPANS[:1]},
                {"spans": (SPANS[0], SPANS[1].model_copy(update={"pinned": False}))},
                {"belief": BELIEF.model_copy(update={"status": "reverted", "ended_seq": 2})},
                {"belief": BELIEF.model_copy(update={"superseded_by": "b"})},
                {"belief": BELIEF.model_copy(update={"source_ids": ("s",)})},
            ],
        ),
        (TrustRow(graph_id="g", agent_id="a", topic=None, trust=0.5), [{"trust": 0.500001}]),
        (SignedHead(**HEAD), [{"signature": "ce"}, {"frontier": ()}, {"root": "1"}]),
    ],
    ids=lambda given: type(given).__name__,
)
def test_all_of_a_belief_and_its_history_counts(row: Record, changes: list[dict]) -> None:
    """One row that arrives otherwise than it left is a difference of that very row."""
    whole = tallied([row])
    for change in changes:
        other = tallied([row.model_copy(update=change)])
        assert whole.differing(other) == [bucket_of(prints_of([row])[0])]


# Which tiers a value of ``--from`` or ``--to`` names, and how it may be shown.

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
