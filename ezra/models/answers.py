"""What all language models at a provider share: messages in, answers checked, tokens counted.

An adapter brings one request. What comes back is text from a stranger: it is whole and fits, or
it is an error.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Literal, Protocol, Self, TypeAlias, TypedDict, TypeVar, Unpack, get_args

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic.errors import PydanticUserError

from tiers.addresses import checked_base_url
from tiers.errors import TierRejected, TierUnavailable, UsageError
from tiers.health import TierHealth
from tiers.provider_clients import checked_key, checked_model
from tiers.providers import CallLimits, ProviderCalls, first_problem

Role: TypeAlias = Literal["system", "user", "assistant"]
Finish: TypeAlias = Literal["complete", "truncated", "blocked", "unexpected"]

ANSWER_CHARS_MAX = 1_000_000
_SHOWN_ANSWER_CHARS = 8_000
_ROLES: tuple[Role, ...] = get_args(Role)
_FAULTS: dict[Finish, str] = {
    "truncated": "the answer is cut off at the limit of tokens",
    "blocked": "the answer is withheld",
    "unexpected": "the answer ended unexpectedly",
}
_REPAIR = (
    "This answer cannot be used ({problem}). Answer again, with nothing but JSON that fits this "
    "schema: {schema}"
)
_PING = "Answer with one word: ready."

_M = TypeVar("_M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Message:
    """One message that a provider takes: not blank, and readable as UTF-8."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What a provider answered.

    Attributes:
        text: The answer, thoughts left out.
        finish: How it ended.
        detail: The provider's own word for that.
        prompt_tokens: Tokens read.
        completion_tokens: Tokens written, thoughts included.
    """

    text: str
    finish: Finish
    detail: str
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """What was used so far, as the provider counts.

    Attributes:
        calls: Answers, repairs and refused ones included.
        prompt_tokens: Tokens read.
        completion_tokens: Tokens written, thoughts included.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


class ModelOptions(TypedDict, total=False):
    """How a model at a provider is called.

    Attributes:
        timeout_seconds: For one answer, with every attempt, wait and repair; 60 if not given.
        attempts: Requests for one answer; 3 if not given.
        concurrency: Requests at a time, further callers wait; 8 if not given.
        requests_per_minute: What the quota allows; ``None`` leaves it to the provider's 429.
        first_delay_seconds: About the wait before the second attempt; 0.5 if not given.
        key_variable: What errors call the key; the provider's setting if not given.
        url_variable: What errors call the address; likewise.
    """

    timeout_seconds: float
    attempts: int
    concurrency: int
    requests_per_minute: float | None
    first_delay_seconds: float
    key_variable: str
    url_variable: str


class ChatModel(Protocol):
    """What an adapter brings: one request, without retries."""

    async def request(self, messages: Sequence[Message], schema: type[BaseModel] | None) -> Answer:
        """Return the provider's answer.

        Args:
            messages: At least one of them is not a system message.
            schema: What the answer has to fit as JSON; ``None`` for free text.

        Raises:
            ProviderFailure: No answer, a refusal, or an answer that cannot be read.
        """
        ...


def checked_messages(messages: Sequence[dict[str, str]]) -> list[Message]:
    """Return messages as providers take them.

    Blank ones are left out, as providers refuse them. Lone surrogates, which no UTF-8 can say,
    become question marks.

    Raises:
        UsageError: A message is none, or there is nothing to answer.
    """
    kept: list[Message] = []
    for message in messages:
        role, content = message.get("role"), message.get("content")
        if role not in _ROLES:
            raise UsageError("messages", role, f"a role of {', '.join(_ROLES)}")
        if not isinstance(content, str):
            raise UsageError("messages", content, "content that is a string")
        if content.strip():
            kept.append(Message(role, content.encode("utf-8", "replace").decode()))
    if all(message.role == "system" for message in kept):
        raise UsageError("messages", len(kept), "at least one that is no system message, not blank")
    return kept


def read_answer(text: str, schema: type[_M]) -> _M:
    """Return an answer as what it has to fit; a Markdown fence around the JSON is taken off.

    Raises:
        ValidationError: It is no JSON, or does not fit.
    """
    bare = text.strip()
    if bare.startswith("```") and bare.endswith("```"):
        bare = bare[3:-3].removeprefix("json").strip()
    return schema.model_validate_json(bare)


