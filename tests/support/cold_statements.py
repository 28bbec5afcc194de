"""Every statement that the SQLite stores keep as a constant, by module and name."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

from tiers.cold import sqlite

_VERBS = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")
_APART = {"backfill", "schema"}
"""Modules that change the schema, outside of any scope."""

FRAGMENTS = {"queue._CLAIM", "queue._COUNTS"}
"""Go over rows that were found before, or wait for their conditions."""


def statements() -> dict[str, str]:
    """Return the statements of every module, whole ones only.

    One that is made for several tables alike stands there for turns.
    """
    found: dict[str, str] = {}
    for module in _modules():
        short = module.__name__.rpartition(".")[2]
        for name, value in vars(module).items():
            key = f"{short}.{name}"
            if key not in FRAGMENTS and _is_statement(name, value):
                found[key] = value.replace("{table}", "turns")
    return found


def _modules() -> Iterator[ModuleType]:
    for found in pkgutil.iter_modules(sqlite.__path__, f"{sqlite.__name__}."):
        if found.name.rpartition(".")[2] not in _APART:
            yield import_module(found.name)


def _is_statement(name: str, value: object) -> bool:
    return (
        name.startswith("_")
        and isinstance(value, str)
        and value.lstrip().startswith(_VERBS)
        and value.rstrip().split()[-1] != "WHERE"
    )
