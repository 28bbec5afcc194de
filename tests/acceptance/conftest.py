"""Every acceptance test runs twice: with all tiers embedded, and with all of them on servers.

What goes through two doors or has several cases does so with embedded tiers. With tiers on servers
it goes through a network too and takes its first case: what tells cases apart is decided above the
tiers. The nearer door and the other cases on servers are left to the slow run.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support import cli_doors, service
from support.servers import placed

FOLDER = Path(__file__).parent
NEARER_DOORS = frozenset({cli_doors.DOORS[0], service.DOORS[0]})
"""Of two doors to a memory, the one without a network between."""

ON_SERVERS_WHOLE = frozenset(
    {
        "test_a_recording_that_breaks_off_goes_on_where_it_stopped",
        "test_br_10_offline_outbox",
        "test_odd_text_goes_through_every_tier_unchanged",
        "test_r13_07_poison_is_traced_and_rolled_back_completely",
        "test_the_calls_of_a_page_are_as_shown",
    }
)
"""What is another story in each case: where it breaks off, what the text is, what a page shows, how
poison went; and without a network no folder can be somebody else's."""

AWAY_THROUGHOUT = frozenset({"test_br_10_offline_outbox"})
"""Where another process has the folder for all of a block: waiting for its end finds nothing."""


@pytest.fixture(params=("embedded", "servers"), autouse=True)
def tiers(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[str]:
    """Where the tiers are; settings take it from the environment, so no test knows."""
    if request.node.originalname in AWAY_THROUGHOUT:
        monkeypatch.setenv("EZRA_BRIDGE_WAIT_SECONDS", "0.1")
    yield from placed(request.param, monkeypatch)
    if request.param == "servers":
        assert not [*tmp_path.rglob("ezra.db"), *tmp_path.rglob("shard")], "a tier was embedded"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is left to the slow run because another door or case says the same of servers."""
    asked: set[str] = set()
    for item in items:
        if item.path.parent != FOLDER or not is_on_servers(item):
            continue
        test = item.nodeid.partition("[")[0]
        if is_through_the_nearer_door(item) or (test in asked and not is_asked_whole(item)):
            item.add_marker(pytest.mark.slow)
        elif not [*item.iter_markers("slow")]:
            asked.add(test)


def is_on_servers(item: pytest.Item) -> bool:
    """Whether a test asks tiers on servers."""
    spec = getattr(item, "callspec", None)
    return spec is not None and spec.params.get("tiers") == "servers"


def is_through_the_nearer_door(item: pytest.Item) -> bool:
    """Whether a test goes through the nearer of two doors, and another goes through the other."""
    return not is_asked_whole(item) and any(
        isinstance(one, str) and one in NEARER_DOORS
        for name, one in item.callspec.params.items()  # type: ignore[attr-defined]
        if name != "tiers"
    )


def is_asked_whole(item: pytest.Item) -> bool:
    """Whether the cases of a test are different stories on servers."""
    return getattr(item, "originalname", "") in ON_SERVERS_WHOLE
