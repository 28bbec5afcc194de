"""The tools that a model is given: each one call of an agent's handle, described for a model.

Most follow from a method of a handle that is offered with a ``Tool`` (``ezra/operations.py``); what
a model is to say otherwise than a method takes it is written by hand, in ``AgentTools``. MCP and
the adapters for frameworks take both from here.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache, reduce
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from tiers.errors import EzraError, UsageError
from tiers.fencing import cut, flat
from tiers.fields import Misfit

from ..handles.agent import Agent
from ..operations import Effect, ForModel, Moment, Need
from .agent_tools import AgentTools, Lent, moment_of
from .derivation import Offered
from .handles import AGENT, HANDLES
from .operation import refusal_of
from .tool_answers import ANSWERS, Answer, Whole

PROBLEM_CHARS_MAX = 1_000

LENT = tuple(
    offered
    for handle in HANDLES
    if handle.name.partition(".")[0] == AGENT.name
    for offered in handle.offered.values()
    if offered.offer.tool is not None
)
"""The methods of an agent's handles that are offered with a ``Tool``."""


@dataclass(frozen=True)
class ToolSpec:
    """A tool as every framework is told of it.

    Attributes:
        name: What the model calls it.
        description: What the model reads before it does.
        method: Does it, called with ``AgentTools``, or with what is made of them.
        arguments: What it is called with; unknown arguments are refused.
        answer: What it returns.
        schema: Of the arguments; ``parameters`` is a copy.
        effect: What it does to memory.
        is_repeatable: Whether doing it twice does no more than doing it once.
        needs: What somebody must be allowed who calls it.
        is_everywhere: Whether the adapters for frameworks have it, and not MCP alone.
    """

    name: str
    description: str
    method: Callable[..., Awaitable[Answer]]
    arguments: type[BaseModel]
    answer: type[Answer]
    schema: Mapping[str, Any]
    effect: Effect
    is_repeatable: bool
    needs: Need
    is_everywhere: bool = False

    def has_answered(self, said: Mapping[str, Any]) -> bool:
        """Whether this may be what ``answered`` returned; of other tools it hardly is."""
        return set(said) in ({"error"}, {*self.answer.model_fields})

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON schema of the arguments, for the caller to keep and change."""
        return deepcopy(dict(self.schema))

    async def call(self, agent: Agent, arguments: Mapping[str, Any] | str) -> Answer:
        """Do it as an agent, with what a model gave: arguments by name, or their JSON.

        Raises:
            UsageError: One of them does not fit.
            EzraError: What the call of the handle raises.
        """
        model = self.arguments
        try:
            if isinstance(arguments, str):
                given = model.model_validate_json(arguments or "{}")
            else:
                given = model.model_validate(dict(arguments))
        except ValidationError as error:
            raise argument_refusal(error) from None

        async def asking() -> Agent:
            return agent

        arguments = {name: getattr(given, name) for name in model.model_fields}
        return await self.method(AgentTools(asking), **arguments)

    async def answered(
        self, agent: Agent | Awaitable[Agent], arguments: Mapping[str, Any] | str
    ) -> dict[str, Any]:
        """Do it as ``call`` does, and return the answer as JSON has it.

        What was refused is ``{"error": …}``: a model mends its call, and its run goes on. So is an
        agent that is not found, as while the server is away.
        """
        try:
            asking = await agent if inspect.isawaitable(agent) else agent
            return (await self.call(asking, arguments)).model_dump(mode="json")
        except EzraError as error:
            return {"error": error_line(error)}


@cache
def agent_tools() -> tuple[ToolSpec, ...]:
    """Return the tools of every surface, made once per process."""
    return (*written(AgentTools), *(tool for one in LENT if (tool := derived(one)).is_everywhere))


def all_tools(kind: type[AgentTools]) -> tuple[ToolSpec, ...]:
    """Return the tools of a class, and all that follow from methods of handles."""
    return (*written(kind), *map(derived, LENT))


def written(kind: type[AgentTools]) -> Iterator[ToolSpec]:
    """Yield the tools that are written by hand, those of the classes it is made of first."""
    for one in reversed(kind.__mro__):
        for method in vars(one).values():
            if isinstance(lent := getattr(method, "__lent__", None), Lent):
                words = " ".join((method.__doc__ or "").split())
                yield _spec(method, words, lent.effect, lent.needs, repeatable=lent.is_repeatable)


def derived(offered: Offered) -> ToolSpec:
    """Return a method of a handle as a tool.

    Raises:
        TypeError: It is not offered as one.
    """
    offer = offered.offer
    if offer.tool is None:
        raise TypeError(f"{offered.operation.name} is lent to no model")
    takes, attributes = tuple(_takes(offered)), offered.handle.name.split(".")[1:]
    name = offer.tool.name or offered.method_name
    answer: Any = ANSWERS.get(name, Whole)
    whole = offered.operation.answers

    async def method(tools: AgentTools, **given: Any) -> Answer:  # noqa: ANN401 - as it takes
        arguments = {one: _argument(offered, one, value) for one, value in given.items()}
        handle = reduce(getattr, attributes, await tools.agent())
        found = await getattr(handle, offered.method_name)(**arguments)
        shown: Answer = answer.of(
            whole.dump_python(found, mode="json") if answer is Whole else found
        )
        return shown

    tools = inspect.Parameter("tools", inspect.Parameter.POSITIONAL_ONLY)
    method.__name__ = name
    method.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        (tools, *takes), return_annotation=answer
    )
    made = _spec(
        method,
        offer.tool.words or offered.summary,
        offer.tool.effect,
        offered.operation.needs,
        repeatable=offer.tool.effect == "reads" or (offer.repeats and offer.own_id is None),
    )
    return replace(made, is_everywhere=offer.tool.everywhere)


def _takes(offered: Offered) -> Iterator[inspect.Parameter]:
    """Yield the parameters that a model is given, each with what it may say."""
    words = offered.words
    for name, one in list(offered.signature.parameters.items())[1:]:
        for_model = _for_model(offered.hints[name])
        if for_model is None:
            if one.default is not one.empty:
                continue
            for_model = ForModel(words.get(name, ""))
        hint = for_model.hint or offered.hints[name]
        if for_model.words:
            hint = Annotated[hint, Field(description=for_model.words)]
        default = for_model.default
        if default is ...:
            default = "" if one.default is None else one.default
        yield one.replace(annotation=hint, default=default, kind=one.KEYWORD_ONLY)


def _for_model(hint: Any) -> ForModel | None:  # noqa: ANN401 - a type
    return next(
        (one for one in getattr(hint, "__metadata__", ()) if isinstance(one, ForModel)), None
    )


def _argument(offered: Offered, name: str, value: Any) -> Any:  # noqa: ANN401 - whatever a model said
    """Return what a method is to be given for what a model said."""
    if value in ("", ()) and offered.signature.parameters[name].default is None:
        return None
    for_model = _for_model(offered.hints[name])
    return moment_of(value, name) if for_model is not None and for_model.hint is Moment else value


def _spec(
    method: Callable[..., Awaitable[Answer]],
    description: str,
    effect: Effect,
    needs: Need,
    *,
    repeatable: bool,
) -> ToolSpec:
    name = method.__name__
    signature = inspect.signature(method, eval_str=True)
    _, *takes = signature.parameters.values()
    fields: dict[str, Any] = {
        one.name: (one.annotation, ... if one.default is one.empty else one.default)
        for one in takes
    }
    config = ConfigDict(extra="forbid", title=f"{name}Arguments")
    arguments: type[BaseModel] = create_model(f"{name}_arguments", __config__=config, **fields)
    schema = arguments.model_json_schema()
    answer: type[Answer] = signature.return_annotation
    return ToolSpec(name, description, method, arguments, answer, schema, effect, repeatable, needs)


def error_line(error: EzraError) -> str:
    """Return what went wrong as one short line for a model."""
    return short(f"{type(error).__name__}: {error}")


def argument_refusal(error: ValidationError) -> UsageError:
    """Return the refusal of what a model gave: of all that does not fit, so that it mends that."""
    problems = error.errors(include_url=False)[:5]
    first, *others = map(_refused, problems)
    return UsageError(first.field, first.value, "; ".join([first.accepted, *map(str, others)]))


def _refused(problem: Mapping[str, Any]) -> UsageError:
    """Return the refusal of one argument; of one that there is not, without what it said."""
    if problem["type"] == "extra_forbidden":
        return UsageError("arguments", problem["loc"][-1], "the arguments that the tool has")
    return refusal_of(Misfit.of(problem), "arguments")


def short(text: str) -> str:
    """Return what a model is told of a problem: on one line, cut where it is too long.

    Errors quote what was given or stored; nothing of that may look like a line of ours.
    """
    return cut(flat(text), PROBLEM_CHARS_MAX)
