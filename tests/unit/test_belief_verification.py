"""The offline verifier: what it accepts, what it says of what, and that nothing goes past it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from support.belief_exports import (
    FIRST_KEY,
    FOREIGN_KEY,
    SECOND_KEY,
    Sample,
    claiming,
    file_of,
    heads_of,
    joined,
    rechained,
    sample_in,
    told,
    write,
)
from support.memory_log import MemoryLog, long_log, settled

from tiers.beliefs import BeliefEvent, BranchPoint, LoggedBelief, SignedHead
from tiers.errors import UsageError
from tiers.history.chain import canonical, event_hash, stored_digest
from tiers.history.heads import check_head
from tiers.history.merkle import EMPTY_ROOT, root_of
from tiers.history.rotation import handed_over
from tiers.history.verification import LogVerifier, verify_export

PUBLIC = FIRST_KEY.public_hex


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """An export with everything that can be in one."""
    return sample_in(tmp_path_factory.mktemp("export"))


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """An export of another graph, made with the same keys."""
    return sample_in(tmp_path_factory.mktemp("foreign"), "other")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a file is put that is to be verified."""
    return tmp_path / "export.jsonl"


def test_an_untouched_export_is_accepted(sample: Sample, path: Path) -> None:
    """With the first key, the last, an anchor, or nothing; and it says what that rests on."""
    path.write_bytes(sample.data)
    events = [one.event for one in sample.entries]
    for public_key, anchor, signed, rests_on in (
        (None, None, False, "no public key was given: consistent in itself, signed by key "),
        (PUBLIC, None, True, "the whole file is signed by a trusted key"),
        (SECOND_KEY.public_hex, None, True, "the whole file is signed by a trusted key"),
        (PUBLIC, sample.heads[1], True, f"first {sample.heads[1].size} of {len(events)} events"),
        (None, sample.heads[-1], False, "are those of the anchor"),
    ):
        found = verify_export(path, public_key=public_key, anchor=anchor)
        assert told(found) == []
        assert (found.ok, found.signed) == (True, signed)
        assert rests_on in found.trust
        assert found.anchored_size == (anchor.size if anchor else 0)
        assert found.signed_size == (len(events) if signed else 0)
    assert (found.events, found.heads, found.redacted) == (len(events), 5, 2)
    assert found.destroyed == sum(one.content is None for one in sample.entries)
    assert (found.tenant, found.graph_id) == ("acme", "race")
    assert found.root == root_of(bytes.fromhex(one.hash) for one in events).hex()
    assert found.last_hash == events[-1].hash
    assert found.key_ids == (FIRST_KEY.key_id, SECOND_KEY.key_id)
    assert json.loads(json.dumps(found.as_json()))["ok"] is True


def test_an_export_of_a_former_form_is_accepted() -> None:
    """It is held against what its time knew: no turn of an event, no chain of heads, no audit."""
    former = Path(__file__).with_name("former_proof.jsonl")
    seal = json.loads(former.read_bytes().splitlines()[-1])["seal"]
    checked = verify_export(former, public_key=seal["public_key"])
    assert (told(checked), checked.events, checked.heads, checked.signed) == ([], 4, 1, True)


def test_an_event_of_a_former_form_has_no_turn_id(sample: Sample) -> None:
    """Its hash does not cover it: in a store anybody could have written one in."""
    checker = LogVerifier("acme", "race")
    checker.add_entries(changed(sample, 0, version=2, turn_id="x"))
    assert (
        told(checker.result())[0]
        == "event 1: its version has no turn_id, so nothing vouches for it"
    )


def test_a_head_of_a_former_form_has_none_of_the_newer_fields() -> None:
    """Its signature does not cover them."""
    line = Path(__file__).with_name("former_proof.jsonl").read_bytes().splitlines()[-2]
    head = SignedHead.model_validate(json.loads(line)["head"])
    assert check_head(head) is None
    for field, value in {"number": 1, "previous": "x", "audit_size": 1, "audit_hash": "x"}.items():
        problem = check_head(head.model_copy(update={field: value}))
        assert problem == f"its version has no {field}, so nothing vouches for it"


