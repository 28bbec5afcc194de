"""Records as they are kept where that is more than what they say, and as a store returns them."""

from __future__ import annotations

from typing import TypeVar

from ...records import Record

R = TypeVar("R", bound=Record)


def kept(row: type[R], record: Record, **more: object) -> R:
    """Return a record in the form in which it is kept, with what that has besides."""
    return row.known({**record.__dict__, **more})


def bare(model: type[R], row: Record) -> R:
    """Return a record without what is kept with it: exactly of its own type."""
    return model.known({name: getattr(row, name) for name in model.model_fields})
