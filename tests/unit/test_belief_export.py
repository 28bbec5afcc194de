"""The export of a belief log: it is written whole, and whoever tampers with it is found out."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.belief_exports import (
    FIRST_KEY,
    Sample,
    heads_of,
    joined,
    resealed,
    sample_in,
    told,
    write,
)
from support.memory_log import MemoryLog, long_log, settled
from support.tampering import tally

from tiers.beliefs import LoggedBelief, SignedHead
from tiers.errors import Conflict, IntegrityError, UsageError
from tiers.history import export
from tiers.history.chain import canonical
from tiers.history.export import ExportHeader, ExportSeal, ExportWriter, read_export, sealed_bytes
from tiers.history.heads import check_head, signed_head
from tiers.history.merkle import root_of
from tiers.history.rotation import Rotation
from tiers.history.signing import verify
from tiers.history.verification import verify_export

# The export of a belief log: what is written, in which form, and that it is written whole.


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """An export with everything that can be in one."""
    return sample_in(tmp_path_factory.mktemp("export"))


def test_an_export_says_everything_in_canonical_lines(sample: Sample) -> None:
    """Header, events with contents, heads, rotations and seal, as anybody can read them."""
    values = [json.loads(line) for line in sample.lines]
    assert [canonical(one) for one in values] == list(sample.lines)
    header, *middle, last = values
    assert header == {
        "format": "ezra-belief-export",
        "version": 1,
        "tenant": "acme",
        "graph_id": "race",
        "exported_at": f"{sample.log.now:%Y-%m-%dT%H:%M:%S.%f}Z",
    }
    count = len(sample.entries)
    entries, heads, rotations = middle[:count], middle[count:-1], middle[-1:]
    assert [one["event"]["seq"] for one in entries] == list(range(1, count + 1))
    assert [one["content"] for one in entries] == [one.content for one in sample.entries]
    gone = [one for one in entries if one["content"] is None]
    assert gone
    assert all(one["salt"] is None for one in gone)
    assert "“estimate” 🏁".encode() in sample.data
    assert [one["head"]["size"] for one in heads] == [one.size for one in sample.heads]
    assert [set(one) for one in rotations] == [{"rotation"}]
    before = sample.data[: sample.data.rindex(b"\n", 0, -1) + 1]
    seal = ExportSeal.model_validate(last["seal"])
    assert (seal.events, seal.redacted, seal.heads, seal.rotations) == (count, len(gone), 5, 1)
    assert seal.sha256 == hashlib.sha256(before).hexdigest()
    assert seal.header == hashlib.sha256(sample.lines[0]).hexdigest()
    assert seal.last_hash == sample.entries[-1].event.hash
    assert verify(seal.public_key, seal.signature, sealed_bytes(seal))


def test_an_export_is_read_back_as_it_was(sample: Sample, tmp_path: Path) -> None:
    """Line by line, each as the record that it is."""
    path = tmp_path / "export.jsonl"
    path.write_bytes(sample.data)
    items = [line.item for line in read_export(path)]
    assert isinstance(items[0], ExportHeader)
    assert isinstance(items[-1], ExportSeal)
    assert [one for one in items if isinstance(one, LoggedBelief)] == sample.entries
    assert tuple(one for one in items if isinstance(one, SignedHead)) == sample.heads
    assert tuple(one for one in items if isinstance(one, Rotation)) == sample.rotations


def test_an_export_is_there_when_it_is_whole(tmp_path: Path) -> None:
    """Until then what was there stays; whatever happens, no part of it is left. It is private."""
    log, path = long_log(6), tmp_path / "export.jsonl"
    path.write_text("before")
    writer = ExportWriter(path, "acme", "race", log.now)
    with writer:
        writer.add_entries(log.entries)
        assert (path.read_text(), len(list(tmp_path.iterdir()))) == ("before", 2)
    assert [one.name for one in tmp_path.iterdir()] == ["export.jsonl"]
    assert path.read_text() == "before"
    with pytest.raises(UsageError, match="closed"):
        writer.finish()
    write(path, log)
    assert [one.name for one in tmp_path.iterdir()] == ["export.jsonl"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    writer.close()
    assert len(list(read_export(path))) == len(log.entries) + 2


def test_an_export_that_cannot_be_written_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No such folder, a folder in its place, a full disk: an error with the reason, no file."""
    log = long_log(3)
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "nowhere" / "x", tmp_path / "folder", tmp_path / "a\0b"):
        with pytest.raises(UsageError, match="can be written"):
            write(path, log)

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match="No space left"):
        write(tmp_path / "full", log)
    assert [one.name for one in tmp_path.iterdir()] == ["folder"]


