"""What every ``LanguageModel`` promises: those without a key, and those at a provider."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import pytest
from pydantic import BaseModel, ConfigDict, Field
from support.held import held
from support.model_http import KEY, ModelServer, gemini_says, openai_says, running_model_server

from ezra.models import EchoModel, GeminiModel, OpenAIModel, ScriptedModel
from tiers.errors import TierRejected, TierUnavailable, UsageError
from tiers.ports import LanguageModel

AnyModel: TypeAlias = EchoModel | ScriptedModel | GeminiModel | OpenAIModel

QUESTION = [
    {"role": "system", "content": "You are a strategist."},
    {"role": "user", "content": "Which tyres?"},
]


class Verdict(BaseModel):
    """What the models are asked to answer with."""

    model_config = ConfigDict(extra="forbid")

    keep: bool
    confidence: float = Field(ge=0, le=1)
    reasons: list[str] = Field(max_length=3)


GOOD = {"keep": True, "confidence": 0.75, "reasons": ["said twice", "ünïcode 🏁"]}

BAD = [
    "",
    "   ",
    "not JSON",
    "null",
    "[]",
    "{}",
    '{"keep": true, "confidence": 0.75, "reasons": ["cut o',
    json.dumps({**GOOD, "confidence": 7}),
    json.dumps({**GOOD, "reasons": ["a"] * 4}),
    json.dumps({**GOOD, "extra": "rm -rf"}),
    json.dumps({**GOOD, "keep": {"nested": True}}),
    json.dumps({**GOOD, "confidence": None}),
    '{"keep": true, "confidence": NaN, "reasons": []}',
    "{" * 100_000,
    "[" * 100_000 + "]" * 100_000,
    "Sure! " + json.dumps(GOOD),
    "```json\n" + json.dumps(GOOD)[:-1] + "\n```",
]


@dataclass(frozen=True)
class Kind:
    """One kind of model.

    Attributes:
        name: Of the row.
        make: A closed model that gives these answers, if it can be told what to answer.
        scripted: Whether it can.
        opens: Whether it has to be opened.
    """

    name: str
    make: Callable[[ModelServer, Sequence[str]], AnyModel]
    scripted: bool = True
    opens: bool = True


def gemini(server: ModelServer, answers: Sequence[str]) -> GeminiModel:
    """Return a Gemini model whose server answers this."""
    server.answers.extend(gemini_says(answer) for answer in answers)
    return GeminiModel(KEY, base_url=server.url)


def openai(server: ModelServer, answers: Sequence[str]) -> OpenAIModel:
    """Return an OpenAI model whose server answers this."""
    server.answers.extend(openai_says(answer) for answer in answers)
    return OpenAIModel(f"{server.url}/open/v1", KEY, "gpt-test")


def keyless(server: ModelServer, answers: Sequence[str]) -> OpenAIModel:
    """Return the model of a local server, which wants no key."""
    server.answers.extend(openai_says(answer) for answer in answers)
    return OpenAIModel(f"{server.url}/local/v1", None, "llama3.2:3b")


KINDS = [
    Kind("echo", lambda *_: EchoModel(), scripted=False, opens=False),
    Kind("scripted", lambda _, answers: ScriptedModel(answers), opens=False),
    Kind("gemini", gemini),
    Kind("openai", openai),
    Kind("openai-keyless", keyless),
]
SCRIPTED = [kind for kind in KINDS if kind.scripted]
OPENED = [kind for kind in KINDS if kind.opens]


def named(kind: Any) -> str:
    """Return the name of a row."""
    return kind.name


running = held(running_model_server, "module")
"""One server for all tests of the module."""


@pytest.fixture
def server(running: ModelServer) -> ModelServer:
    """The server, with nothing left over from the test before."""
    running.answers.clear()
    running.seen.clear()
    return running


@asynccontextmanager
async def opened(
    kind: Kind, server: ModelServer, answers: Sequence[str] = ()
) -> AsyncIterator[LanguageModel]:
    """Open a model for the block, if it has to be."""
    model = kind.make(server, answers)
    if isinstance(model, EchoModel | ScriptedModel):
        yield model
    else:
        async with model:
            yield model


@pytest.mark.parametrize("kind", KINDS, ids=named)
async def test_every_model_is_the_port_and_says_what_it_is(kind: Kind, server: ModelServer) -> None:
    """``name`` is there before opening, and tells a script or an echo from a model."""
    made = kind.make(server, [])
    assert isinstance(made, LanguageModel)
    assert made.name
    local = isinstance(made, EchoModel | ScriptedModel)
    assert local == ("/" not in made.name)


@pytest.mark.parametrize("kind", KINDS, ids=named)
async def test_complete_answers_with_text(kind: Kind, server: ModelServer) -> None:
    """A question gets an answer that is not blank."""
    async with opened(kind, server, ["Mediums."]) as model:
        answer = await model.complete(QUESTION)
    assert answer == "Mediums." if kind.scripted else "Which tyres?" in answer


@pytest.mark.parametrize("kind", SCRIPTED, ids=named)
async def test_generate_answers_with_a_whole_object(kind: Kind, server: ModelServer) -> None:
    """An answer that fits comes back as an instance of what was asked for."""
    async with opened(kind, server, [json.dumps(GOOD)]) as model:
        assert await model.generate(QUESTION, Verdict) == Verdict.model_validate(GOOD)


@pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
@pytest.mark.parametrize("kind", SCRIPTED, ids=named)
async def test_what_does_not_fit_is_an_error_and_never_half_an_object(
    kind: Kind, bad: str, server: ModelServer
) -> None:
    """Cut off, hostile or endlessly nested: refused, however often the model may repeat it."""
    async with opened(kind, server, [bad] * 3) as model:
        with pytest.raises(TierRejected, match="model tier, generate"):
            await model.generate(QUESTION, Verdict)
    assert len(server.seen) <= 2


async def test_an_echo_makes_up_no_object(server: ModelServer) -> None:
    """Without a model there is nothing that could fit, and the error says so."""
    with pytest.raises(UsageError, match=r"no language model configured.*Verdict"):
        await EchoModel().generate(QUESTION, Verdict)


@pytest.mark.parametrize("kind", OPENED, ids=named)
async def test_closed_means_unavailable(kind: Kind, server: ModelServer) -> None:
    """Before opening and after closing nothing is asked; it can be opened again."""
    model = kind.make(server, [])
    assert isinstance(model, GeminiModel | OpenAIModel)
    for _ in range(2):
        with pytest.raises(TierUnavailable, match="not open"):
            await model.complete(QUESTION)
        with pytest.raises(TierUnavailable, match="not open"):
            await model.generate(QUESTION, Verdict)
        with pytest.raises(TierUnavailable, match="not open"):
            await model.health()
        async with model:
            assert await model.complete(QUESTION) == "echo: Which tyres?"
            with pytest.raises(UsageError, match="opened twice"):
                await model.__aenter__()
        await model.__aexit__(None, None, None)


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [{"role": "system", "content": "alone"}],
        [{"role": "user", "content": " \n"}],
        [{"role": "tool", "content": "x"}],
        [{"content": "x"}],
        [{"role": "user"}],
        [{"role": "user", "content": None}],
        [{"role": "user", "content": ["x"]}],
    ],
)
@pytest.mark.parametrize("kind", OPENED, ids=named)
async def test_what_cannot_be_answered_is_refused_before_it_is_sent(
    kind: Kind, messages: Any, server: ModelServer
) -> None:
    """No message, an unknown role, no text: the caller's mistake, and no request is made."""
    async with opened(kind, server) as model:
        with pytest.raises(UsageError, match="messages"):
            await model.complete(messages)
        with pytest.raises(UsageError, match="messages"):
            await model.generate(messages, Verdict)
    assert server.seen == []


@pytest.mark.parametrize("kind", OPENED, ids=named)
async def test_a_schema_that_is_none_is_refused_before_it_is_sent(
    kind: Kind, server: ModelServer
) -> None:
    """A type that has no JSON schema is the caller's mistake."""
    strange: Any = {"keep": bool}
    async with opened(kind, server) as model:
        with pytest.raises(UsageError, match="schema"):
            await model.generate(QUESTION, strange)
    assert server.seen == []
