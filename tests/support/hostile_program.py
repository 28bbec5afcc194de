"""A program that speaks MCP by hand and does what its first argument says; a program of its own.

Its process id and how much it wrote are in the file that the second argument names.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

MEGABYTE = 1024 * 1024
TOOL = {"name": "laps", "inputSchema": {"type": "object", "properties": {"driver": {}}}}


def say(message: dict[str, Any]) -> None:
    """Write a message."""
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def note(log: Path, megabytes: int) -> None:
    """Write down who we are and how much was written."""
    log.write_text(json.dumps({"pid": os.getpid(), "megabytes": megabytes}))


def flood(log: Path, part: bytes) -> None:
    """Write a hundred megabytes."""
    for megabytes in range(100):
        note(log, megabytes)
        os.write(1, part)


def called(kind: str, log: Path, asked: int) -> None:
    """Answer a call as it was told to."""
    result: dict[str, Any] = {"content": [], "structuredContent": {"laps": []}}
    if kind == "one line":
        flood(log, b"x" * MEGABYTE)
    elif kind == "many lines":
        flood(log, b"{}\n" * (MEGABYTE // 3))
    elif kind == "silent":
        time.sleep(600)
    elif kind == "another id":
        asked += 1_000_000
    elif kind == "deep":
        result["structuredContent"] = {"laps": json.loads("[" * 100 + "]" * 100)}
    elif kind == "huge total":
        result["structuredContent"] = {"laps": [{"lap": 1}], "count": 10**400}
    say({"jsonrpc": "2.0", "id": asked, "result": result})


def main(kind: str, log: Path) -> None:
    """Serve until the input ends."""
    note(log, 0)
    for line in sys.stdin:
        message = json.loads(line)
        method, asked = message.get("method"), message.get("id")
        if kind == "another id from the start" and asked is not None:
            say({"jsonrpc": "2.0", "id": asked + 1_000_000, "result": {}})
        elif method == "initialize":
            about = {"name": "hostile", "version": "1"}
            version = message["params"]["protocolVersion"]
            result = {"protocolVersion": version, "capabilities": {"tools": {}}}
            say({"jsonrpc": "2.0", "id": asked, "result": {**result, "serverInfo": about}})
        elif method == "tools/list":
            say({"jsonrpc": "2.0", "id": asked, "result": {"tools": [TOOL]}})
        elif method == "tools/call":
            called(kind, log, asked)
        elif asked is not None:
            error = {"code": -32_601, "message": "no such method"}
            say({"jsonrpc": "2.0", "id": asked, "error": error})


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