def test_only_the_next_events_of_the_same_log_are_written(tmp_path: Path) -> None:
    """A gap, a repeat, another graph's event, or an event after a head is a mistake."""
    log, other = long_log(6), long_log(6, "other")
    heads = heads_of(log.events, [3], lambda _: FIRST_KEY)
    with ExportWriter(tmp_path / "x", "acme", "race", log.now) as writer:
        writer.add_entries(log.entries[:3])
        for entry in (log.entries[4], log.entries[2], other.entries[3]):
            with pytest.raises(UsageError, match="event 4"):
                writer.add_entries([entry])
        with pytest.raises(UsageError, match="heads of"):
            writer.add_heads(heads_of(other.events, [3], lambda _: FIRST_KEY))
        writer.add_heads(heads)
        with pytest.raises(UsageError, match="before any head"):
            writer.add_entries([log.entries[3]])
        later = heads_of(log.events, [3, 5], lambda _: FIRST_KEY)[1]
        writer.add_heads([later])  # of events that came after the export
        assert writer.finish().heads == 1


@pytest.mark.parametrize("is_rival", [False, True])
def test_an_export_does_not_keep_what_is_redacted_meanwhile(
    tmp_path: Path, *, is_rival: bool
) -> None:
    """It is to be begun again, since what it says already is to be forgotten."""
    log = MemoryLog()
    log.commit("old")
    log.commit("new", settled("old"))
    before = list(log.entries)
    log.redact("old" if is_rival else "new")
    with ExportWriter(tmp_path / "x", "acme", "race", log.now) as writer:
        writer.add_entries(before)
        with pytest.raises(Conflict, match="redacted by event 5"):
            writer.add_entries(log.entries[len(before) :])
    write(tmp_path / "again", log)
    said = (tmp_path / "again").read_text()
    assert ("What old says." in said) != is_rival
    assert "The later word counts." not in said


def test_a_line_that_nobody_could_verify_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer has the limit of the reader."""
    monkeypatch.setattr(export, "LINE_BYTES_MAX", 500)
    log = MemoryLog()
    log.commit("long", claim="x" * 500)
    with pytest.raises(UsageError, match="less than 500"):
        write(tmp_path / "x", log)


def test_heads_go_on_from_the_head_before() -> None:
    """Each over the events since is what one over all events is, but for what it cost."""
    log = long_log(8)
    events, now = log.events, log.now
    whole = signed_head(None, events, FIRST_KEY, now)
    grown = signed_head(None, events[:1], FIRST_KEY, now)
    for size in range(2, len(events) + 1):
        grown = signed_head(grown, events[size - 1 : size], FIRST_KEY, now)
        assert check_head(grown) is None
    assert grown == whole
    assert whole.root == root_of(bytes.fromhex(one.hash) for one in events).hex()
    assert (whole.size, whole.last_hash, whole.turn) == (
        len(events),
        events[-1].hash,
        events[-1].turn,
    )
    assert signed_head(whole, (), FIRST_KEY, now) == whole


def test_a_head_is_not_signed_over_what_does_not_go_on() -> None:
    """A gap, a fork, a foreign or changed event, a spoiled head: refused before any signature."""
    log, other = long_log(6), long_log(6, seed=1)
    events, now = log.events, log.now
    head = signed_head(None, events[:4], FIRST_KEY, now)
    changed = events[4].model_copy(update={"agent_id": "x"})
    foreign = events[4].model_copy(update={"graph_id": "x"})
    for since, reason in (
        ([events[5]], "event 6 is there"),
        ([other.events[4]], "previous_hash"),
        ([changed], "hash is not that"),
        ([foreign], "graph x"),
    ):
        with pytest.raises(IntegrityError, match=reason) as refusal:
            signed_head(head, since, FIRST_KEY, now)
        assert refusal.value.seq == 5
    for spoiled, reason in (
        (head.model_copy(update={"size": 5}), "not signed"),
        (head.model_copy(update={"frontier": ()}), "no frontier"),
        (head.model_copy(update={"frontier": (head.root, head.root)}), "not one of 4"),
        (head.model_copy(update={"frontier": ("0" * 64,)}), "does not give its root"),
        (head.model_copy(update={"version": 9}), "version 9"),
        (head.model_copy(update={"root": head.root.upper()}), "lower-case"),
    ):
        with pytest.raises(IntegrityError, match=reason):
            signed_head(spoiled, [events[4]], FIRST_KEY, now)
    with pytest.raises(UsageError, match="at least one event"):
        signed_head(None, (), FIRST_KEY, now)


# Exports that somebody has tampered with, and files that are none: nothing passes the verifier.

PUBLIC = FIRST_KEY.public_hex


@pytest.fixture(scope="module")
def foreign(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    """An export of another graph, made with the same keys."""
    return sample_in(tmp_path_factory.mktemp("foreign"), "other")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a file is put that is to be verified."""
    return tmp_path / "export.jsonl"


