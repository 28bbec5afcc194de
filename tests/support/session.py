"""What many tests share: started by the first that needs it, closed when all tests have run."""

from __future__ import annotations

from contextlib import ExitStack

SESSION = ExitStack()
"""Closed by the test run's last fixture; enter here what may live that long."""
