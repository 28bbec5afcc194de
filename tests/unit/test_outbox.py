"""The outbox of the bridge: durable, in order, bounded, shared by processes; and who it is for."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.warm_command import warm_python

from ezra.bridge.config import BridgeConfig, bridge_config, data_folder, write_file
from ezra.bridge.memories import labels, memory_of, text_of
from ezra.bridge.noted import CurrentTask, Notes
from ezra.bridge.outbox import (
    ITEM_BYTES_MAX,
    Outbox,
    OutboxFull,
    Route,
    all_outboxes,
    outbox_of,
    time_of,
)
from ezra.bridge.sending import Verdict, verdict_of
from tiers.errors import (
    BudgetExceeded,
    ConfigError,
    Conflict,
    CorruptRecord,
    EzraError,
    FolderInUse,
    NotFound,
    TierRejected,
    TierTimeout,
    TierUnavailable,
    UsageError,
)
from tiers.records import Fact

NOW = datetime(2026, 5, 14, 9, 0, tzinfo=UTC)
APPENDING = """
import sys
from pathlib import Path
from ezra.bridge.config import BridgeConfig
from ezra.bridge.outbox import outbox_of
box = outbox_of(BridgeConfig(state=Path(sys.argv[1]), agent="builder", machine=sys.argv[2]))
number = 0
while number < int(sys.argv[3]):
    number += 1
    print(box.append("log", {"action": "step", "text": str(number)}).id, flush=True)