HEADER = {
    "exported_at": "2026-01-01T00:00:00.000000Z",
    "format": "ezra-belief-export",
    "graph_id": "g",
    "tenant": "t",
    "version": 1,
}
HOSTILE: list[bytes] = [
    b"",
    b"\n",
    b"\n" * 500,
    b"\x00" * 100,
    b"\xff\xfe" * 50,
    b"null\n",
    b"[]\n{}\n",
    b"[" * 100_000 + b"\n",
    b'{"head":' * 20_000 + b"\n",
    b'{"event":{"seq":' + b"9" * 5_000 + b"},\n",
    b'{"head":{"size":' + b"9" * 4_000 + b"}}\n",
    b'{"seal":{"events":1e999}}\n',
    b'{"rotation":NaN}\n',
    b'{"\\ud800":1}\n',
    b'{"seal":{"events":-1}}',
    canonical({**HEADER, "exported_at": "0001-01-01T00:00:00+23:59"}) + b"\n",
    canonical({**HEADER, "version": 2}) + b"\n",
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_no_file_is_too_strange(path: Path, number: int) -> None:
    """Whatever is in a file, the answer is a verification that says so, and can be printed."""
    path.write_bytes(HOSTILE[number])
    found = verify_export(path, public_key=PUBLIC)
    assert not found.ok
    assert len(found.problems) == min(found.problem_count, 100)
    assert all(len(one) < 600 and one.isprintable() for one in told(found))
    json.dumps(found.as_json())


def test_what_is_no_file_is_said(tmp_path: Path, sample: Sample) -> None:
    """Nothing there, a folder, a pipe: no waiting, no traceback."""
    os.mkfifo(tmp_path / "pipe")
    for one in (tmp_path, tmp_path / "none", tmp_path / "pipe", tmp_path / "a\0b"):
        (problem,) = verify_export(one).problems
        assert "the file cannot be read" in problem.what


def test_a_line_without_end_is_not_read(
    path: Path, sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line of more than the limit is named, and what comes after it is still looked at."""
    monkeypatch.setattr(export, "LINE_BYTES_MAX", 5_000)
    lines = list(sample.lines)
    lines[9] = lines[9][:-1] + b" " * 20_000 + b"}"
    lines[19] = lines[19][:-2] + b"x}"
    path.write_bytes(joined(lines))
    problems = verify_export(path).problems
    assert [one.line for one in problems][:2] == [10, 20]
    assert "longer than 5000 bytes" in problems[0].what


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@settings(max_examples=40)
@given(st.data())
def test_strange_values_in_known_places_are_problems(
    sample: Sample, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Any JSON in the place of any field, sealed anew: a verification, and not that all is well.

    Only that a head has its frontier, which nobody has signed, cannot be missed.
    """
    index = data.draw(st.integers(0, len(sample.lines) - 2))
    value = json.loads(sample.lines[index])
    inner = [one for one in value.values() if isinstance(one, dict)]
    target = data.draw(st.sampled_from([value, *inner]))
    field = data.draw(st.sampled_from(sorted(target)))
    target[field] = data.draw(JSON)
    line = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    lines = [*sample.lines[:index], line, *sample.lines[index + 1 :]]
    with suppress(KeyError, TypeError, ValueError):  # not even a seal can be made for it
        lines = resealed(lines)
    path = tmp_path_factory.getbasetemp() / "strange.jsonl"
    path.write_bytes(joined(lines))
    is_same = line == sample.lines[index] or (field, target[field]) == ("frontier", [])
    assert verify_export(path).ok == is_same


@pytest.mark.parametrize(
    "count", [400, pytest.param(10_000, marks=[pytest.mark.slow, pytest.mark.timeout(900)])]
)
def test_no_mutation_is_missed(count: int, sample: Sample, foreign: Sample, path: Path) -> None:
    """Bytes, lines, splices, rewritten tails, forged heads, keys and seals.

    A touched byte is named with its line, and no line before it is.
    """
    found = tally(count, count, sample, foreign, path)
    assert found.missed == []
    assert found.elsewhere == []
    assert found.touched > count / 3
