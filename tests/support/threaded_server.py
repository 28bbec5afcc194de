"""Stand-ins over HTTP: uvicorn in a thread of its own, which another one ends."""

from __future__ import annotations

import asyncio

from ezra.service.listening import PromptServer


class ThreadedServer(PromptServer):
    """A server that is run in a thread, and ended at once from another."""

    _loop: asyncio.AbstractEventLoop | None = None

    def end(self) -> None:
        """Let it break what is under way and stop; may be called before it runs."""
        self.should_exit = self.force_exit = True
        if self._loop is not None:  # else it looks when it begins
            self._loop.call_soon_threadsafe(self._changed.set)

    async def main_loop(self) -> None:
        """Run until it is ended."""
        self._loop = asyncio.get_running_loop()
        await super().main_loop()
