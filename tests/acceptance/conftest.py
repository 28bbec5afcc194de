"""Every acceptance test runs twice: with all tiers embedded, and with all of them on servers.

What goes through two doors goes through both with embedded tiers. With tiers on servers it goes
through a network too; through the nearer door only in the slow run.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support import cli_doors, service
from support.servers import forget, server_variables

FOLDER = Path(__file__).parent
NEARER_DOORS = frozenset({cli_doors.DOORS[0], service.DOORS[0]})
"""Of two doors to a memory, the one without a network between."""

ON_SERVERS_THROUGH_BOTH = frozenset({"test_br_10_offline_outbox"})
"""What is another story without a network: then no folder can be somebody else's."""


@pytest.fixture(params=("embedded", "servers"), autouse=True)
def tiers(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[str]:
    """Where the tiers are; settings take it from the environment, so no test knows."""
    if request.param == "embedded":
        yield "embedded"
        return
    variables = server_variables()
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    yield "servers"
    forget(variables)
    assert not [*tmp_path.rglob("ezra.db"), *tmp_path.rglob("shard")], "a tier was embedded"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is left to the slow run because another door says the same of servers."""
    for item in items:
        if item.path.parent == FOLDER and is_left_to_the_slow_run(item):
            item.add_marker(pytest.mark.slow)


def is_left_to_the_slow_run(item: pytest.Item) -> bool:
    """Whether a test asks tiers on servers through the nearer of two doors."""
    spec = getattr(item, "callspec", None)
    if spec is None or getattr(item, "originalname", "") in ON_SERVERS_THROUGH_BOTH:
        return False
    others = [value for name, value in spec.params.items() if name != "tiers"]
    return spec.params.get("tiers") == "servers" and any(
        isinstance(one, str) and one in NEARER_DOORS for one in others
    )