"""


def config_of(state: Path, **given: object) -> BridgeConfig:
    """Return the configuration of a builder on a laptop."""
    values: dict[str, object] = {"agent": "builder", "machine": "laptop", **given}
    return BridgeConfig(state=state, **values)  # type: ignore[arg-type]


def texts(box: Outbox) -> list[object]:
    """Return the texts of what waits, in order."""
    return [one.arguments["text"] for one in box.pending()]


def test_what_is_appended_waits_in_order_also_when_the_clock_goes_back(tmp_path: Path) -> None:
    """An item is whole, says who, where and when, and its id sorts behind all that wait."""
    moments = iter([NOW, NOW, NOW - timedelta(days=400), NOW + timedelta(days=1)])
    box = outbox_of(config_of(tmp_path), lambda: next(moments))
    made = [box.append("log", {"action": "a", "text": str(number)}) for number in range(4)]
    assert [one.id for one in made] == sorted({one.id for one in made})
    assert texts(box) == ["0", "1", "2", "3"]
    first = box.pending(1)[0]
    assert (first.agent, first.machine, first.graph, first.kind) == (
        "builder", "laptop", "bridge", "log",
    )  # fmt: skip
    assert first.moment == NOW
    assert time_of(first.id) == NOW
    assert made[2].moment == NOW - timedelta(days=400)  # when it was said is not made up


def test_what_is_done_is_gone_and_what_is_refused_is_listed(tmp_path: Path) -> None:
    """Refused items keep their reason, come back to their place, or are given up on request."""
    box = outbox_of(config_of(tmp_path))
    items = [box.append("log", {"action": "a", "text": str(number)}) for number in range(3)]
    box.done(items[0].id)
    box.done(items[0].id)  # twice is as good as once
    box.refuse(box.failed(items[1]), "no such task")
    assert (texts(box), box.counts()) == (["2"], (1, 1))
    (refused,) = box.refused()
    assert (refused.id, refused.reason, refused.attempts) == (items[1].id, "no such task", 1)
    box.retry(items[1].id)
    assert (texts(box), box.counts()) == (["1", "2"], (2, 0))
    assert box.pending()[0].attempts == 0
    box.refuse(items[1], "still none")
    assert box.drop(items[1].id).id == items[1].id
    for name in (items[1].id, "../../etc/passwd"):
        with pytest.raises(NotFound):
            box.retry(name)


def test_a_full_outbox_refuses_and_drops_nothing(tmp_path: Path) -> None:
    """The limits of items and bytes are of all agents together, refused items included."""
    route = Route("0" * 16, "here", "bridge", "builder", "laptop")
    other = Route("1" * 16, "here", "bridge", "reviewer", "laptop")
    box = Outbox(tmp_path, route, items_max=3)
    kept = [box.append("log", {"text": "1"}), box.append("log", {"text": "2"})]
    Outbox(tmp_path, other, items_max=3).append("log", {"text": "3"})
    with pytest.raises(OutboxFull, match="3 of 3 items"):
        box.append("log", {"text": "4"})
    box.refuse(kept[0], "never")
    with pytest.raises(OutboxFull):
        box.append("log", {"text": "4"})
    box.drop(kept[0].id)
    box.append("log", {"text": "4"})
    assert texts(box) == ["2", "4"]
    small = Outbox(tmp_path, route, bytes_max=2_000)
    with pytest.raises(OutboxFull, match="of 2,000 bytes"):
        small.append("log", {"text": "x" * 1_500})
    assert texts(box) == ["2", "4"]


def test_what_cannot_be_an_item_is_refused(tmp_path: Path) -> None:
    """Too large, or nothing that JSON carries: nothing is written, not even a draft."""
    box = outbox_of(config_of(tmp_path))
    bad = ({"text": "x" * ITEM_BYTES_MAX}, {"text": object()}, {"number": float("nan")})
    for arguments in bad:
        with pytest.raises(UsageError):
            box.append("log", arguments)
    assert box.is_empty()
    assert not [*tmp_path.rglob("*.json"), *tmp_path.rglob("*.tmp")]


def test_what_cannot_be_read_does_not_stop_the_others(tmp_path: Path) -> None:
    """A torn or foreign file is put aside, with its content, and can be given up."""
    box = outbox_of(config_of(tmp_path))
    items = [box.append("log", {"text": str(number)}) for number in range(3)]
    queue = tmp_path / "outbox" / box.route.key / "queue"
    (queue / f"{items[1].id}.json").write_text('{"id": ')
    (queue / "notes.json").write_text("not ours")
    (queue / f".{items[0].id}.1.tmp").write_text("of a process that died")
    assert texts(box) == ["0", "2"]
    (torn,) = box.refused()
    assert (torn.kind, torn.arguments, torn.id) == ("unreadable", {"text": '{"id": '}, items[1].id)
    box.append("log", {"text": "3"})
    assert not [*queue.glob("*.tmp")]
    assert box.drop(torn.id).kind == "unreadable"
    assert texts(box) == ["0", "2", "3"]


def test_agents_graphs_and_memories_have_outboxes_of_their_own(tmp_path: Path) -> None:
    """Nothing that was meant for one server goes to another."""
    base = config_of(tmp_path, url="http://one:1")
    others = [
        config_of(tmp_path, url="http://two:1"),
        config_of(tmp_path, home=tmp_path / "home"),
        config_of(tmp_path, url="http://one:1", graph="other"),
        config_of(tmp_path, url="http://one:1", agent="reviewer"),
    ]
    outbox_of(base).append("log", {"text": "mine"})
    assert all(outbox_of(one).is_empty() for one in others)
    same = config_of(tmp_path, url="http://one:1/", machine="renamed")
    assert texts(outbox_of(same)) == ["mine"]
    (route,) = all_outboxes(tmp_path)
    assert (route.target, route.agent, route.key) == ("http://one:1", "builder", base.key)


def test_one_process_sends_at_a_time(tmp_path: Path) -> None:
    """The second waits, and gives up in the end; appending goes on meanwhile."""
    box, other = outbox_of(config_of(tmp_path)), outbox_of(config_of(tmp_path))
    with box.sending():
        with pytest.raises(Conflict, match="another process"), other.sending(wait_seconds=0.02):
            pass
        other.append("log", {"text": "1"})
    with other.sending(wait_seconds=0.0):
        assert texts(other) == ["1"]


def test_many_that_append_at_once_lose_nothing(tmp_path: Path) -> None:
    """Every item of every writer is there, and each one's in its order."""

    def work(name: str) -> None:
        box = outbox_of(config_of(tmp_path))
        for number in range(25):
            box.append("log", {"by": name, "text": number})

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = outbox_of(config_of(tmp_path)).pending()
    assert len({one.id for one in found}) == 100
    for name in "abcd":
        numbers = [one.arguments["text"] for one in found if one.arguments["by"] == name]
        assert numbers == list(range(25))


