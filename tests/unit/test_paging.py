"""Much, a part at a time."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tiers.paging import linked, pages_of, parts


@pytest.mark.parametrize(
    ("whole", "cut"),
    [([], []), ([1], [[1]]), ([1, 2], [[1, 2]]), ([1, 2, 3], [[1, 2], [3]])],
)
def test_parts_hold_everything_once_in_order(whole: list[int], cut: list[list[int]]) -> None:
    """What is cut is whole again when the parts are put together."""
    assert list(parts(whole, 2)) == cut


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4])
async def test_pages_reach_the_end_and_none_is_empty(count: int) -> None:
    """Whoever reads by pages gets every row, and asks no more than it takes to know that."""
    asked = []

    async def read(after: int, limit: int) -> tuple[int, ...]:
        asked.append(after)
        return tuple(range(after + 1, count + 1))[:limit]

    found = [page async for page in pages_of(read, lambda one: one, 2)]
    assert [one for page in found for one in page] == list(range(1, count + 1))
    assert all(found)
    assert asked == list(range(0, count + 1, 2)), "one question more only behind a full page"


@dataclass(frozen=True)
class Found:
    """A page."""

    rows: tuple[int, ...]
    cursor: str | None


@pytest.mark.parametrize(("most", "reached"), [(None, 4), (4, 4), (9, 4), (3, 3), (0, 0)])
async def test_linked_pages_are_followed_to_the_last_or_to_so_many(
    most: int | None, reached: int
) -> None:
    """An empty page ends nothing as long as it says where to go on."""
    there = {"": Found((1,), "b"), "b": Found((), "c"), "c": Found((2,), "d"), "d": Found((), None)}

    async def read(cursor: str) -> Found:
        return there[cursor]

    found = [page async for page in linked(read, most)]
    assert found == list(there.values())[:reached]
