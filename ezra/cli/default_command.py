"""Groups whose commands need not all be named: what names none is one of them."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup


def by_default(name: str, *, when_alone: bool = False) -> type[TyperGroup]:
    """Return a group in which arguments that begin with no command are those of ``name``.

    What is called like a command of the group needs the command's name before it.

    Args:
        name: The command.
        when_alone: Whether it also runs without any argument.
    """

    class ByDefault(TyperGroup):
        """Puts the name in front where there is none."""

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - click's
            is_named = bool(args) and (args[0] in ctx.help_option_names or args[0] in self.commands)
            is_meant = bool(args) or when_alone
            return super().parse_args(ctx, args if is_named or not is_meant else [name, *args])

    return ByDefault
