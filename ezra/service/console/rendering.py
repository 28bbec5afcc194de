"""Pages as HTML: templates with escaping on, and the filters that say numbers, times and ids.

Everything runs in a thread: a long page takes longer than the event loop may wait.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from tiers.forms import dated_text

from .pages import PREFIX, View, href

HERE = Path(__file__).parent
STATIC = HERE / "static"
KINDS: Mapping[str, str] = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
SHORT_CHARS = 10
NOTHING = "\N{EN DASH}"

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_UNITS = ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min"), (1, "s"))
_THOUSAND, _MILLION = 1_000, 1_000_000
_DIGEST_CHARS = 12


class Drawn:
    """What the console is made of: templates and static files, read once."""

    def __init__(self) -> None:
        self._environment: Environment | None = None
        self._static: dict[str, bytes] = {}
        self._digests: dict[str, str] = {}
        self._reading = asyncio.Lock()

    async def page(self, view: View, frame: Mapping[str, object]) -> str:
        """Return a view as HTML.

        Args:
            view: What to show.
            frame: What every page knows: who asks, the time, the navigation.
        """
        environment = await self._ready()
        return await asyncio.to_thread(_rendered, environment, view, frame)

    async def static(self, name: str) -> bytes | None:
        """Return a static file; ``None`` when there is none of the name."""
        await self._ready()
        return self._static.get(name)

    async def _ready(self) -> Environment:
        if self._environment is not None:
            return self._environment
        async with self._reading:
            if self._environment is None:
                self._environment = await asyncio.to_thread(self._read)
        return self._environment

    def _read(self) -> Environment:
        for path in sorted(STATIC.iterdir()):
            if path.suffix in KINDS:
                content = path.read_bytes()
                self._static[path.name] = content
                self._digests[path.name] = hashlib.sha256(content).hexdigest()[:_DIGEST_CHARS]
        environment = environment_of()
        environment.globals["static"] = self._address
        return environment

    def _address(self, name: str) -> str:
        """Return where a static file is; another content has another address."""
        return f"{PREFIX}/static/{name}?v={self._digests[name]}"


def environment_of() -> Environment:
    """Return the templates with everything that they may call."""
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters.update(
        moment=moment,
        dated_text=dated_text,
        age=age,
        number=number,
        tokens=tokens,
        percent=percent,
        short=short,
    )
    environment.globals["href"] = href
    return environment


def moment(when: datetime | None) -> Markup:
    """Return a time to the second, as an element that says it exactly."""
    if when is None:
        return Markup('<span class="none">never</span>')
    at = when.astimezone(UTC)
    return Markup('<time datetime="{}">{}</time>').format(
        at.isoformat(), at.strftime("%Y-%m-%d %H:%M:%S")
    )


@pass_context
def age(context: Context, when: datetime | None) -> Markup:
    """Return how long ago a time is, or how long it still is until then."""
    if when is None:
        return Markup('<span class="none">never</span>')
    seconds = (context["now"] - when).total_seconds()
    text = span_of(abs(seconds))
    said = "now" if text == "0 s" else f"in {text}" if seconds < 0 else f"{text} ago"
    return Markup('<time datetime="{0}" title="{0}">{1}</time>').format(
        when.astimezone(UTC).isoformat(timespec="seconds"), said
    )


def span_of(seconds: float) -> str:
    """Return a length of time in its largest unit: ``3 d``."""
    size, unit = next((one for one in _UNITS if seconds >= one[0]), _UNITS[-1])
    return f"{int(seconds // size)} {unit}"


def number(value: float | None) -> str:
    """Return a number with its thousands apart; a dash when there is none."""
    if value is None:
        return NOTHING
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"


def tokens(value: int | None) -> str:
    """Return a count of tokens as short as it is still exact enough: ``1.2k``."""
    if value is None:
        return NOTHING
    for size, unit in ((_MILLION, "M"), (_THOUSAND, "k")):
        if value >= 10 * size:
            return f"{value / size:.0f}{unit}"
        if value >= size:
            return f"{value / size:.1f}{unit}"
    return str(value)


def percent(share: float | None) -> str:
    """Return a share of 1 in percent."""
    return NOTHING if share is None else f"{100 * share:.0f} %"


def short(record_id: str) -> Markup:
    """Return an id by its end, which is what tells ids apart, with the whole of it at hand."""
    if len(record_id) <= SHORT_CHARS:
        return Markup("<code>{}</code>").format(record_id)
    end = f"…{record_id[-SHORT_CHARS + 1 :]}"
    return Markup('<code title="{}">{}</code>').format(record_id, end)


def _rendered(environment: Environment, view: View, frame: Mapping[str, object]) -> str:
    values = {**frame, **view.values, "title": view.title}
    return environment.get_template(view.template).render(values)