def test_what_was_acknowledged_survives_a_killed_process(tmp_path: Path) -> None:
    """Killed at any point: what it printed is there, in order, and at most one item more."""
    drawn = random.Random(7)
    told: list[str] = []
    lost_words = 0
    for _ in range(3):
        command = [warm_python(), "-c", APPENDING, str(tmp_path), "laptop", "100000"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        with process:
            assert process.stdout is not None
            told += [process.stdout.readline().strip() for _ in range(drawn.randrange(1, 30))]
            process.send_signal(signal.SIGKILL)
            told += [one for one in process.stdout.read().split("\n") if len(one) == 36]
        lost_words += 1
    found = [one.id for one in outbox_of(config_of(tmp_path)).pending(100_000)]
    assert found == sorted(found)
    assert set(told) <= set(found)
    assert len(found) <= len(told) + lost_words
    outbox_of(config_of(tmp_path)).append("log", {"text": "after"})
    assert not [*tmp_path.rglob("*.tmp")]


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (TierUnavailable("server", "x", "gone"), "away"),
        (TierTimeout("server", "x", "late"), "away"),
        (TierRejected("server", "x", "status 502, not from ezra"), "away"),
        (FolderInUse("EZRA_HOME", "taken"), "away"),
        (ConfigError("EZRA_TOKEN", "not known"), "away"),
        (BudgetExceeded("a token", "requests_per_minute", 60, 1, 60), "away"),
        (TierRejected("cold", "x", "the engine said no"), "failed"),
        (CorruptRecord("cold", "x", "torn"), "failed"),
        (BudgetExceeded("agent x", "writes", 10, 1, 10), "refused"),
        (UsageError("text", "", "text"), "refused"),
        (NotFound("task", "x"), "refused"),
        (Conflict("task", "created", "failed"), "refused"),
    ],
    ids=lambda one: one if isinstance(one, str) else type(one).__name__,
)
def test_failures_wait_are_tried_a_few_times_or_are_refused(
    error: EzraError, verdict: Verdict
) -> None:
    """What an item does when it fails depends on what failed."""
    assert verdict_of(error) == verdict


def test_variables_beat_the_file_and_the_file_beats_defaults(tmp_path: Path) -> None:
    """Who asks: from the environment, else from ``bridge.toml``, else as documented."""
    here = {"EZRA_BRIDGE_STATE": str(tmp_path)}
    found = bridge_config(here)
    assert found.machine
    home = data_folder(here)
    assert found == BridgeConfig(state=tmp_path, home=home, machine=found.machine)
    write_file(tmp_path, {"agent": 'a "quoted" näme', "url": "http://one:1", "half_life_days": 10})
    found = bridge_config(here)
    assert (found.agent, found.url, found.half_life_days) == ('a "quoted" näme', "http://one:1", 10)
    said = {"EZRA_BRIDGE_AGENT": "other", "EZRA_HOME": "/data", "EZRA_BRIDGE_GRAPH": "team"}
    found = bridge_config({**here, **said})
    assert (found.agent, found.url, found.target, found.graph) == ("other", None, "/data", "team")
    assert found.at(url="http://two:2").target == "http://two:2"
    assert found.at(home=tmp_path).target == str(tmp_path)
    write_file(tmp_path, {"url": "", "machine": "laptop"})
    found = bridge_config(here)
    assert (found.url, found.machine, found.agent) == (None, "laptop", 'a "quoted" näme')
    assert (tmp_path / "bridge.toml").stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path) == ["bridge.toml"]  # noqa: PTH208 - names are what is meant


