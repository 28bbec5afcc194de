"""Language models at a provider: what they are told, and which answers are taken."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from support.model_http import KEY, ModelServer, gemini_says, openai_says
from support.model_providers import AnyModel, Make, Verdict, question, says

from ezra.models import GeminiModel, OpenAIModel, TokenUsage
from tiers.errors import TierRejected


async def test_roles_are_said_in_the_providers_words(
    provider: str, server: ModelServer, model: Make
) -> None:
    """System messages are instructions to Gemini, and its assistant is a model."""
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": " "},
        {"role": "assistant", "content": "Hi."},
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Which tyres? \ud800"},
    ]
    async with model() as answering:
        assert await answering.complete(messages) == "echo: Which tyres? ?"
    body = server.seen[0].body
    if provider == "gemini":
        told = [(said["role"], said["parts"][0]["text"]) for said in body["contents"]]
        assert told == [("user", "Hello."), ("model", "Hi."), ("user", "Which tyres? ?")]
        assert body["systemInstruction"]["parts"] == [{"text": "Be brief.\n\nBe kind."}]
    else:
        kept = [message for message in messages if message["content"].strip()]
        assert [said["role"] for said in body["messages"]] == [said["role"] for said in kept]
        assert body["messages"][3]["content"] == "Be kind."


NO_ANSWER: list[tuple[str, dict[str, Any], str]] = [
    ("gemini", gemini_says(""), r"empty \(STOP\)"),
    ("gemini", {"candidates": []}, r"ended unexpectedly \(no answer at all\)"),
    ("gemini", {}, "ended unexpectedly"),
    ("gemini", {"candidates": [{"finishReason": "SAFETY"}]}, r"withheld \(SAFETY\)"),
    ("gemini", gemini_says("half", "RECITATION"), r"withheld \(RECITATION\)"),
    ("gemini", gemini_says("half", "MAX_TOKENS"), r"limit of tokens \(MAX_TOKENS\)"),
    ("gemini", gemini_says("half", "NEW_REASON_2027"), r"unexpectedly \(NEW_REASON_2027\)"),
    ("gemini", {"promptFeedback": {"blockReason": "OTHER"}}, "the prompt is blocked: OTHER"),
    ("openai", openai_says(""), r"empty \(stop\)"),
    ("openai", openai_says(None), "empty"),
    ("openai", openai_says(" \n"), "empty"),
    ("openai", openai_says("half", "length"), r"limit of tokens \(length\)"),
    ("openai", openai_says("half", "content_filter"), r"withheld \(content_filter\)"),
    ("openai", openai_says("half", "tool_calls"), r"unexpectedly \(tool_calls\)"),
    ("openai", openai_says(None, refusal="I cannot."), r"withheld \(the model refuses: I cannot"),
]


@pytest.mark.parametrize("case", NO_ANSWER, ids=range(len(NO_ANSWER)))
async def test_what_is_no_whole_answer_is_refused_with_its_reason(
    server: ModelServer, case: tuple[str, dict[str, Any], str]
) -> None:
    """Empty, withheld, cut off or ended in a way unknown today; counted, as it was paid for."""
    provider, answer, reason = case
    server.answers.append(answer)
    opening: AnyModel = GeminiModel(KEY, base_url=server.url)
    if provider == "openai":
        opening = OpenAIModel(f"{server.url}/open/v1", KEY, "gpt-test")
    async with opening as answering:
        with pytest.raises(TierRejected, match=reason):
            await answering.complete(question())
        assert answering.usage.calls == 1
        assert answering.usage.prompt_tokens == 11


async def test_the_schema_is_asked_for(provider: str, server: ModelServer, model: Make) -> None:
    """In Gemini's words, and in the strict form of OpenAI's."""
    server.answers.append(says(provider, '{"keep": true, "reason": "said twice"}'))
    async with model() as answering:
        verdict = await answering.generate(question(), Verdict)
    assert verdict == Verdict(keep=True, reason="said twice")
    body = server.seen[0].body
    if provider == "gemini":
        assert body["generationConfig"]["responseMimeType"] == "application/json"
        assert body["generationConfig"]["responseJsonSchema"] == Verdict.model_json_schema()
    else:
        asked = body["response_format"]["json_schema"]
        assert (body["response_format"]["type"], asked["strict"]) == ("json_schema", True)
        assert asked["name"] == "Verdict"
        assert asked["schema"]["required"] == ["keep", "reason"]
        assert asked["schema"]["additionalProperties"] is False


async def test_one_repair_is_asked_for_and_no_more(
    provider: str, server: ModelServer, model: Make
) -> None:
    """The model sees its answer and what is wrong with it; a second bad one is the end."""
    server.answers.append(says(provider, '{"keep": "maybe"}'))
    server.answers.append(says(provider, '```json\n{"keep": false}\n```'))
    async with model() as answering:
        assert await answering.generate(question(), Verdict) == Verdict(keep=False)
        said = json.dumps(server.seen[1].body)
        assert "maybe" in said
        assert "keep: Input should be a valid boolean" in said
        assert answering.usage == TokenUsage(2, 22, 10)
        server.answers.extend([says(provider, "no"), says(provider, "no"), says(provider, "{}")])
        with pytest.raises(TierRejected, match="fits no Verdict, asked twice"):
            await answering.generate(question(), Verdict)
    assert len(server.seen) == 4


async def test_an_answer_cut_off_is_not_repaired(
    provider: str, server: ModelServer, model: Make
) -> None:
    """It would be cut off again: the error says why at once."""
    finish = "MAX_TOKENS" if provider == "gemini" else "length"
    server.answers.append(says(provider, '{"keep": tr', finish))
    async with model() as answering:
        with pytest.raises(TierRejected, match="cut off at the limit of tokens"):
            await answering.generate(question(), Verdict)
    assert len(server.seen) == 1


async def test_models_keep_to_their_concurrency(server: ModelServer, model: Make) -> None:
    """Thirty callers share two slots, and each gets its own answer."""
    async with model(concurrency=2) as answering:
        answers = await asyncio.gather(*(answering.complete(question(f"q{n}")) for n in range(30)))
    assert answers == [f"echo: q{n}" for n in range(30)]
    assert server.most <= 2
