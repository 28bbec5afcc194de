"""Backends that forget a part of the scope, to prove that the suite sees it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

from tiers.errors import EzraError
from tiers.records import ALL_TOPICS, Scope, Settlement

from .aims import OUTER
from .attempts import Method
from .engines import Bench, Target
from .oracle import Reach
from .worlds import World

Forgetting = Callable[[World, Scope], Iterable[Scope]]
"""With which scopes an engine works that forgets something about the given one."""


def _tenants(world: World, scope: Scope) -> list[Scope]:
    return [scope.model_copy(update={"tenant": tenant}) for tenant in world.tenants]


def _graphs(world: World, scope: Scope) -> list[Scope]:
    graphs = [graph_id for tenant, graph_id in world.houses if tenant == scope.tenant]
    return [scope.model_copy(update={"graph_id": graph_id}) for graph_id in graphs]


def _agents(world: World, scope: Scope) -> list[Scope]:
    agents = {one.agent_id for one in world.of_house((scope.tenant, scope.graph_id))}
    return [scope.model_copy(update={"agent_id": agent}) for agent in sorted(agents)]


def _user(_world: World, scope: Scope) -> list[Scope]:
    return [scope.model_copy(update={"every_user": True})]


def _topics(_world: World, scope: Scope) -> list[Scope]:
    return [scope.model_copy(update={"topics": (ALL_TOPICS,)})]


def _denied(_world: World, scope: Scope) -> list[Scope]:
    return [scope.model_copy(update={"denied": ()})]


def _as_of(_world: World, scope: Scope) -> list[Scope]:
    lineage = tuple(one.model_copy(update={"as_of": None}) for one in scope.lineage)
    return [scope.model_copy(update={"lineage": lineage})]


def _auditor(_world: World, scope: Scope) -> list[Scope]:
    return [scope.for_graph()]


def _all_but_owner(_world: World, scope: Scope) -> list[Scope]:
    whole = {"topics": (ALL_TOPICS,), "denied": (), "every_user": True}
    return [scope.model_copy(update=whole)]


FORGETTING: dict[str, Forgetting] = {
    "tenant": _tenants,
    "graph": _graphs,
    "agent": _agents,
    "user": _user,
    "topics": _topics,
    "denied": _denied,
    "as_of": _as_of,
    "view": _all_but_owner,
}
"""What an engine may forget, by name."""

_SHOWN_BY: dict[str, tuple[str, ...]] = {
    "tenant": ("tenant",),
    "graph": ("graph",),
    "agent": ("private",),
    "user": ("user",),
    "topics": ("topic",),
    "denied": ("denied",),
    "as_of": ("lineage",),
    "view": ("user", "topic", "denied"),
}
"""At which boundaries it shows; of a moment only where ancestors are read."""


def careless(bench: Bench, what: str) -> Bench:
    """Return the backend with ports that forget a part of every scope, attacked where it shows."""
    forgetting = FORGETTING[what]
    attacked = [
        method
        for method in bench.methods
        if what != "as_of" or method.reach is Reach.FAMILY
        # Answers of several scopes in one are none that can be compared with others.
        if not method.name.rpartition(".")[2].startswith("sight")
    ]

    def ports(held: Any, world: World) -> object:
        return _Careless(held, world, forgetting)

    return _changed(bench, f"without {what}", attacked, _SHOWN_BY[what], ports)


def auditing(bench: Bench) -> Bench:
    """Return the backend with a history that answers every agent as it would an auditor."""
    attacked = [one for one in bench.methods if one.name.startswith("history.")]
    return _changed(bench, "with an auditor for everybody", attacked, ("private",), _Auditing)


def settling(bench: Bench) -> Bench:
    """Return the backend with a log that ends whatever rival it is told of, wherever it is."""
    attacked = [one for one in bench.methods if one.name.startswith("beliefs.commit")]
    return _changed(bench, "with rivals of anybody", attacked, OUTER, _Settling)


def _changed(
    bench: Bench,
    how: str,
    attacked: Iterable[Method],
    boundaries: Collection[str],
    ports: Callable[[Any, World], object],
) -> Bench:
    """Return the backend with other ports, attacked by some methods at some boundaries."""
    methods = [
        replace(method, boundaries=[one for one in method.boundaries if one in boundaries])
        for method in attacked
    ]

    @asynccontextmanager
    async def opened(world: World, folder: Path) -> AsyncIterator[Target]:
        async with bench.opened(world, folder) as target:
            yield replace(target, ports=ports(target.ports, world))

    return replace(
        bench,
        name=f"{bench.name} {how}",
        opened=opened,
        counts=_no_counts,
        methods=[method for method in methods if method.boundaries],
    )


async def _no_counts(_ports: Any, _scope: Scope) -> dict[str, int]:
    return {}


class _Careless:
    """Ports, or one of them, whose every call is made under other scopes than it was given."""

    def __init__(self, ports: Any, world: World, forgetting: Forgetting) -> None:
        self._ports = ports
        self._world = world
        self._forgetting = forgetting

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._ports, name)
        if callable(found):
            return self._called(found)
        is_port = not isinstance(found, list | tuple)
        return _Careless(found, self._world, self._forgetting) if is_port else found

    def _called(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        async def call(*args: Any, **named: Any) -> Any:
            if not args or not isinstance(args[0], Scope):
                return await method(*args, **named)
            answers: list[Any] = []
            refusal: EzraError | None = None
            for scope in self._forgetting(self._world, args[0]):
                try:
                    answers.append(await method(scope, *args[1:], **named))
                except EzraError as error:
                    refusal = error
            if refusal is not None and not answers:
                raise refusal
            return tuple(answers)

        return call


class _Auditing:
    """Ports whose history never looks at who asks."""

    def __init__(self, ports: Any, world: World) -> None:
        self._ports = ports
        self.history = _Careless(ports.history, world, _auditor)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ports, name)


class _Settling:
    """Ports whose ``beliefs.commit`` takes back every rival that a settlement names."""

    def __init__(self, ports: Any, world: World) -> None:
        self._ports = ports
        self._world = world

    @property
    def beliefs(self) -> _Settling:
        """The belief store."""
        return self

    async def commit(self, scope: Scope, belief: Any, settled: Sequence[Settlement] = ()) -> Any:
        """End the rivals in every house, then commit."""
        for one in settled:
            for house in self._world.houses:
                with suppress(EzraError):
                    await self._ports.beliefs.revert(
                        Scope.of_graph(*house), one.rival_id, "settled", belief.recorded_at
                    )
        return await self._ports.beliefs.commit(scope, belief)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ports, name)
