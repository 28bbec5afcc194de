"""What a runtime tells of itself: spans for who traces, numbers for who watches; never content.

Attributes and labels are ids, numbers and names that stand in the code. Of errors there is the
class, and no message, which may quote what was said. Nothing leaves the process unless a setting
says where to.

``ezra/telemetry`` is told by router, recall and queued work. Each runtime has its own registry.
Labels are names in the code, spans have ids, and errors appear by class. Outside the gate stands
``watching``, inside it the turnstile: eight requests work at a time. Before them all, each
connection has deadlines, and the one of least use makes room for the next.
"""

from __future__ import annotations

from .instruments import Telemetry
from .numbers import Numbers
from .spans import Spans, Watched

__all__ = ["Numbers", "Spans", "Telemetry", "Watched"]
