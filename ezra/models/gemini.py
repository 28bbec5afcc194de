"""The language model at Gemini; the only module of google-genai outside ``tiers.embedding``."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Unpack

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from tiers.google_api import BASE_URL, google_client, google_failures
from tiers.provider_clients import make_http_client
from tiers.providers import first_problem, unreadable

from .answers import Answer, Finish, Message, ModelOptions, RemoteLanguageModel

if TYPE_CHECKING:
    from google import genai
    from google.genai import types

DEFAULT_MODEL = "gemini-2.5-flash"

_FINISHES: dict[str, Finish] = {
    "STOP": "complete",
    "MAX_TOKENS": "truncated",
    "SAFETY": "blocked",
    "RECITATION": "blocked",
    "LANGUAGE": "blocked",
    "BLOCKLIST": "blocked",
    "PROHIBITED_CONTENT": "blocked",
    "SPII": "blocked",
}


class GeminiModel(RemoteLanguageModel):
    """A Gemini model; implements ``tiers.ports.LanguageModel``.

    Args:
        api_key: The key.
        model: The model.
        base_url: Of another server that speaks the same API; ``None`` for Google's own.
        **options: See ``ModelOptions``.

    Raises:
        ConfigError: The key or the address cannot be one.
        UsageError: Another argument is out of range.
    """

    def __init__(
        self,
        api_key: str,
        model: str = DEFAULT_MODEL,
        *,
        base_url: str | None = None,
        **options: Unpack[ModelOptions],
    ) -> None:
        super().__init__("gemini", model, base_url or BASE_URL, api_key, **options)

    async def _connect(self, exits: AsyncExitStack) -> GeminiChat:
        http = await asyncio.to_thread(make_http_client, self._calls.limits)
        exits.push_async_callback(http.aclose)
        client = await asyncio.to_thread(
            google_client, self._key or "", self._url, http, setting="EZRA_LLM"
        )
        exits.callback(client.close)
        return GeminiChat(client, self._model)


class GeminiChat:
    """One request at a time to a Gemini model; implements ``answers.ChatModel``.

    Args:
        client: The library's client.
        model: The model's name.
    """

    def __init__(self, client: genai.Client, model: str) -> None:
        self._client = client
        self._model = model

    async def request(self, messages: Sequence[Message], schema: type[BaseModel] | None) -> Answer:
        """Return the answer of one ``generateContent``."""
        from google.genai import types  # noqa: PLC0415 - loaded with the client

        contents = [
            types.Content(
                role="model" if message.role == "assistant" else "user",
                parts=[types.Part(text=message.content)],
            )
            for message in messages
            if message.role != "system"
        ]
        config = _config(messages, schema)
        with google_failures():
            answer = await self._client.aio.models.generate_content(
                model=self._model, contents=list(contents), config=config
            )
        return _read(answer.sdk_http_response.body if answer.sdk_http_response else None)


def _config(
    messages: Sequence[Message], schema: type[BaseModel] | None
) -> types.GenerateContentConfig:
    """Return what is asked for beside the messages."""
    from google.genai import types  # noqa: PLC0415 - loaded with the client

    system = [message.content for message in messages if message.role == "system"]
    config = types.GenerateContentConfig(
        system_instruction="\n\n".join(system) or None,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        # As it came: the library takes an answer apart without looking at it first.
        should_return_http_response=True,
    )
    if schema is not None:
        config.response_mime_type = "application/json"
        config.response_json_schema = schema.model_json_schema()
    return config


class _Read(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)


class _Part(_Read):
    text: str = ""
    thought: bool = False


class _Content(_Read):
    parts: list[_Part] = []


class _Candidate(_Read):
    content: _Content = _Content()
    finish_reason: str = ""


class _Feedback(_Read):
    block_reason: str = ""


class _Usage(_Read):
    prompt_token_count: int = 0
    candidates_token_count: int = 0
    thoughts_token_count: int = 0


class _Body(_Read):
    """What is read of an answer."""

    candidates: list[_Candidate] = []
    prompt_feedback: _Feedback = _Feedback()
    usage_metadata: _Usage = _Usage()


def _read(body: str | None) -> Answer:
    """Return an answer taken from the JSON that came."""
    try:
        read = _Body.model_validate_json(body or "")
    except ValidationError as problem:
        raise unreadable(first_problem(problem)) from None  # it would show the whole answer
    usage = read.usage_metadata
    first = read.candidates[0] if read.candidates else _Candidate()
    blocked = read.prompt_feedback.block_reason
    reason = blocked or first.finish_reason
    return Answer(
        text="".join(part.text for part in first.content.parts if not part.thought),
        finish="blocked" if blocked else _FINISHES.get(reason, "unexpected"),
        detail=f"the prompt is blocked: {blocked}" if blocked else reason or "no answer at all",
        prompt_tokens=usage.prompt_token_count,
        completion_tokens=usage.candidates_token_count + usage.thoughts_token_count,
    )
