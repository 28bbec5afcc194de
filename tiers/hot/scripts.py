"""The atomic steps of the hot tier: Lua files, run by digest and sent in full when unknown."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from redis.exceptions import NoScriptError


@dataclass(frozen=True, slots=True)
class Script:
    """One Lua program over the hash of one agent."""

    text: str
    sha: str

    @classmethod
    def of(cls, *names: str) -> Script:
        """Return the program made of the named files of ``lua/``, in order."""
        folder = files(__package__).joinpath("lua")
        text = "\n".join(folder.joinpath(f"{name}.lua").read_text("utf-8") for name in names)
        # Not a security measure: Redis names scripts by their SHA-1.
        sha = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
        return cls(text, sha)

    async def run(self, send: Callable[..., Awaitable[Any]], key: str, *args: str | int) -> Any:  # noqa: ANN401 - Lua's
        """Run on ``key`` in one atomic step and return what the script returns.

        EVAL after NOSCRIPT, not SCRIPT LOAD: it goes to the node that owns the key, in a cluster
        too, and that node keeps the script for the next call.

        Args:
            send: Sends a command, given with its arguments.
            key: The hash.
            args: For the script.
        """
        try:
            return await send("EVALSHA", self.sha, 1, key, *args)
        except NoScriptError:
            return await send("EVAL", self.text, 1, key, *args)


APPEND = Script.of("view", "ring", "append")
RESTORE = Script.of("view", "ring", "restore")
PIN = Script.of("view", "pin")
UNPIN = Script.of("unpin")
PUT_MESH = Script.of("view", "put_mesh")
PROBE = Script.of("probe")