def test_an_export_without_keys_is_consistent_and_no_more(path: Path) -> None:
    """Nobody has signed it, so it is accepted only as long as nobody has to be trusted."""
    write(path, long_log(5))
    found = verify_export(path)
    assert (found.ok, found.signed, found.key_ids) == (True, False, ())
    assert "signed by nobody" in found.trust
    found = verify_export(path, public_key=PUBLIC)
    assert told(found)[0].endswith("whoever had the file could have written it anew")
    assert found.problems[0].line == len(path.read_bytes().splitlines())


def test_an_empty_log_and_a_branch_are_logs(path: Path) -> None:
    """A log may have no event yet, or begin at a head of another graph's log."""
    write(path, MemoryLog(), key=FIRST_KEY)
    found = verify_export(path, public_key=PUBLIC)
    assert (found.ok, found.events, found.root) == (True, 0, EMPTY_ROOT.hex())
    parent, branch = long_log(4), MemoryLog("branch")
    head = heads_of(parent.events, [3], lambda _: FIRST_KEY)[0]
    point = BranchPoint(
        graph_id="race", seq=3, last_hash=head.last_hash, root=head.root, turn=head.turn, head=head
    )
    adopted = [
        one.model_copy(update={"id": f"b-{one.id}", "graph_id": "branch", "origin_id": one.id})
        for one in parent.active()
    ]
    branch.adopt(point, adopted)
    branch.commit("own")
    write(path, branch, key=FIRST_KEY)
    assert told(verify_export(path, public_key=PUBLIC)) == []


def hashed(event: BeliefEvent, **changes: object) -> BeliefEvent:
    """Return an event with changes and the hash that they give."""
    event = event.model_copy(update=changes)
    return event.model_copy(update={"hash": event_hash(event)})


def saying(entry: LoggedBelief, **said: object) -> LoggedBelief:
    """Return an entry that says something else, with the digest of that."""
    content = canonical({**(entry.said or {}), **said}).decode()
    digest = stored_digest(bytes.fromhex(entry.salt or ""), content.encode())
    event = entry.event.model_copy(update={"content_digest": digest})
    return entry.model_copy(update={"content": content, "event": event})


def changed(sample: Sample, index: int, **changes: object) -> list[LoggedBelief]:
    """Return the entries with one event changed and the chain made anew from there."""
    entries = list(sample.entries)
    event = entries[index].event.model_copy(update=changes)
    entries[index] = entries[index].model_copy(update={"event": event})
    return rechained(entries, index)


def index_of(sample: Sample, kind: str, number: int = 0) -> int:
    """Return the index of an event of a kind that has its content."""
    kinds = [n for n, e in enumerate(sample.entries) if e.event.kind == kind and e.content]
    return kinds[number]


@pytest.mark.parametrize(
    ("kind", "changes", "problem"),
    [
        ("pinned", {"belief_id": "x"}, "it pinned a belief that was never committed"),
        ("superseded", {"kind": "restored"}, "it restored a belief that is active"),
        ("pinned", {"turn": -1}, "greater than or equal to 0"),
        ("trusted", {"turn": 0}, "its turn is before that of the event before"),
        ("trusted", {"version": 4}, "its version is not known here"),
        ("trusted", {"version": 1}, "its version is not known here"),
        ("trusted", {"graph_id": "x"}, "it is of another log: that of 'x' of 'acme'"),
        ("trusted", {"tenant": "x"}, "it is of another log: that of 'race' of 'x'"),
        ("trusted", {"kind": "believed"}, "event.kind"),
        ("committed", {"belief_id": "x"}, "its content is that of another belief"),
    ],
)
def test_an_event_that_cannot_be_is_named(
    sample: Sample, path: Path, kind: str, changes: dict[str, object], problem: str
) -> None:
    """Even when every hash after it and the seal were made anew."""
    index = index_of(sample, kind, -1)
    path.write_bytes(file_of(sample, changed(sample, index, **changes), (), ()))
    first = verify_export(path).problems[0]
    assert (first.line, problem in first.what) == (index + 2, True), first


