"""What is done behind the hooks: send what waits, index notes, sync memories, prepare a handoff."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias

from tiers.errors import BudgetExceeded, ConfigError, EzraError, TierTimeout, TierUnavailable
from tiers.fencing import fenced

from .client import Bridge
from .hook_state import HANDOFF_CHARS_MAX, HookState, QueuedFile
from .noted import Notes
from .notes.configured import indexer_of, memory_folder_of
from .notes.handoff import Handoff, readable
from .notes.indexing import Indexed, index_files
from .notes.questions import handoff
from .notes.rules import rules_of
from .notes.syncing import sync_memories

HANDOFF_HOURS = 72.0
"""A session on Monday goes on with what was done on Friday."""
SHOWN_MAX = 20

_HANDOFF_ROOM = 1_000
"""Characters kept for headings and what needs people."""
_ROWS = ("updated", "decisions", "actions", "tasks", "blockers", "messages", "warnings")

State: TypeAlias = Literal["done", "away"]


@dataclass
class Drained:
    """What came of one run.

    Attributes:
        state: ``away``: the memory could not be reached, or no longer; what waits still waits.
        reason: Why it is away.
        sent: How many items of the outbox the memory has now.
        refused: How many it refused.
        left: How many wait.
        indexed: How many files came to which outcome.
        failed: Paths of notes that could not be indexed; ``SHOWN_MAX`` at most.
        memories: How many notes of the memory folder came to which outcome.
        needs_people: Whether notes of that folder are in conflict, failed, or were held back.
        has_handoff: Whether there is something that the next session is told.
        problems: What could not be done, for other reasons.
    """

    state: State = "done"
    reason: str | None = None
    sent: int = 0
    refused: int = 0
    left: int = 0
    indexed: dict[str, int] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    memories: dict[str, int] = field(default_factory=dict)
    needs_people: bool = False
    has_handoff: bool = False
    problems: list[str] = field(default_factory=list)


async def drain(bridge: Bridge, state: HookState, now: datetime) -> Drained:
    """Do what hooks have queued, and prepare the next handoff. May be repeated, whatever happened.

    What one part cannot do does not keep the next from being done; when the memory goes away the
    rest waits. Call it while draining, see ``HookState.draining``.

    Args:
        bridge: The agent's; open.
        state: What hooks have left.
        now: The time.

    Raises:
        ConfigError: The bridge's folder cannot be used.
    """
    done = Drained()
    try:
        await _send(bridge, done)
        if done.state == "done":
            await _give_sign_of_life(bridge)
            await _part(done, "index", _index(bridge, state, done))
            await _part(done, "sync-memories", _sync(bridge, done))
            await _part(done, "handoff", _prepare(bridge, state, now, done))
    except (TierUnavailable, TierTimeout) as error:
        done.state, done.reason = "away", str(error)
    return done


async def _part(done: Drained, name: str, work: Awaitable[None]) -> None:
    """Do a part; what it cannot do is noted.

    Raises:
        TierUnavailable: The memory went away.
        TierTimeout: It does not answer.
    """
    try:
        await work
    except (TierUnavailable, TierTimeout):
        raise
    except EzraError as error:
        # Settings are named with what is wrong; other errors may quote what somebody wrote.
        said = f": {error}" if isinstance(error, ConfigError) else ""
        done.problems.append(f"{name}: {type(error).__name__}{said}")


async def _send(bridge: Bridge, done: Drained) -> None:
    if bridge.away is not None:
        done.state, done.reason = "away", bridge.away
    else:
        sent = await bridge.sync()
        done.sent, done.refused = sent.count("done"), sent.count("refused")
        if sent.is_away:
            done.state, done.reason = "away", sent.away
    done.left, _ = await asyncio.to_thread(bridge.outbox.counts)


async def _give_sign_of_life(bridge: Bridge) -> None:
    notes = Notes(bridge.config)
    if await asyncio.to_thread(notes.is_due):
        await bridge.agent().heartbeat()
        with contextlib.suppress(OSError):  # then the next one is given at once
            await asyncio.to_thread(notes.beat)


async def _index(bridge: Bridge, state: HookState, done: Drained) -> None:
    """Index what was queued; a file stays there until the memory has it or it cannot be taken."""
    for file in await asyncio.to_thread(state.take):
        try:
            found = await _indexed(bridge, file)
        except (TierUnavailable, TierTimeout, BudgetExceeded, ConfigError):
            raise  # the others would fare no better, and this one may the next time
        except EzraError:
            found = None
        outcome = "failed" if found is None else found.outcome
        done.indexed[outcome] = done.indexed.get(outcome, 0) + 1
        if outcome == "failed" and len(done.failed) < SHOWN_MAX:
            done.failed.append(file.path)
        await asyncio.to_thread(state.done, file)


async def _indexed(bridge: Bridge, file: QueuedFile) -> Indexed | None:
    indexer = indexer_of(bridge.config, Path(file.folder))
    done = await index_files(bridge.agent().documents, indexer, [Path(file.path)])
    return done[0] if done else None


async def _sync(bridge: Bridge, done: Drained) -> None:
    if bridge.config.memory_path is None:
        return
    memory = memory_folder_of(bridge.config)
    report = await sync_memories(bridge.agent().documents, memory)
    done.memories, done.needs_people = report.counts, report.needs_people


async def _prepare(bridge: Bridge, state: HookState, now: datetime, done: Drained) -> None:
    agent = bridge.agent()
    found = await handoff(
        agent,
        agent.documents,
        agent.board,
        rules_of(bridge.config.note_types, bridge.config.note_relations),
        now,
        hours=HANDOFF_HOURS,
        chars=HANDOFF_CHARS_MAX - _HANDOFF_ROOM,
    )
    text = message_for_session(found, done)
    done.has_handoff = bool(text)
    await asyncio.to_thread(state.write_handoff, text)


def message_for_session(found: Handoff, done: Drained) -> str:
    """Return what the next session is told; empty when there is nothing to tell."""
    open_ends = []
    if done.needs_people:
        open_ends.append("Notes need people: run 'ezra bridge sync-memories'.")
    if done.refused:
        open_ends.append("Writes were refused: run 'ezra bridge sync --refused'.")
    if not open_ends and not any(getattr(found, name) for name in _ROWS):
        return ""
    # Titles and texts are whatever somebody wrote: a fence keeps them from what we say.
    block = fenced("memory", [readable(found).rstrip()], says_what=True)
    lines = [block, "", *(f"- {one}" for one in open_ends)]
    return "\n".join(lines).rstrip() + "\n"
