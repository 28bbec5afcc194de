"""Exports that somebody has tampered with, and files that are none: nothing passes the verifier."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.belief_exports import FIRST_KEY, Sample, joined, resealed, sample_in
from support.tampering import tally

from tiers.history import export
from tiers.history.chain import canonical
from tiers.history.verification import Verification, verify_export

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


def told(found: Verification) -> list[str]:
    """Return the problems as people read them."""
    return [str(one) for one in found.problems]


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
