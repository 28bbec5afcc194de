"""Who else claims the names of ezra's packages, as ``ezra doctor`` tells it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ezra.cli.doctor import foreign_owners


@pytest.mark.parametrize(
    ("told", "lines", "claimed"),
    [
        ("RECORD", "tiers/a/b.py,sha256=x,1\nezra.py,,\n", {"ezra", "tiers"}),
        ("RECORD", "metaagents/notes.txt,,\nezrax/a.py,,\nsrc/ezra/a.py,,\n", set()),
        ("top_level.txt", "metaagents\nothers\n", {"metaagents"}),
    ],
)
def test_another_distribution_is_told(
    told: str, lines: str, claimed: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the modules that it brings, or by the packages that it says it has."""
    folder = tmp_path / "racing-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: racing\nVersion: 1.0\n")
    (folder / told).write_text(lines)
    before = foreign_owners()
    monkeypatch.syspath_prepend(tmp_path)
    found = foreign_owners()
    assert {name for name, owners in found.items() if "racing" in owners} == claimed
    assert found.keys() - claimed == before.keys() - claimed