@pytest.mark.parametrize(
    ("variables", "named"),
    [
        ({"EZRA_BRIDGE_HALF_LIFE_DAYS": "soon"}, "EZRA_BRIDGE_HALF_LIFE_DAYS"),
        ({"EZRA_BRIDGE_HALF_LIFE_DAYS": "0"}, "EZRA_BRIDGE_HALF_LIFE_DAYS"),
        ({"EZRA_BRIDGE_TIMEOUT_SECONDS": "nan"}, "EZRA_BRIDGE_TIMEOUT_SECONDS"),
        ({"EZRA_BRIDGE_AGENT": "x" * 257}, "EZRA_BRIDGE_AGENT"),
        ({"EZRA_BRIDGE_GRAPH": "a\x07b"}, "EZRA_BRIDGE_GRAPH"),
    ],
    ids=["word", "zero", "nan", "long", "bell"],
)
def test_a_bad_variable_is_named(tmp_path: Path, variables: dict[str, str], named: str) -> None:
    """An error says which, and what would do."""
    with pytest.raises(ConfigError, match=named):
        bridge_config({"EZRA_BRIDGE_STATE": str(tmp_path), **variables})


@pytest.mark.parametrize("text", ["agent = ", "colour = 'red'", "agent = 7"])
def test_a_bad_file_is_named(tmp_path: Path, text: str) -> None:
    """No TOML, an unknown name, or no text where a text belongs."""
    (tmp_path / "bridge.toml").write_text(text)
    with pytest.raises(ConfigError):
        bridge_config({"EZRA_BRIDGE_STATE": str(tmp_path)})


def test_who_has_no_name_is_told_how_to_get_one(tmp_path: Path) -> None:
    """Writing needs a name; the error says both ways to give it."""
    with pytest.raises(ConfigError, match=r"ezra bridge setup --agent NAME.*EZRA_BRIDGE_AGENT"):
        outbox_of(config_of(tmp_path, agent=None))


def test_a_memory_is_what_its_fact_says() -> None:
    """Type, category, tags and privacy are topics; the title is the line above an empty one."""
    topics = labels("Decision", "Auth", ["API", "tokens"], private=True)
    assert topics == ("type:decision", "category:auth", "scope:private", "tag:api", "tag:tokens")
    text = text_of("\n  Short.\n\nLived. ", "Tokens")
    fact = Fact(id="x", text=text, topics=topics, agent_id="a", private=True)
    found = memory_of(fact)
    assert (found.title, found.content, found.text) == ("Tokens", "  Short.\n\nLived.", text)
    assert (found.type, found.category, found.tags) == ("decision", "auth", ("api", "tokens"))
    assert found.private
    bare = memory_of(Fact(id="y", text="only content\nof two lines"))
    assert (bare.title, bare.content, bare.type) == (
        "",
        "only content\nof two lines",
        "observation",
    )
    refused: tuple[Callable[[], object], ...] = (
        lambda: labels(" "),
        lambda: labels("x" * 300),
        lambda: labels("t", tags=["x"] * 33),
        lambda: text_of("  "),
        lambda: text_of("x", "two\nlines"),
    )
    for call in refused:
        with pytest.raises(UsageError):
            call()


def test_a_machine_notes_the_task_at_hand_and_the_last_beat(tmp_path: Path) -> None:
    """One sign of life a minute; a note that cannot be read is none."""
    now = [1_000_000.0]
    notes = Notes(config_of(tmp_path), lambda: now[0])
    assert (notes.current(), notes.is_due()) == (None, True)
    notes.beat()
    notes.begin(CurrentTask("1", "Write tests", "created"))
    assert notes.current() == CurrentTask("1", "Write tests", "created")
    for seconds, is_due in ((59.0, False), (60.0, True), (-5.0, True)):
        now[0] = 1_000_000.0 + seconds
        assert notes.is_due() is is_due
    notes.end("2")
    assert notes.current() is not None
    notes.end("1")
    assert notes.current() is None
    next((tmp_path / "notes").glob("*.beat")).with_suffix(".task").write_text(json.dumps([1]))
    assert notes.current() is None
