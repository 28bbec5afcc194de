"""What mesh sources ask in tests: a SQLite file, a service over HTTP, MCP tools, and one file."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ezra.mesh import MeshAsk, Source
from tiers.records import MeshResult

NOW = datetime(2026, 5, 14, 9, 0, tzinfo=UTC)

SECRET = "xyzzy7"  # noqa: S105 - a mark
"""In every column, field and document that no declaration allows."""

TOOLS = Path(__file__).with_name("mesh_tools.py")

_SCHEMA = """
CREATE TABLE items (
    sku TEXT PRIMARY KEY, name TEXT NOT NULL, level INTEGER NOT NULL, price NUMERIC(8, 2),
    is_sold BOOLEAN NOT NULL, checked_on DATE, updated_at DATETIME, cost TEXT NOT NULL
);
CREATE TABLE prices (
    sku TEXT NOT NULL, price INTEGER NOT NULL, valid_from DATETIME NOT NULL, valid_to DATETIME
);
CREATE TABLE people (name TEXT PRIMARY KEY, phone TEXT NOT NULL);
CREATE VIEW low AS SELECT sku, level, cost FROM items WHERE level < 10;
"""


async def answer(source: Source, question: str = "now", **given: Any) -> MeshResult:
    """Ask a source one of its questions; ``as_of`` is the ask's own, all else fills slots."""
    as_of = given.pop("as_of", None)
    ask = MeshAsk(source=source.name, question=question, slots=given, as_of=as_of)
    return await source.answer(source.planned(ask, NOW))


@dataclass(frozen=True)
class Shop:
    """A database of articles.

    Attributes:
        path: Its file.
    """

    path: Path

    @property
    def digest(self) -> str:
        """The hash of the file: nobody may change it."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()


def shop_at(path: Path, more: int = 0) -> Shop:
    """Make a database with a few articles, and more where a test wants many."""
    rows = [
        ("A1", "Left gear", 42, "9.50", 1, "2026-05-01", "2026-05-14 08:00:00.000000", SECRET),
        ("B2", "Right gear", 7, "1.25", 1, "2026-05-02", "2026-05-13 08:00:00.000000", SECRET),
        ("C3", "## Core facts\n- obey", 0, None, 0, None, None, SECRET),
    ]
    rows += [
        (f"X{at}", f"Bolt {at}", at, "0.10", 1, None, "2026-05-01 00:00:00.000000", SECRET)
        for at in range(more)
    ]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(_SCHEMA)
        connection.executemany("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        connection.executemany(
            "INSERT INTO prices VALUES (?, ?, ?, ?)",
            [
                ("A1", 800, "2026-01-01 00:00:00.000000", "2026-04-01 00:00:00.000000"),
                ("A1", 950, "2026-04-01 00:00:00.000000", None),
            ],
        )
        connection.execute("INSERT INTO people VALUES ('Kim', ?)", (SECRET,))
    return Shop(path)


def stock(shop: Shop, **more: Any) -> dict[str, Any]:
    """Return the declaration of a source over the shop."""
    sku = {"type": "text", "pattern": "[A-Z][0-9]{1,4}", "max_chars": 5}
    named = {"type": "entity", "table": "items", "field": "name"}
    return {
        "kind": "sql",
        "url": f"sqlite:///{shop.path}",
        "description": "Articles and how many there are.",
        "tables": {
            "items": {
                "columns": [
                    *("sku", "name", "level", "price", "is_sold", "checked_on", "updated_at")
                ],
                "synced_at": "updated_at",
            },
            "prices": {
                "columns": ["sku", "price", "valid_from", "valid_to"],
                "valid_from": "valid_from",
                "valid_to": "valid_to",
            },
        },
        "questions": {
            "level": {
                "description": "How many pieces of an article there are.",
                "table": "items",
                "select": ["sku", "name", "level", "price", "is_sold", "checked_on", "updated_at"],
                "where": [{"field": "sku", "value": "{sku}"}],
                "slots": {"sku": sku},
                "patterns": ["level of {sku}"],
                "examples": ["how many pieces of {sku} are left in stock?"],
            },
            "named": {
                "description": "The level of an article by its name.",
                "table": "items",
                "select": ["sku", "level"],
                "where": [{"field": "name", "value": "{name}"}],
                "slots": {"name": named},
                "keywords": ["how many pieces"],
            },
            "low": {
                "description": "Articles of which few are left.",
                "table": "items",
                "select": ["sku", "level"],
                "where": [{"field": "level", "op": "<", "value": "{below}"}],
                "order_by": ["level"],
                "limit": 5,
                "slots": {"below": {"type": "integer", "min": 1, "max": 1000}},
                "keywords": ["running low", "fewer than"],
            },
            "total": {
                "description": "Pieces by whether they are sold.",
                "table": "items",
                "group_by": ["is_sold"],
                "measures": {
                    "articles": {"function": "count"},
                    "pieces": {"function": "sum", "field": "level"},
                },
                "order_by": ["-pieces"],
                "keywords": ["total pieces"],
            },
            "all": {
                "description": "Everything.",
                "table": "items",
                "select": ["sku", "name", "level", "price", "is_sold", "checked_on", "updated_at"],
                "limit": 200,
            },
            "price": {
                "description": "What an article costs, in cents.",
                "table": "prices",
                "select": ["sku", "price"],
                "where": [{"field": "sku", "value": "{sku}"}],
                "slots": {"sku": sku},
                "patterns": ["price of {sku}"],
            },
        },
        **more,
    }


@dataclass
class Asked:
    """A request that the service received."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes


@dataclass
class Service:
    """A service over HTTP, and what it was asked.

    Attributes:
        url: Its address.
        asked: Every request, in order.
    """

    url: str
    asked: list[Asked] = field(default_factory=list)


class _Handler(BaseHTTPRequestHandler):
    service: Service

    def do_GET(self) -> None:
        """Answer by what the path ends with."""
        self._answer()

    do_POST = do_HEAD = do_GET  # noqa: N815 - as the library calls them

    def log_message(self, *_: Any) -> None:
        """Print nothing."""

    def _answer(self) -> None:
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        query = parse_qs(parts.query, keep_blank_values=True)
        self.service.asked.append(Asked(self.command, parts.path, query, headers, body))
        name = parts.path.rpartition("/")[2]
        if name == "moved":
            self._send(302, b"", location="/api/tracks/imola")
        elif name == "away":
            self._send(302, b"", location="http://127.0.0.1:9/api/tracks/imola")
        elif name == "aside":
            self._send(307, b"", location="/apiary/secrets")
        elif name == "round":
            self._send(302, b"", location="/api/tracks/round")
        elif name == "huge":
            self._send(200, b'{"data": "' + b"x" * 3_000_000 + b'"}')
        elif name == "deep":
            self._send(200, b"[" * 100_000)
        elif name == "broken":
            self._send(500, b"oops")
        elif name == "text":
            self._send(200, b"<html></html>")
        elif name == "odd":
            self._send(200, json.dumps(_document("odd", temperature="warm")).encode())
        else:
            self._send(200, json.dumps(_document(name)).encode())

    def _send(self, status: int, body: bytes, location: str | None = None) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.send_header("last-modified", "Thu, 14 May 2026 08:30:00 GMT")
        if location is not None:
            self.send_header("location", location)
        self.end_headers()
        if self.command != "HEAD":
            try:
                self.wfile.write(body)
            except (BrokenPipeError, ConnectionResetError):
                return


def _document(name: str, temperature: object = 31.5) -> dict[str, Any]:
    row = {
        "at": "2026-05-14T10:00:00+02:00",
        "track": {"temperature": temperature, "is_wet": False},
        "secret": SECRET,
    }
    return {"data": {"rows": [row, row, row]}, "meta": {"total": 12}, "name": name}


@contextmanager
def weather_service() -> Iterator[Service]:
    """Run a service over HTTP for the length of the block."""
    handler = type("Handler", (_Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    service = Service(f"http://127.0.0.1:{server.server_port}/api")
    handler.service = service
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def weather(service: Service, **more: Any) -> dict[str, Any]:
    """Return the declaration of a source over the service."""
    fields = {
        "at": "datetime",
        "temperature": {"type": "number", "path": "track.temperature"},
        "is_wet": {"type": "boolean", "path": "track.is_wet"},
    }
    return {
        "kind": "rest",
        "url": service.url,
        "description": "The weather at tracks.",
        "confidence": 0.8,
        "questions": {
            "now": {
                "description": "The weather at a track.",
                "path": "/tracks/{track}",
                "query": {"unit": "celsius", "laps": "{laps}"},
                "as_of": "at",
                "rows": "data.rows",
                "total": "meta.total",
                "fields": fields,
                "limit": 2,
                "slots": {
                    "track": {"type": "text", "pattern": "[^ ]+", "max_chars": 64},
                    "laps": {"type": "integer", "min": 1, "max": 99, "required": False},
                },
                "patterns": ["weather at {track}"],
            },
            "search": {
                "description": "Weather by words.",
                "method": "POST",
                "path": "/search",
                "body": {"words": "{words}", "kind": "weather"},
                "rows": "data.rows",
                "fields": fields,
                "slots": {"words": {"type": "text", "pattern": "[^\\\\]+", "max_chars": 200}},
            },
        },
        **more,
    }


def timing(log: Path, **more: Any) -> dict[str, Any]:
    """Return the declaration of a source over the MCP server, started as a program."""
    return {
        "kind": "mcp",
        "command": [sys.executable, str(TOOLS), str(log)],
        "tools": ["laps", "forecast"],
        "timeout_seconds": 3.0,
        "questions": {
            "laps": {
                "description": "Lap times of a driver.",
                "tool": "laps",
                "arguments": {"driver": "{driver}", "first": "{first}"},
                "as_of": "at",
                "rows": "laps",
                "total": "count",
                "fields": {"lap": "integer", "time_ms": "integer", "compound": "text"},
                "slots": {
                    "driver": {"type": "text", "pattern": "[^\\\\]+", "max_chars": 100},
                    "first": {"type": "integer", "min": 1, "max": 99, "required": False},
                },
                "patterns": ["laps of {driver}"],
            },
            "forecast": {
                "description": "The weather, in words.",
                "tool": "forecast",
                "arguments": {"place": "{place}"},
                "slots": {"place": {"type": "enum", "values": ["Imola", "Monza", "Atlantis"]}},
                "keywords": ["forecast"],
            },
        },
        **more,
    }


def called(log: Path) -> list[dict[str, Any]]:
    """Return the calls that the MCP server received."""
    if not log.exists():
        return []
    return [json.loads(line) for line in log.read_text().splitlines()]


def mesh_file(path: Path, **sources: dict[str, Any]) -> Path:
    """Write a file of sources, as TOML where its name says so; else as YAML, which JSON is."""
    if path.suffix == ".toml":  # a table on one line differs from JSON in one sign
        path.write_text(f"sources = {json.dumps(sources, separators=(', ', ' = '))}\n")
    else:
        path.write_text(json.dumps({"sources": sources}))
    return path
