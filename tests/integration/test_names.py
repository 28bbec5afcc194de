"""A name that is not there is told with those near it, to whoever may see them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ezra import Ezra, NotFound, Settings


async def test_an_error_notes_the_names_near_one_that_is_not_there(tmp_path: Path) -> None:
    """Of graphs and of members; the message itself, which others may be sent, has none of them."""
    async with Ezra.open(Settings(home=tmp_path, embedder="off", background=False)) as ezra:
        graph = await ezra.create_session_graph("imola")
        await graph.spawn_agent("strategist")
        with pytest.raises(NotFound) as unknown:
            await ezra.session_graph("Imla")
        with pytest.raises(NotFound) as nobody:
            await graph.agent("strategst")
        with pytest.raises(NotFound) as far:
            await ezra.session_graph("zzz")
        with pytest.raises(NotFound) as long:
            await ezra.session_graph("imola" * 20)
    assert unknown.value.__notes__ == ["near it: imola"]
    assert nobody.value.__notes__ == ["near it: strategist"]
    assert not hasattr(far.value, "__notes__")
    assert not hasattr(long.value, "__notes__")
    assert "imola" not in str(unknown.value)