@pytest.mark.parametrize(
    ("kind", "said", "problem"),
    [
        ("trusted", {"before": 0.25}, "it says that trust was 0.25, and it was"),
        ("trusted", {"before": "1.0"}, "not what an event that trusted something says"),
        ("trusted", {"after": 1.5}, "not what an event that trusted something says"),
        ("committed", {"trust": 0.25}, "it says that trust in its agent was 0.25, and it was"),
        ("committed", {"claim": None}, "not what an event that committed something says"),
        ("committed", {"id": "x"}, "its content is that of another belief"),
        ("superseded", {"superseded_by": 1}, "not what an event that superseded something says"),
        ("contradicted", {"winner": "x"}, "not what an event that contradicted something says"),
        ("rewound", {"to_seq": "x"}, "not what an event that rewound something says"),
        ("committed", {"recorded_at": "0001-01-01T00:00:00+23:59"}, "not what an event that"),
    ],
)
def test_a_content_that_cannot_be_is_named(
    sample: Sample, path: Path, kind: str, said: dict[str, object], problem: str
) -> None:
    """Even when its digest, every hash after it and the seal were made anew."""
    index = index_of(sample, kind, -1)
    entries = list(sample.entries)
    entries[index] = saying(entries[index], **said)
    path.write_bytes(file_of(sample, rechained(entries, index), (), ()))
    first = verify_export(path).problems[0]
    assert (first.line, problem in first.what) == (index + 2, True), first


