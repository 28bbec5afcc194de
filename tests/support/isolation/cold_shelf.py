"""Attempts on documents: by the victim's ids and names, now and in the past, and writing over."""

from __future__ import annotations

from typing import Any

from tiers.documents import Document, PassageDraft, document_id

from .aims import INNER, OUTER, Aim
from .attempts import Method, Move, asking, graph_of, one_of, own, victims_id
from .oracle import Reach
from .worlds import LATER

_LIMIT = 500


def _moment(aim: Aim) -> Any:
    return aim.random.choice([None, LATER, aim.victim.recorded_at])


def on_shelf(aim: Aim) -> Move:
    """List everything, or what is on the victim's shelf, from the victim on."""
    shelf = aim.random.choice([None, aim.victim.record.shelf, aim.name("files")])
    behind = aim.random.choice(["", "", aim.word(aim.victim.id)])
    removed, as_of = aim.random.random() < 0.5, _moment(aim)
    return Move(
        lambda cold: cold.shelf.on_shelf(
            aim.scope, shelf, behind=behind, limit=_LIMIT, removed=removed, as_of=as_of
        )
    )


def revise(aim: Aim) -> Move:
    """Store a revision of the victim's document, or a document of its name in the own graph.

    That one is new: a colleague's of the name, which the attacker sees, may be revised.
    """
    mark, scope, known = aim.world.new_mark(), aim.scope, aim.victim.record
    is_theirs = (known.tenant, known.graph_id) == (scope.tenant, scope.graph_id)
    record_id = document_id(scope.tenant, scope.graph_id, known.shelf, known.name)
    corner = own(aim, "document", record_id, mark).corner
    document = Document(
        shelf=known.shelf,
        name=known.name,
        title=f"{mark} {aim.word()}",
        digest=mark,
        revision=aim.random.choice([1, known.revision + 1 if is_theirs else 1]),
        changed_at=LATER,
        topics=corner.topics,
        private=corner.private,
    ).stamped(scope, record_id, LATER)
    drafts = [PassageDraft(f"{mark} {aim.word()}")]
    return Move(lambda cold: cold.shelf.revise(scope, document, drafts), graph_of(scope))


def remove(aim: Aim) -> Move:
    """Remove the victim's document."""
    ids, reason = [aim.word(aim.victim.id), aim.victim.id], aim.word("gone")
    return Move(lambda cold: cold.shelf.remove(aim.scope, ids, reason, LATER))


_V, _F, _ALL = Reach.VISIBLE, Reach.FAMILY, (*OUTER, *INNER)

COLD_SHELF = (
    asking("shelf.documents", _F, ("document",), _ALL, Aim.ids, as_of=_moment, weight=3),
    asking("shelf.passages", _F, ("passage",), _ALL, Aim.ids, weight=3),
    Method("shelf.on_shelf", _V, on_shelf, ("document",), _ALL, weight=3),
    asking(
        "shelf.revisions",
        _V,
        ("document",),
        _ALL,
        victims_id,
        before=one_of(None, 2, 10**6),
        weight=2,
    ),
    asking(
        "shelf.passages_of",
        _V,
        ("passage",),
        _ALL,
        lambda aim: aim.word(aim.victim.record.document_id),
        weight=2,
    ),
    asking("shelf.count", _V, ("document",), _ALL),
    Method("shelf.revise", _V, revise, ("document",), _ALL, weight=2),
    Method("shelf.remove", _V, remove, ("document",), _ALL, weight=2),
)
