"""What every warm engine refuses before it is asked."""

from __future__ import annotations

from ..errors import UsageError
from ..records import Scope, SearchQuery


def encodable(name: str) -> bool:
    """Whether a name can be sent anywhere: one with a lone surrogate cannot."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_asker(scope: Scope, query: SearchQuery) -> None:
    """Refuse a question by or about an agent or user whose name no engine can be asked for.

    Raises:
        UsageError: The name holds a lone surrogate.
    """
    asked: tuple[tuple[str, str | None], ...] = (
        ("scope.agent_id", scope.agent_id),
        ("scope.user_id", scope.user_id),
        ("user_id", query.user_id),
        ("writer_id", query.writer_id),
    )
    asked += tuple(("ids", one) for one in query.ids)
    for field, name in asked:
        if not encodable(name or ""):
            raise UsageError(field, name, "text without lone surrogates")


def check_positive(**settings: float) -> None:
    """Refuse settings that are not above 0.

    Raises:
        UsageError: Names the first of them.
    """
    for name, value in settings.items():
        if not value > 0:
            raise UsageError(name, value, "a number above 0")
