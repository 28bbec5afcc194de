"""What records are made of, and whether that is still there when they are stored.

Who makes something of a turn or a fact has read it before, and that may take as long as a model
takes to answer. So the transaction that stores what was made looks again: either it is first, and
what takes the turn away finds what was made of it, or it comes too late, and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...records import Scope
from ..conditions import Absent, Present
from ..port import Steps, asked
from .questions import own
from .statements import FACTS
from .turns import TURNS


def has_lost(scope: Scope, ids: Iterable[str]) -> Steps[bool]:
    """Whether one of some turns and facts of the graph was redacted or rolled back.

    What retention has emptied was not: what is made of it stays.
    """
    named = tuple(ids)
    if not named:
        return False
    lost = (Present("redacted_at"), Absent("retired_at"))
    found = yield from asked(*(own(one, scope, named, *lost) for one in (TURNS, FACTS)))
    return any(found)
