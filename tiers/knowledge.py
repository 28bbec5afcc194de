"""The knowledge graph: facts with subject, predicate and object are its edges.

Nothing is stored for it besides facts, so scope, history, redaction and export are theirs. A
fact's subject and object are names of entities. Names are compared as ``spelled`` has them: case,
compatibility forms, underscores and white space make no difference. A fact with the predicate
``alias`` says that its subject is also called its object: both are names of one entity, as are
those that further such facts join to them, ``ALIAS_STEPS_MAX`` facts away at most. Such a fact
is no step of a path and no neighbour: it names, and tells nothing else.

What a reader may see is what ``SemanticStore.facts`` shows: of
the own graph everything visible; of an ancestor its core facts as ``core`` has them, and archival
ones if it carries ``fact``. Of that, reads have what stands: facts that are live, or with
``as_of`` those that had been recorded by then and neither superseded nor forgotten by then. What
an ancestor has forgotten is forgotten below it at every moment.
"""

from __future__ import annotations

from pydantic import Field

from .records import Fact, Record

ALIAS = "alias"
"""The predicate that joins two names."""

KEPT = "kept:"
"""A subject that begins with this is the address of something that an application keeps.

The fact then holds it word for word, and is compared with no other: what two such facts have in
common does not make one of them superfluous, nor does one deny what another says.
"""

APART = "apart:"
"""A predicate of something kept that begins with this keeps it out of every search and context.

It is read by its address alone: who asks about something else is not told of it.
"""

ALIAS_STEPS_MAX = 4
"""So many alias facts away a name is followed; further away it is another entity's."""

NAMES_MAX = 1_000
NEIGHBOURS_MAX = 1_000
NEIGHBOUR_DEPTH_MAX = 4
PATH_DEPTH_MAX = 6

PATH_FACTS_MAX = 10_000
"""So many facts from either end are looked at for a path; one that takes more is not found."""


def is_kept(fact: Fact) -> bool:
    """Whether a fact holds something that an application keeps under an address of its own."""
    return fact.subject is not None and fact.subject.startswith(KEPT)


def is_apart(fact: Fact) -> bool:
    """Whether a fact holds something that is read by its address, and found by no search."""
    return is_kept(fact) and (fact.predicate or "").startswith(APART)


def statement_of(fact: Fact) -> str:
    """Return what a fact says, for telling whether the same was said before.

    What an application keeps is the same where address and content are, whatever is shown of it.
    """
    if not is_kept(fact):
        return fact.text
    return "\n".join([fact.text, fact.subject or "", fact.predicate or "", fact.object or ""])


class Entity(Record):
    """What one or several names stand for.

    Attributes:
        name: Its most used spelling.
        aliases: Its other names, each in its most used spelling, most used first.
        facts: How many visible facts that stand name it, those that only join names aside.
    """

    name: str
    aliases: tuple[str, ...] = ()
    facts: int = Field(default=0, ge=0)


class Neighbour(Record):
    """A fact near an entity: ``distance`` 1 names it, 2 names what such a fact names, and so on."""

    fact: Fact
    distance: int = Field(ge=1)
