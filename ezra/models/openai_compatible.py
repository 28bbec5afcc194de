"""The language model behind any OpenAI-compatible server; the only such module of ``openai``."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Unpack

from pydantic import BaseModel, ValidationError

from tiers.openai_api import BASE_URL, openai_client, openai_failures
from tiers.provider_clients import make_http_client
from tiers.providers import first_problem, unreadable

from .answers import Answer, Finish, Message, ModelOptions, RemoteLanguageModel

if TYPE_CHECKING:
    import openai
    from openai.types.chat import ChatCompletionMessageParam
    from openai.types.shared_params import ResponseFormatJSONSchema

_FINISHES: dict[str, Finish] = {
    "": "complete",  # not every server says
    "stop": "complete",
    "length": "truncated",
    "content_filter": "blocked",
}
_SCHEMA_NAME_CHARS = 64


class OpenAIModel(RemoteLanguageModel):
    """A chat model behind the OpenAI API; implements ``tiers.ports.LanguageModel``.

    Works with OpenAI and with servers that speak its API (Ollama, vLLM, LM Studio).

    Args:
        base_url: The server's address with its version, like ``http://localhost:11434/v1``;
            ``None`` for OpenAI's own.
        api_key: The key; ``None`` for servers that need none. What the environment says about
            OpenAI is not used, so that a key never goes to a server it was not meant for.
        model: The model, by the server's name for it.
        **options: See ``ModelOptions``.

    Raises:
        ConfigError: The key or the address cannot be one.
        UsageError: Another argument is out of range.
    """

    def __init__(
        self,
        base_url: str | None,
        api_key: str | None,
        model: str,
        **options: Unpack[ModelOptions],
    ) -> None:
        super().__init__("openai", model, base_url or BASE_URL, api_key, **options)

    async def _connect(self, exits: AsyncExitStack) -> OpenAIChat:
        http = await asyncio.to_thread(make_http_client, self._calls.limits)
        exits.push_async_callback(http.aclose)
        client = await asyncio.to_thread(
            openai_client, self._key, self._url, http, part="chat.completions", setting="EZRA_LLM"
        )
        exits.push_async_callback(client.close)
        return OpenAIChat(client, self._model)


class OpenAIChat:
    """One request at a time to an OpenAI-compatible model; implements ``answers.ChatModel``.

    Args:
        client: The library's client.
        model: The model's name.
    """

    def __init__(self, client: openai.AsyncOpenAI, model: str) -> None:
        self._client = client
        self._model = model

    async def request(self, messages: Sequence[Message], schema: type[BaseModel] | None) -> Answer:
        """Return the answer of one ``POST /chat/completions``."""
        import openai  # noqa: PLC0415 - loaded with the client

        with openai_failures():
            # Raw, because the library builds its objects out of whatever comes, unchecked.
            answer = await self._client.chat.completions.with_raw_response.create(
                model=self._model,
                messages=[_message_param(message) for message in messages],
                response_format=openai.omit if schema is None else _format(schema),
            )
        return _read(answer.content)


def _message_param(message: Message) -> ChatCompletionMessageParam:
    match message.role:
        case "system":
            return {"role": "system", "content": message.content}
        case "user":
            return {"role": "user", "content": message.content}
        case "assistant":
            return {"role": "assistant", "content": message.content}


def _format(schema: type[BaseModel]) -> ResponseFormatJSONSchema:
    """Return the request for an answer that fits a schema, in the strict form of it."""
    import openai  # noqa: PLC0415 - loaded with the client

    # The public way to the strict form: every property required, none besides.
    strict = openai.pydantic_function_tool(schema)["function"]["parameters"]
    name = re.sub(r"[^A-Za-z0-9_-]", "_", schema.__name__)[:_SCHEMA_NAME_CHARS]
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "schema": strict, "strict": True},
    }


class _Said(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Said
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Body(BaseModel):
    """What is read of an answer."""

    choices: list[_Choice]
    usage: _Usage | None = None


def _read(content: bytes) -> Answer:
    """Return an answer taken from the JSON that came."""
    try:
        read = _Body.model_validate_json(content)
    except ValidationError as problem:
        raise unreadable(first_problem(problem)) from None  # it would show the whole answer
    if not read.choices:
        raise unreadable("it has no choices")
    first, usage = read.choices[0], read.usage or _Usage()
    refusal, reason = first.message.refusal, first.finish_reason or ""
    return Answer(
        text=first.message.content or "",
        finish="blocked" if refusal else _FINISHES.get(reason, "unexpected"),
        detail=f"the model refuses: {refusal[:200]}" if refusal else reason or "no reason given",
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
    )
