"""Threads that carry out what they are handed."""

from __future__ import annotations

from threading import current_thread, get_ident

from tiers.cold.sqlite.threads import Threads


def test_one_thread_keeps_to_the_order_and_ends_with_what_it_was_handed() -> None:
    """Stopping waits for all of it, and may be repeated."""
    done: list[tuple[int, int]] = []
    threads = Threads(1, "one")
    threads.start()
    for number in range(1_000):
        threads.submit(lambda one: done.append((one, get_ident())), number)
    threads.stop()
    threads.stop()
    assert [number for number, _ in done] == list(range(1_000))
    assert len({thread for _, thread in done} - {get_ident()}) == 1


def test_threads_that_never_began_are_stopped_at_once() -> None:
    """Nothing waits for them."""
    Threads(2, "none").stop()


def test_each_has_a_name_of_its_own() -> None:
    """By which a profile or a dump tells them apart."""
    names: set[str] = set()
    threads = Threads(2, "ezra")
    threads.start()
    for _ in range(200):
        threads.submit(lambda: names.add(current_thread().name))
    threads.stop()
    assert names <= {"ezra_0", "ezra_1"}
    assert names
