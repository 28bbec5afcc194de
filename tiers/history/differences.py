"""In what a stored projection differs from what the log comes to. Pure.

Whatever a question about beliefs can show is compared: each field of a belief, what became of it,
and when it was active. Of a belief whose content was destroyed its ``redacted`` event keeps a
digest of what is left.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator

from pydantic import JsonValue

from ..beliefs import Commitment, ProjectedBelief
from ..owned import REDACTED
from .chain import canonical, committed_content, iso
from .fold import Fold, FoldedBelief

_DESTROYED = ("claim", "key", "value")


def left_digest(belief: Commitment) -> str:
    """Return the SHA-256 of what is left of a belief whose content was destroyed."""
    content = committed_content(belief)
    left: dict[str, JsonValue] = {
        name: value for name, value in content.items() if name not in _DESTROYED
    }
    at = None if belief.redacted_at is None else iso(belief.redacted_at)
    return hashlib.sha256(canonical({**left, "redacted_at": at})).hexdigest()


def differences(fold: Fold, rows: Iterable[ProjectedBelief]) -> Iterator[str]:
    """Yield what is wrong with rows of the projection, in words."""
    for row in rows:
        problem = _problem(fold.beliefs.get(row.belief.id), row)
        if problem is not None:
            yield f"belief {row.belief.id} {problem}"


def _problem(known: FoldedBelief | None, row: ProjectedBelief) -> str | None:
    if known is None:
        return "is stored and not in the log"
    belief = row.belief
    stored = (belief.status, belief.committed_seq, belief.ended_seq, belief.superseded_by)
    folded = (known.status, known.committed_seq, known.ended_seq, known.superseded_by)
    if stored != folded or belief.pinned != known.pinned or list(row.spans) != known.spans:
        return "is stored unlike the log says"
    plain = Commitment.model_validate(
        {name: getattr(belief, name) for name in Commitment.model_fields}
    )
    if known.content is None:
        return _problem_of_redacted(known, plain)
    said = json.loads(json.dumps(committed_content(plain)))
    if belief.redacted_at is not None or said != known.content:
        return "says something the log does not"
    return None


def _problem_of_redacted(known: FoldedBelief, belief: Commitment) -> str | None:
    is_blank = (belief.claim, belief.key, belief.value) == (REDACTED, None, None)
    if not is_blank or belief.redacted_at is None:
        return "says something although it was redacted"
    if known.left is not None and left_digest(belief) != known.left:
        return "is stored unlike its redaction left it"
    return None
