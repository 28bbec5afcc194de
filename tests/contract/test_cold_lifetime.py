"""Opening, closing and reopening the cold tier, for every method of every store."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import get_type_hints

from support.cold_backends import Cold, ColdBackend
from support.cold_beliefs import replacing
from support.cold_calls import CALLS
from support.cold_samples import SCOPE, asked, belief_by, draft, turn_by

from tiers.cold import stores
from tiers.errors import TierUnavailable


async def test_closed_tier_is_unavailable(backend: ColdBackend, tmp_path: Path) -> None:
    """After its block every method raises ``TierUnavailable`` and names itself."""
    async with backend.opened(tmp_path) as closed:
        pass
    for method, call in CALLS.items():
        (refusal,) = await asyncio.gather(call(closed), return_exceptions=True)
        assert isinstance(refusal, TierUnavailable), method
        assert method.replace("_", " ") in str(refusal).replace("_", " ")


def test_every_method_of_every_store_is_called() -> None:
    """A method that is added to a store has to be added to the list."""
    held = stores.HeldReceipts  # opens and closes
    kept = [one for one in get_type_hints(Cold, {"stores": stores}).values() if one is not held]
    methods = {name for store in kept for name in dir(store) if not name.startswith("_")}
    # Asks for nothing and writes no record: it has an engine's own files written anew.
    assert methods - {"rewrite_files"} == set(CALLS)


async def test_reopened_tier_holds_what_it_held(backend: ColdBackend, tmp_path: Path) -> None:
    """Opened twice, one after the other: everything is there, numbering goes on."""
    async with backend.opened(tmp_path) as cold:
        turn, _ = await cold.turns.append_turn(SCOPE, turn_by(), [draft()])
        await cold.beliefs.commit(SCOPE, belief_by())
        before = await cold.words.census(SCOPE)
    async with backend.opened(tmp_path) as cold:
        assert await cold.words.census(SCOPE) == before
        assert await cold.turns.recent_turns(SCOPE, 8) == (turn,)
        assert [hit.id for hit in await cold.words.search_words(SCOPE, asked("long"))] == [turn.id]
        assert (await cold.turns.append_turn(SCOPE, turn_by()))[0].seq == 2
        await replacing(cold, SCOPE, belief_by())
        assert [event.seq for event in await cold.history.events(SCOPE)] == [1, 2, 3, 4]


async def test_closing_finishes_what_was_begun(backend: ColdBackend, tmp_path: Path) -> None:
    """Writes under way when the block ends are done or refused, and what is done is kept."""
    async with backend.opened(tmp_path) as cold:
        writes = [
            asyncio.create_task(cold.turns.append_turn(SCOPE, turn_by(text=f"turn {n}")))
            for n in range(400)
        ]
        await asyncio.sleep(0)
    answers = await asyncio.gather(*writes, return_exceptions=True)
    done = [answer[0] for answer in answers if isinstance(answer, tuple)]
    refused = [answer for answer in answers if isinstance(answer, TierUnavailable)]
    assert len(done) + len(refused) == 400
    async with backend.opened(tmp_path) as cold:
        assert set(await cold.turns.recent_turns(SCOPE, 1_000)) == set(done)


async def test_cancelled_close_still_closes(backend: ColdBackend, tmp_path: Path) -> None:
    """The folder can be opened again, and nothing acknowledged is lost."""
    entered = asyncio.Event()

    async def hold() -> None:
        async with backend.opened(tmp_path) as cold:
            for number in range(50):
                await cold.turns.append_turn(SCOPE, turn_by(text=f"turn {number}"))
            entered.set()

    holder = asyncio.create_task(hold())
    await entered.wait()
    holder.cancel()
    await asyncio.gather(holder, return_exceptions=True)
    async with backend.opened(tmp_path) as cold:
        assert len(await cold.turns.recent_turns(SCOPE, 100)) == 50