class RemoteLanguageModel(ABC):
    """The shell of a model at a provider; implements ``tiers.ports.LanguageModel``.

    An async context manager: entering loads the client library in a thread, leaving closes the
    client; outside of it every call raises ``TierUnavailable``.

    Args:
        provider: What names and errors call it.
        model: The model, by the provider's name for it.
        url: The provider's address.
        api_key: The key; ``None`` for servers that need none.
        **options: See ``ModelOptions``.

    Raises:
        ConfigError: The key or the address cannot be one.
        UsageError: Another argument is out of range.
    """

    def __init__(
        self,
        provider: str,
        model: str,
        url: str,
        api_key: str | None,
        **options: Unpack[ModelOptions],
    ) -> None:
        settings = f"EZRA_{provider.upper()}"
        key_variable = options.get("key_variable", f"{settings}_API_KEY")
        self._url = checked_base_url(url, options.get("url_variable", f"{settings}_BASE_URL"))
        self._key = None if api_key is None else checked_key(api_key, key_variable)
        self._model = checked_model(model)
        limits = CallLimits(
            options.get("timeout_seconds", 60.0),
            options.get("attempts", 3),
            options.get("concurrency", 8),
            options.get("requests_per_minute"),
            options.get("first_delay_seconds", 0.5),
        )
        self._calls = ProviderCalls(
            "model", provider, model, key=self._key, key_variable=key_variable, limits=limits
        )
        self._chat: ChatModel | None = None
        self._usage = TokenUsage()
        self._exits = AsyncExitStack()

    @abstractmethod
    async def _connect(self, exits: AsyncExitStack) -> ChatModel:
        """Make the client, leave its closing to ``exits``, and return the model behind it."""

    async def __aenter__(self) -> Self:
        if self._chat is not None:
            raise UsageError("model", "opened twice", "one opening at a time")
        async with AsyncExitStack() as exits:
            self._chat = await self._connect(exits)
            self._exits = exits.pop_all()
        return self

    async def __aexit__(self, *failed: object) -> None:
        self._chat = None
        await self._exits.aclose()

    @property
    def name(self) -> str:
        """Provider and model: ``gemini/gemini-2.5-flash``."""
        return self._calls.engine

    @property
    def usage(self) -> TokenUsage:
        """What was used since the model was made."""
        return self._usage

    async def complete(self, messages: Sequence[dict[str, str]]) -> str:
        """Return the model's answer to ``[{role, content}, …]``.

        Raises:
            UsageError: The messages cannot be answered.
            ConfigError: The provider refuses the key.
            TierUnavailable: Not open, not reachable, or the provider is busy.
            TierTimeout: No answer in time.
            TierRejected: The request was refused, or the answer is empty, withheld or cut off.
        """
        return (await self._answer("complete", checked_messages(messages), None)).text

    async def complete_counted(self, messages: Sequence[dict[str, str]]) -> tuple[str, int]:
        """Return the same, and the tokens that the provider read and wrote for it.

        Raises:
            EzraError: As in ``complete``.
        """
        answer = await self._answer("complete", checked_messages(messages), None)
        return answer.text, answer.prompt_tokens + answer.completion_tokens

    async def generate(self, messages: Sequence[dict[str, str]], schema: type[_M]) -> _M:
        """Return an answer that fits ``schema``.

        The provider is asked for the schema, and what it answers is checked against it. An answer
        that does not fit is shown to the model once, with what is wrong, within the same deadline.

        Raises:
            UsageError: The messages cannot be answered, or ``schema`` is none.
            TierRejected: As in ``complete``, or the second answer does not fit either.
            EzraError: As in ``complete``.
        """
        asked, wanted = checked_messages(messages), _schema_of(schema)
        async with self._calls.deadline("generate"):
            first = await self._ask("generate", asked, schema)
            try:
                return read_answer(first, schema)
            except ValidationError as problem:
                said = _REPAIR.format(problem=first_problem(problem), schema=wanted)
            shown = first[:_SHOWN_ANSWER_CHARS]
            repair = [*asked, Message("assistant", shown), Message("user", said)]
            second = await self._ask("generate", repair, schema)
        try:
            return read_answer(second, schema)
        except ValidationError as problem:
            said = f"the answer fits no {schema.__name__}, asked twice: {first_problem(problem)}"
            raise self._rejected("generate", said) from problem

    async def health(self) -> TierHealth:
        """Return what one tiny question, asked once, says about the provider.

        Raises:
            TierUnavailable: Not open.
        """
        chat = self._opened("health")

        async def attempt() -> dict[str, JsonValue]:
            self._count(await chat.request([Message("user", _PING)], None))
            return {}

        return await self._calls.health(attempt, {})

    async def _ask(
        self, operation: str, messages: Sequence[Message], schema: type[BaseModel] | None
    ) -> str:
        return (await self._answer(operation, messages, schema)).text

    async def _answer(
        self, operation: str, messages: Sequence[Message], schema: type[BaseModel] | None
    ) -> Answer:
        chat = self._opened(operation)

        async def attempt() -> Answer:
            return await chat.request(messages, schema)

        answer = await self._calls.call(operation, attempt)
        self._count(answer)
        if answer.finish != "complete":
            raise self._rejected(operation, f"{_FAULTS[answer.finish]} ({answer.detail})")
        if not answer.text.strip():
            raise self._rejected(operation, f"the answer is empty ({answer.detail})")
        if len(answer.text) > ANSWER_CHARS_MAX:
            raise self._rejected(operation, f"the answer has {len(answer.text)} characters")
        return answer

    def _count(self, answer: Answer) -> None:
        self._usage = TokenUsage(
            self._usage.calls + 1,
            self._usage.prompt_tokens + answer.prompt_tokens,
            self._usage.completion_tokens + answer.completion_tokens,
        )

    def _opened(self, operation: str) -> ChatModel:
        if self._chat is None:
            raise TierUnavailable("model", operation, f"{self.name} is not open")
        return self._chat

    def _rejected(self, operation: str, reason: str) -> TierRejected:
        return TierRejected("model", operation, f"{self.name}: {reason}")


def _schema_of(schema: type[BaseModel]) -> str:
    """Return the JSON schema of a model as text."""
    try:
        return json.dumps(schema.model_json_schema())
    except (PydanticUserError, AttributeError) as problem:
        accepted = "a pydantic model that has a JSON schema"
        raise UsageError("schema", schema, accepted) from problem
