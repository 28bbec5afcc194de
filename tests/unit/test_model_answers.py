"""What is told to a model at a provider, and what is taken from its answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack

import pytest
from pydantic import BaseModel, ValidationError

from ezra.models.answers import (
    ANSWER_CHARS_MAX,
    Answer,
    Message,
    RemoteLanguageModel,
    checked_messages,
    read_answer,
)
from tiers.errors import TierRejected, TierTimeout

QUESTION = [{"role": "user", "content": "Which tyres?"}]


class Verdict(BaseModel):
    """What a model is asked to answer with."""

    keep: bool


class SlowModel(RemoteLanguageModel):
    """Takes its time for every answer, and always gives the same."""

    def __init__(self, text: str, *, seconds: float, timeout_seconds: float) -> None:
        url = "http://127.0.0.1:1"
        super().__init__("x", "y", url, None, timeout_seconds=timeout_seconds, attempts=1)
        self._text = text
        self._seconds = seconds

    async def _connect(self, exits: AsyncExitStack) -> SlowModel:
        del exits
        return self

    async def request(self, messages: Sequence[Message], schema: type[BaseModel] | None) -> Answer:
        """Answer after a while."""
        del messages, schema
        await asyncio.sleep(self._seconds)
        return Answer(self._text, "complete", "stop", 1, 1)


async def test_an_answer_and_its_repair_share_one_deadline() -> None:
    """Each alone is in time, both together are not: the call ends at its deadline."""
    async with SlowModel("no JSON", seconds=0.3, timeout_seconds=0.5) as model:
        with pytest.raises(TierTimeout, match="model tier, generate"):
            await model.generate(QUESTION, Verdict)
        assert model.usage.calls == 1


async def test_an_answer_without_end_is_refused() -> None:
    """More than a million characters are read by nobody, whatever they would say."""
    endless = "x" * (ANSWER_CHARS_MAX + 1)
    async with SlowModel(endless, seconds=0, timeout_seconds=20.0) as model:
        with pytest.raises(TierRejected, match="1000001 characters"):
            await model.complete(QUESTION)


@pytest.mark.parametrize(
    "text",
    [
        '{"keep": true}',
        ' \n{"keep": true}\n',
        '```json\n{"keep": true}\n```',
        '```\n{"keep":true}```',
    ],
)
def test_a_fence_around_json_is_taken_off(text: str) -> None:
    """Servers that know no schema get it wrong this way most often."""
    assert read_answer(text, Verdict) == Verdict(keep=True)


@pytest.mark.parametrize("text", ["```", "``````", '```{"keep": tr```', '{"keep": true} {}'])
def test_what_is_in_a_fence_has_to_fit_all_the_same(text: str) -> None:
    """Taking it off never makes half an answer whole."""
    with pytest.raises(ValidationError):
        read_answer(text, Verdict)


def test_blank_messages_are_left_out_and_the_rest_is_readable() -> None:
    """Providers refuse both blank text and what UTF-8 cannot say."""
    told = checked_messages([*QUESTION, {"role": "assistant", "content": "\t"}])
    assert told == [Message("user", "Which tyres?")]
    assert checked_messages([{"role": "user", "content": "a\udfff"}])[0].content == "a?"
