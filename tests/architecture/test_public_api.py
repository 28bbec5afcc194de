"""What people import is what is written down."""

from __future__ import annotations

import ast
import inspect
import re
from types import ModuleType
from typing import Any

import pytest
from pydantic import ValidationError

import ezra
from ezra import Fact, Parent, Rule, UsageError, public
from tiers import cold, errors, ports, upkeep
from tiers.cold.stores.facts import SemanticStore
from tiers.records import Record


def test_all_is_sorted_and_complete() -> None:
    """``ezra.__all__`` names every public class of the module, in order, and nothing else."""
    found = [
        name
        for name, value in vars(public).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    ]
    assert list(ezra.__all__) == sorted(ezra.__all__)
    assert sorted(found) == sorted(ezra.__all__)
    handed_on = [
        one.asname
        for node in ast.parse(inspect.getsource(public)).body
        if isinstance(node, ast.ImportFrom)
        for one in node.names
    ]
    assert sorted(handed_on, key=str) == ezra.__all__


def test_the_error_tree_is_drawn_as_it_is() -> None:
    """The drawing in the module docstring shows every error below its parent."""
    drawn: dict[str, str | None] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"^    ([│├└─ ]*)(\w+)(?:\s{2,}|$)", line)
        if found is None:
            continue
        depth = len(found.group(1)) // 4
        path[depth:] = [found.group(2)]
        drawn[found.group(2)] = path[depth - 1] if depth else None
    real = {
        name: None if value is errors.EzraError else value.__bases__[0].__name__
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, errors.EzraError)
    }
    assert drawn == real


def test_the_fixed_names_of_the_cold_tier_are_where_they_are_said_to_be() -> None:
    """Both semantic stores recall archival facts alike, and MongoDB's makes its vector index."""
    stores = (SemanticStore, cold.MongoSemanticStore)
    for store in stores:
        asked = inspect.signature(store.recall_archival).parameters
        assert list(asked)[2:] == ["query", "user_id", "scope_topics", "limit"]
    making = inspect.signature(cold.MongoSemanticStore.ensure_vector_index).parameters
    assert list(making)[1] == "num_dimensions"


@pytest.mark.parametrize("floor", [ports, upkeep])
def test_ports_are_small_and_specified(floor: ModuleType) -> None:
    """No port has more than eight methods, and each says what it promises."""
    for name, port in vars(floor).items():
        if not (inspect.isclass(port) and getattr(port, "_is_protocol", False)):
            continue
        if port.__module__ != floor.__name__:
            continue
        methods = [
            value
            for method, value in vars(port).items()
            if not method.startswith("_") and inspect.isfunction(value)
        ]
        assert len(methods) <= 8, name
        assert all(method.__doc__ for method in methods), name


@pytest.mark.parametrize(
    ("record", "values", "field", "value"),
    [
        (Fact, {"text": "x", "tier": "warm"}, "tier", "warm"),
        (Rule, {"trigger": "x", "steps": "abc"}, "steps", "abc"),
        (Fact, {"text": "x", "topic": "y"}, "topic", "y"),
        (Parent, {}, "id", None),
    ],
)
def test_a_record_of_what_does_not_fit_is_refused_by_name(
    record: type[Record], values: dict[str, Any], field: str, value: object
) -> None:
    """As an error of ezra and a ``ValueError``; what is stored or sent is read with pydantic's."""
    with pytest.raises(UsageError) as refused:
        record(**values)
    assert isinstance(refused.value, ValueError)
    assert (refused.value.field, refused.value.value) == (field, value)
    assert refused.value.accepted
    with pytest.raises(ValidationError):
        record.model_validate(values)
