"""A provider's library is loaded at opening, in a thread: not earlier, and not later."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from support.model_http import KEY, running_model_server

# A process of its own: only there the libraries are not loaded yet. All four are opened before the
# first is asked, so that what one loads cannot hide what another forgot.
PROGRAM = """
import asyncio, contextlib, json, sys, threading
import ezra, ezra.models, ezra.assembly.assembler
from ezra.models import GeminiModel, OpenAIModel
from tiers.embedding.gemini_embedder import GeminiEmbedder
from tiers.embedding.openai_embedder import OpenAIEmbedder

url, key = sys.argv[1:]

closed = (
    GeminiModel(key, base_url=url),
    OpenAIModel(f"{url}/open/v1", key, "gpt-test"),
    GeminiEmbedder(key, base_url=url, dimensions=128),
    OpenAIEmbedder(key, base_url=f"{url}/open/v1", dimensions=64),
)
early = [name for name in ("google.genai", "openai", "httpx2") if name in sys.modules]

class Watch:
    on_the_loop = []

    def find_spec(self, name, path=None, target=None):
        if threading.current_thread() is threading.main_thread():
            self.on_the_loop.append(name)

async def main():
    said = [{"role": "user", "content": "Which tyres?"}]
    async with contextlib.AsyncExitStack() as exits:
        opened = [await exits.enter_async_context(one) for one in closed]
        sys.meta_path.insert(0, Watch())
        answers = [await model.complete(said) for model in opened[:2]]
        return answers + [len(await embedder.embed(["a"])) for embedder in opened[2:]]

answers = asyncio.run(main())
print(json.dumps({"early": early, "answers": answers, "loaded": Watch.on_the_loop}))
"""


def test_only_opening_loads_a_library() -> None:
    """Importing and constructing load none; once open, each answers, and nothing is left to load.

    They take a third of a second each: only who opens a provider pays.
    """
    with running_model_server() as server:
        ran = subprocess.run(
            [sys.executable, "-c", PROGRAM, server.url, KEY],
            capture_output=True,
            text=True,
            check=False,
            cwd=Path(__file__).parents[2],
        )
    assert ran.returncode == 0, ran.stderr
    said = "echo: Which tyres?"
    answers = [said, said, 1, 1]
    assert json.loads(ran.stdout) == {"early": [], "answers": answers, "loaded": []}
