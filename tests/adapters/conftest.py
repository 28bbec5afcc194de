"""One runtime behind each door, for the adapters' tests."""

from __future__ import annotations

from support.two_doors import house_for_a_file

home = house_for_a_file()
"""One runtime behind each door, for all tests of this file."""
