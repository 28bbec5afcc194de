"""``ezra doctor``: what is installed, and what each tier's engine says about itself."""

from __future__ import annotations

import platform
from importlib.metadata import packages_distributions, version
from typing import Any

import typer

from tiers.errors import EzraError
from tiers.health import TierHealth

from ..app import Ezra
from ..engines import check_up
from ..settings import Settings
from .doors import NoUrl, only_here
from .options import Home, Json, run, settings_at
from .screen import Screen

EXAMPLES = "Examples: ezra doctor  ·  ezra doctor --home /srv/ezra --json"
OURS = ("ezra", "tiers", "metaagents")


def doctor(home: Home = None, url: NoUrl = None, json: Json = False) -> None:
    """Check the installation and every tier: reachable, version, indexes, permissions, speed.

    Says what to do about each problem. Exit code 1 when a tier does not answer or the memory
    cannot be opened. Of a server, 'ezra status --url' tells how its tiers answer.
    """
    only_here("doctor", url)
    screen = Screen()
    report, healthy = run(examined(settings_at(home)))
    if json:
        screen.document(report)
    else:
        for line in lines_of(report):
            screen.line(line)
    if not healthy:
        raise typer.Exit(1)


def foreign_owners() -> dict[str, list[str]]:
    """Return our package names that another installed distribution claims as well."""
    owners = packages_distributions()
    return {
        name: sorted(set(owners.get(name, [])))
        for name in OURS
        if set(owners.get(name, [])) - {"ezra"}
    }


async def examined(settings: Settings) -> tuple[dict[str, Any], bool]:
    """Return what there is to say, and whether a runtime can be opened and every tier answers."""
    tiers = await check_up(settings)
    shared = foreign_owners()
    data, usable = await _opened(settings)
    report = {
        "ezra": version("ezra"),
        "python": platform.python_version(),
        "home": str(settings.home) if settings.needs_home else "not needed",
        "data": data,
        "packages": "owned by ezra alone" if not shared else f"also owned by: {shared}",
        "tiers": [tier.model_dump(mode="json") for tier in tiers],
    }
    return report, usable and not shared and all(tier.reachable for tier in tiers)


def lines_of(report: dict[str, Any]) -> list[str]:
    """Return the report as lines for people: a tier's problems below it."""
    lines = [f"{key:<9} {value}" for key, value in report.items() if key != "tiers"]
    for found in report["tiers"]:
        lines += _tier_lines(TierHealth.model_validate(found))
    return lines


def _tier_lines(tier: TierHealth) -> list[str]:
    said = [f"{tier.engine} {tier.version}".strip()]
    if not tier.reachable:
        said.append("NOT REACHABLE")
    if tier.round_trip_ms is not None:
        said.append(f"{tier.round_trip_ms:.2f} ms")
    said += [f"{name}: {value}" for name, value in tier.details.items()]
    return [f"{tier.tier:<9} {', '.join(said)}", *(f"{'':<9} → {one}" for one in tier.problems)]


async def _opened(settings: Settings) -> tuple[str, bool]:
    try:
        async with Ezra.open(settings) as ezra:
            return f"usable, {len(await ezra.session_graphs())} session graphs", True
    except EzraError as error:
        return f"{type(error).__name__}: {error}", False
