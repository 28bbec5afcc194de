"""What a runtime tells of itself: spans for who traces, numbers for who watches; never content.

Attributes and labels are ids, numbers and names that stand in the code. Of errors there is the
class, and no message, which may quote what was said. Nothing leaves the process unless a setting
says where to.
"""

from __future__ import annotations

from .numbers import Numbers
from .spans import Spans, Watched
from .telling import Telemetry

__all__ = ["Numbers", "Spans", "Telemetry", "Watched"]
