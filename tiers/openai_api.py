"""OpenAI's API, which other servers speak too: its client, and what its library raises."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from operator import attrgetter
from typing import TYPE_CHECKING

from .extras import needs
from .providers import answered, unanswered

if TYPE_CHECKING:
    import httpx2
    import openai

BASE_URL = "https://api.openai.com/v1"


def openai_client(
    key: str | None, url: str, http: httpx2.AsyncClient, *, part: str, setting: str
) -> openai.AsyncOpenAI:
    """Return a client that goes by its arguments; takes 0.3 s the first time.

    Args:
        key: The key; ``None`` for servers that need none.
        url: The server's address with its version.
        http: What it sends with; whoever made that closes it.
        part: What is asked of it: ``embeddings`` or ``chat.completions``.
        setting: What asked for it; named where the library is not installed.
    """
    with needs("openai", setting):
        import openai  # noqa: PLC0415 - 0.3 s, paid by those who use it

    client = openai.AsyncOpenAI(
        # Without a key the library would send the one in OPENAI_API_KEY, to any server.
        api_key=key or "none",
        base_url=url,
        max_retries=0,
        http_client=http,
    )
    # Loaded and kept at first use, 70 ms: here in the thread, not on the event loop.
    attrgetter(f"{part}.with_raw_response")(client)
    return client


@contextmanager
def openai_failures() -> Iterator[None]:
    """Turn what ``openai`` raises in the block into a ``ProviderFailure``."""
    import openai  # noqa: PLC0415 - loaded with the client

    try:
        yield
    except openai.APIStatusError as problem:
        headers = problem.response.headers
        raise answered(problem.status_code, problem.message, headers) from problem
    except openai.APIConnectionError as problem:
        late = isinstance(problem, openai.APITimeoutError)
        raise unanswered(problem.__cause__ or problem, late=late) from problem
