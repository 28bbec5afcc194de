"""``Ezra``: what people open, and the only thing they need to import first."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from metaagents.reindex.rules import Reembedding
from tiers.concurrency import Lifetime, held
from tiers.errors import UsageError
from tiers.ids import Clock, system_clock
from tiers.ports import Embedder, LanguageModel

from .arguments import checked_name, is_time
from .assembly.assembler import assemble_runtime
from .handles.tenant import Tenant
from .mesh import Connector, Source
from .settings import Settings

if TYPE_CHECKING:
    from .remote.ezra import RemoteEzra

T = TypeVar("T")


class Opening(AbstractAsyncContextManager[T], Generic[T]):
    """What is opened for the length of an ``async with`` block, or, awaited, until its ``close``.

    A block is the safer one: it closes whatever happens inside. Where there is none, as in a
    notebook, ``ezra = await Ezra.open()`` is ended by ``await ezra.close()``, or with its event
    loop by ``asyncio.run``.
    """

    def __init__(
        self, block: AbstractAsyncContextManager[T], lifetime_of: Callable[[T], Lifetime]
    ) -> None:
        self._block = block
        self._lifetime_of = lifetime_of
        self._exits = AsyncExitStack()

    async def __aenter__(self) -> T:
        opened = await self._exits.enter_async_context(self._block)
        self._lifetime_of(opened).begin(self._exits.aclose)
        return opened

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        failed: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await self._exits.__aexit__(kind, failed, trace)

    def __await__(self) -> Generator[Any, Any, T]:
        return held(self._block, self._lifetime_of).__await__()


class Ezra(Tenant):
    """A running memory runtime. Made by ``Ezra.open``."""

    @classmethod
    def open(
        cls,
        settings: Settings | None = None,
        *,
        model: LanguageModel | None = None,
        embedder: Embedder | None = None,
        connectors: Mapping[str, Connector | Source] | None = None,
        clock: Clock = system_clock,
    ) -> Opening[Ezra]:
        """Open the runtime, for the length of an ``async with`` block or awaited.

        What was awaited stays open until ``close``, in the event loop that it was opened in.

        Args:
            settings: How to build it; from ``EZRA_*`` variables if not given.
            model: Answers in ``agent.complete``; an echo that says so if not given.
            embedder: Makes the vectors, in place of the settings' ``embedder``. Its ``model_id``
                names it for good: vectors of another name are made anew.
            connectors: Mesh sources by name: functions, or what ``ezra.mesh.source_of`` returns;
                they join those of the settings' ``mesh_file``.
            clock: Where the time comes from; a test passes its own.

        Raises:
            ConfigError: A setting does not allow it, or another process owns the data folder.
            UsageError: One of these is not what it is to be: a path is no ``Settings``.
        """
        _check_kinds(settings, model, embedder, connectors, clock)

        @asynccontextmanager
        async def opened() -> AsyncIterator[Ezra]:
            chosen = settings or Settings()
            built = assemble_runtime(chosen, model, dict(connectors or {}), clock, embedder)
            async with built as runtime:
                yield cls(runtime)

        return Opening(opened(), cls._lifetime)

    async def close(self) -> None:
        """End what was opened, as the end of an ``async with`` block does. May be repeated."""
        await self._lifetime().close()

    def _lifetime(self) -> Lifetime:
        return self._runtime.lifetime

    @classmethod
    def connect(
        cls, url: str, token: str | None = None, *, timeout_seconds: float | None = None
    ) -> Opening[RemoteEzra]:
        """Use a runtime that a server runs, for the length of an ``async with`` block or awaited.

        What is opened has the methods of ``Ezra``, and gives graphs and agents with the methods of
        ``Graph`` and ``Agent``. What takes a function, a resolver for example, is refused.

        Args:
            url: The server's address: ``http://127.0.0.1:8765``.
            token: Who asks; ``None`` for a server that needs none, on this machine.
            timeout_seconds: Of one call, two minutes if not given; when it is over, what was asked
                may have been done all the same.

        Raises:
            ConfigError: The address or the token cannot be one.
            UsageError: The seconds are no number above 0.
        """
        # Only who calls a server pays for the vocabulary of the wire.
        from .remote.connection import TIMEOUT_SECONDS, Connection  # noqa: PLC0415
        from .remote.ezra import RemoteEzra  # noqa: PLC0415

        seconds = TIMEOUT_SECONDS if timeout_seconds is None else timeout_seconds
        connection = Connection(url, token, timeout_seconds=seconds)

        @asynccontextmanager
        async def opened() -> AsyncIterator[RemoteEzra]:
            async with connection:
                yield RemoteEzra(connection)

        return Opening(opened(), lambda _: connection.lifetime)

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._runtime.settings

    @property
    def embedder(self) -> str | None:
        """The embedding model in use, or ``None`` when recall is by words only."""
        return self._runtime.embedder.model_id if self._runtime.embedder else None

    @property
    def model(self) -> str:
        """The language model that ``agent.complete`` asks; an echo says that it is one."""
        return self._runtime.model.name

    @property
    def reembedding(self) -> Reembedding | None:
        """How far re-embedding with another model has come; ``None`` when there is nothing to do.

        It goes on in the background; recall answers with the former model meanwhile.
        """
        return self._runtime.reembedder.progress


def _check_kinds(
    settings: object, model: object, embedder: object, connectors: object, clock: object
) -> None:
    """Refuse what could not do its part, before anything is opened.

    Raises:
        UsageError: Names which, and what it is to be.
    """
    if not isinstance(settings, Settings | None):
        raise UsageError("settings", settings, 'a Settings, such as Settings(home="./memory")')
    if model is not None and not (_does(model, "complete") and _says(model, "name", str)):
        raise UsageError("model", model, "a language model: what has name, complete and generate")
    said = _says(embedder, "model_id", str) and _says(embedder, "dimensions", int)
    if embedder is not None and not (said and _does(embedder, "embed")):
        accepted = "an embedder: what has model_id, dimensions and embed"
        raise UsageError("embedder", embedder, accepted)
    if not isinstance(connectors, Mapping | None):
        raise UsageError("connectors", connectors, "sources by their names")
    for name, source in (connectors or {}).items():
        checked_name("connectors", name)
        if not isinstance(source, Source) and not callable(source):
            raise UsageError(f"connectors.{name}", source, "an async function, or a Source")
    if not callable(clock) or not is_time(clock()):
        raise UsageError("clock", clock, "a function that returns a time with its zone")


def _does(part: object, method: str) -> bool:
    return callable(getattr(part, method, None))


def _says(part: object, name: str, kind: type) -> bool:
    return isinstance(getattr(part, name, None), kind)
