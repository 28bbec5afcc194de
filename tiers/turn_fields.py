"""Parts of a turn: what tools returned during it, and how much of the past its context showed."""

from __future__ import annotations

from pydantic import Field

from .fields import Name, OutputText, Record


class ToolOutput(Record):
    """What a tool returned during a turn. It is stored whole, and shown by a preview if long."""

    tool: Name
    output: OutputText


class Tail(Record):
    """What a turn knows of the window of the model that answers it, for the turn behind it.

    An epoch is a run of turns whose contexts begin alike: it ends where the tail is cut anew, or
    becomes short or long.

    Attributes:
        epoch: Counts from 0.
        is_short: Whether the tail was kept short, because the window had been nearly full.
        since: The ``seq`` of the first turn that was shown.
        used_tokens: What the model read and wrote in this turn.
        is_reported: Whether a model or the caller said so; else it is our estimate.
        window_tokens: What the model can hold.
    """

    epoch: int = Field(default=0, ge=0)
    is_short: bool = False
    since: int = Field(default=1, ge=1)
    used_tokens: int = Field(default=0, ge=0)
    is_reported: bool = False
    window_tokens: int = Field(ge=1)