def test_r9_41_an_event_that_goes_on_from_another_is_named(sample: Sample, path: Path) -> None:
    """With a right hash of its own, and all that follows chained to it; the first one too."""
    for index in (0, 1, len(sample.entries) // 2, len(sample.entries) - 1):
        entries = list(sample.entries)
        strange = hashed(entries[index].event, previous_hash="f" * 64)
        entries[index] = entries[index].model_copy(update={"event": strange})
        path.write_bytes(file_of(sample, rechained(entries, index + 1), (), ()))
        first, *others = verify_export(path).problems
        wrong = "its previous_hash is not the hash of the event before"
        assert (first.seq, first.what) == (index + 1, wrong)
        assert wrong not in [one.what for one in others]


def test_a_time_that_falls_is_named(sample: Sample, path: Path) -> None:
    """A log is one order of moments, whatever clocks said."""
    index = len(sample.entries) // 2
    early = sample.entries[index].event.recorded_at - timedelta(hours=1)
    path.write_bytes(file_of(sample, changed(sample, index, recorded_at=early), (), ()))
    first = verify_export(path).problems[0]
    assert (first.seq, first.what) == (index + 1, "it was recorded before the event before")


def test_what_is_missing_needs_a_later_redaction(path: Path) -> None:
    """A content is gone with its belief or, of a contradiction, with either; no other is."""
    log = MemoryLog()
    log.commit("old")
    log.commit("new", settled("old"))
    log.redact("old")
    log.revert("new")

    def without(*kinds: str) -> list[str]:
        kept = list(log.entries)
        log.entries = [
            one.model_copy(update={"content": None, "salt": None})
            if one.event.kind in kinds
            else one
            for one in log.entries
        ]
        write(path, log)
        log.entries = kept
        return told(verify_export(path))

    assert without() == without("contradicted") == []
    assert without("committed") == [
        "line 3, event 2: its content is missing, and no later event redacts it"
    ]
    assert without("reverted") == [
        "line 7, event 6: its content is missing, and no later event redacts it"
    ]
    (problem,) = without("superseded")
    assert problem.startswith("line 5, event 4: its content is missing, which nothing destroys")


def test_what_was_redacted_must_be_gone(path: Path) -> None:
    """What a belief says, and what is said of it as a rival, is not in an export any more."""
    log = MemoryLog()
    log.commit("old")
    log.commit("new", settled("old"))
    spoken = [one.model_copy() for one in log.entries]
    log.redact("old")
    entries = [*spoken, *log.entries[len(spoken) :]]
    checker = LogVerifier("acme", "race")
    checker.add_entries(entries)
    assert [(one.seq, one.what) for one in checker.result().problems] == [
        (1, "its content is still here, although event 5 redacted it"),
        (3, "its content is still here, although event 5 redacted it"),
    ]


def test_half_a_content_is_no_content(path: Path) -> None:
    """Content and salt are there together or not at all, and in the form that was hashed."""
    log = MemoryLog()
    log.commit("one")
    entry = log.entries[0]
    for spoiled, problem in (
        ({"salt": None}, "not both there"),
        ({"content": None}, "not both there"),
        ({"salt": (entry.salt or "").upper()}, "not both there"),
        ({"salt": "00"}, "not what its digest"),
    ):
        log.entries = [entry.model_copy(update=spoiled)]
        write(path, log)
        assert problem in told(verify_export(path))[0]
    for content in (
        " {}",
        "[]",
        "{",
        '{"a":NaN}',
        "[" * 99 + "]" * 99,
        '{"b":1,"a":2}',
        "9" * 5000,
    ):
        digest = stored_digest(b"", content.encode())
        event = hashed(entry.event, content_digest=digest)
        log.entries = [LoggedBelief(event=event, salt="", content=content)]
        checker = LogVerifier("acme", "race")
        checker.add_entries(log.entries)
        assert "no canonical JSON object" in told(checker.result())[0]


def rewritten(sample: Sample, index: int) -> list[LoggedBelief]:
    """Return the entries with another claim, and every hash after it made anew."""
    entries = list(sample.entries)
    entries[index] = claiming(entries[index], "Nobody ever said otherwise.")
    return rechained(entries, index)


def test_a_rewritten_tail_is_bracketed_by_signed_heads(sample: Sample, path: Path) -> None:
    """The last head that is still right, and the subtrees of the next, say where it begins."""
    index = index_of(sample, "committed", -1)
    seq = index + 1
    path.write_bytes(file_of(sample, rewritten(sample, index)))
    found = verify_export(path, public_key=PUBLIC)
    right = max(one.size for one in sample.heads if one.size < seq)
    wrong = [one for one in found.problems if "it was signed for other events" in one.what]
    sizes = [one.size for one in sample.heads]
    lines = [len(sample.entries) + 2 + n for n, size in enumerate(sizes) if size >= seq]
    assert [one.line for one in wrong] == lines
    for one in wrong:
        assert one.seq is not None
        assert right < one.seq <= seq
    assert found.signed_size == right
    assert not found.signed or right


@pytest.mark.parametrize("with_frontier", [True, False])
def test_a_rewritten_tail_is_found_against_an_anchor(
    sample: Sample, path: Path, *, with_frontier: bool
) -> None:
    """Without any key, and as closely as the anchor's own subtrees can tell."""
    index = index_of(sample, "committed", -1)
    path.write_bytes(file_of(sample, rewritten(sample, index), (), ()))
    anchor = sample.heads[-1]
    if not with_frontier:
        anchor = anchor.model_copy(update={"frontier": ()})
    assert verify_export(path).ok
    (problem,) = verify_export(path, anchor=anchor).problems
    assert problem.seq is not None
    assert problem.line == problem.seq + 1
    assert "the anchor of" in problem.what
    assert problem.seq > 1 if with_frontier else problem.seq == 1
    assert problem.seq <= index + 1


def test_a_log_that_lost_its_end_is_found_against_an_anchor(sample: Sample, path: Path) -> None:
    """The anchor speaks of events that are not there."""
    until = len(sample.entries) - 3
    heads = [one for one in sample.heads if one.size <= until]
    path.write_bytes(file_of(sample, sample.entries[:until], heads))
    (problem,) = verify_export(path, anchor=sample.heads[-1]).problems
    assert (problem.line, problem.seq) == (until + 1, until + 1)
    assert f"there are only {until}: the last are missing" in problem.what
    path.write_bytes(file_of(sample, sample.entries[:until], [*heads, sample.heads[-1]]))
    (problem,) = verify_export(path).problems
    assert (problem.line, problem.seq) == (until + len(heads) + 2, until + 1)


def test_an_anchor_must_be_one(sample: Sample, foreign: Sample, path: Path) -> None:
    """One of another graph, a forged one, or one of a key that does not count says nothing."""
    path.write_bytes(sample.data)
    head = sample.heads[1]
    for anchor, problem in (
        (foreign.heads[1], "it is of another log: that of 'other'"),
        (head.model_copy(update={"turn": 99}), "it is not signed by its key"),
        (heads_of(sample.log.events, [3], lambda _: FOREIGN_KEY)[0], "is not to be trusted"),
    ):
        (only,) = verify_export(path, public_key=PUBLIC, anchor=anchor).problems
        assert "the anchor is not to be used" in only.what
        assert problem in only.what


def test_keys_count_in_their_own_time(sample: Sample, path: Path) -> None:
    """A key that was handed over does not sign any more, and the next one not before."""
    events, count = sample.log.events, len(sample.entries)
    late = heads_of(events, [count], lambda _: FIRST_KEY)
    early = heads_of(events, [5], lambda _: SECOND_KEY)
    for heads in (late, early):
        path.write_bytes(file_of(sample, sample.entries, heads, key=SECOND_KEY))
        (problem,) = verify_export(path, public_key=PUBLIC).problems
        assert problem.line == count + 2
        assert "at a time when that key did not count" in problem.what
    path.write_bytes(file_of(sample, sample.entries, key=FIRST_KEY))
    assert "the seal is not to be trusted" in told(verify_export(path, public_key=PUBLIC))[0]


def test_a_forged_chain_of_keys_is_named(sample: Sample, path: Path) -> None:
    """At the line of the rotation; keys that come from nowhere are not trusted."""
    line = len(sample.entries) + len(sample.heads) + 2
    for rotations, problem in (
        ((handed_over(FOREIGN_KEY, SECOND_KEY, sample.log.now),), "none goes on from key"),
        (
            (sample.rotations[0].model_copy(update={"to_key": FOREIGN_KEY.public_hex}),),
            "not signed by the key that it takes the place of",
        ),
    ):
        path.write_bytes(file_of(sample, sample.entries, rotations=rotations, key=SECOND_KEY))
        found = verify_export(path, public_key=PUBLIC)
        assert [one.line for one in found.problems if problem in one.what] == [line]
        assert not found.ok
    path.write_bytes(file_of(sample, sample.entries, rotations=(), key=SECOND_KEY))
    found = verify_export(path, public_key=PUBLIC)
    assert "is not to be trusted" in told(found)[0]
    with pytest.raises(UsageError, match="public_key"):
        verify_export(path, public_key="key")


def test_a_head_and_a_seal_of_another_file_are_named(
    sample: Sample, foreign: Sample, path: Path
) -> None:
    """Signed by the right key, and still not of this log."""
    lines = [*sample.lines[:-1], foreign.lines[-1]]
    path.write_bytes(joined(lines))
    problems = verify_export(path, public_key=PUBLIC).problems
    assert {one.line for one in problems} == {1, len(lines)}
    assert any("what is before the seal is not what was sealed" in one.what for one in problems)
    heads = (*sample.heads[:2], foreign.heads[3])
    path.write_bytes(file_of(sample, sample.entries, heads))
    (problem,) = verify_export(path).problems
    assert problem.line == len(sample.entries) + 4
    assert "it is of another log" in problem.what


def test_a_live_log_is_verified_with_the_same_checks(sample: Sample) -> None:
    """Fed in pages, with heads; at the end it tells what the log comes to."""

    def checked(entries: Sequence[LoggedBelief], problems: Iterable[str] = ()) -> LogVerifier:
        checker = LogVerifier("acme", "race", public_key=PUBLIC, rotations=sample.rotations)
        for start in range(0, len(entries), 10):
            checker.add_entries(entries[start : start + 10])
        checker.add_heads(sample.heads)
        for one in problems:
            checker.add_problem(one)
        return checker

    checker = checked(sample.entries)
    found = checker.result()
    assert told(found) == []
    assert (found.signed, found.signed_size) == (True, len(sample.entries))
    assert checker.is_whole
    assert checker.fold.beliefs == sample.log.fold.beliefs
    assert checker.fold.trust == sample.log.fold.trust
    found = checked(sample.entries, ["stored unlike"]).result()
    assert (found.ok, told(found)) == (False, ["stored unlike"])
    checker = checked(rewritten(sample, index_of(sample, "committed", -1)))
    assert "it was signed for other events" in checker.result().problems[-1].what
    spoiled = list(sample.entries)
    spoiled[3] = claiming(spoiled[3], "x")
    checker = checked(spoiled)
    assert told(checker.result()) == ["event 4: its content is not what its digest was made of"]
    assert not checker.is_whole
