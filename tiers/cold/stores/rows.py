"""Records as they are kept where that is more than what they say, and as a store returns them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from ...records import Record

R = TypeVar("R", bound=Record)


def kept(row: type[R], record: Record, **more: object) -> R:
    """Return a record in the form in which it is kept, with what that has besides."""
    made: R = _made(row, {**dict(record), **more})
    return made


def bare(model: type[R], row: Record) -> R:
    """Return a record without what is kept with it: exactly of its own type."""
    said: R = _made(model, {name: getattr(row, name) for name in model.model_fields})
    return said


def _made(model: Any, fields: Mapping[str, object]) -> Any:  # noqa: ANN401 - of any model
    return model.model_construct(**fields)
