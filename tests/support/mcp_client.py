"""What tests ask of an MCP server by the SDK's own client."""

from __future__ import annotations

import json
from typing import Any

from mcp.client.client import Client

from ezra.wire.tools import PROBLEM_CHARS_MAX


async def told(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return what a tool answers, which must not be an error."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    found: dict[str, Any] | None = result.structured_content
    assert found is not None
    return found


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """Return what a tool says that refuses."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result.structured_content
    text: str = result.content[0].text  # type: ignore[union-attr]
    assert len(text) <= PROBLEM_CHARS_MAX
    assert "Traceback" not in text
    return text


async def resource(client: Client, uri: str) -> dict[str, Any]:
    """Return what a resource holds."""
    (content,) = (await client.read_resource(uri)).contents
    found: dict[str, Any] = json.loads(content.text)  # type: ignore[union-attr]
    return found
