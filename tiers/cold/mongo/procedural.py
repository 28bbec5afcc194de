"""Rules in MongoDB, found by the words of their trigger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...learning import OUTCOMES_DENSE
from ...lexical import content_words, stem
from ...records import Rule, Scope, WorkDraft
from ..ownership import check_limit, check_owned
from .conditions import shown_fields
from .database import Database, Session
from .documents import Document, document_of, record_of
from .following import LEFT_BEHIND_INDEX
from .schema import Index, by, validator
from .scope import inherited
from .statements import identity_of, put_once
from .terms import searchable_fields

COLLECTIONS: Mapping[str, tuple[Sequence[Index], Mapping[str, Document] | None]] = {
    "rules": (
        [
            by("id", unique=True),
            by("identity", unique=True),
            by("trigger_words"),
            by("terms", "id"),
            LEFT_BEHIND_INDEX,
        ],
        validator(("id", "agent_id", "for_user", "topics", "private_to", "identity", "terms")),
    ),
}

TEXT_WORDS_MAX = 256


class MongoProceduralStore:
    """A ``ProceduralStore`` in MongoDB."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put_rule(
        self, scope: Scope, rule: Rule, work: Sequence[WorkDraft] = ()
    ) -> tuple[Rule, bool]:
        """Store a rule and return it, and whether it is new.

        One of the same writer, user, trigger, steps, topics and privacy is returned as it is; so
        is one of the same id that had these steps before it was refined.

        Raises:
            Conflict: The id is another rule's, or the graph is archived.
        """
        check_owned(scope, rule)
        document = rule_document(rule)
        return await put_once(
            self._database,
            scope,
            "rules",
            rule,
            same={"identity": document["identity"]},
            document=document,
            work=work,
        )

    async def match_rules(self, scope: Scope, text: str, limit: int) -> tuple[Rule, ...]:
        """Return visible rules whose trigger shares words with ``text``, best match first.

        Rules of the own graph and of the ancestors that carry ``rule``; of one read ``as_of`` a
        moment, those recorded by then. Best: most different words in common, stop words aside and
        plurals equal; then those more often confirmed than rejected before those without
        ``OUTCOMES_DENSE`` outcomes or with as many of each, and these before those more often
        rejected; then the shortest trigger; then the nearest graph.
        """
        check_limit(limit)
        asked = _stems(text)[:TEXT_WORDS_MAX]
        if not asked:
            return ()
        pipeline = _matching(scope, asked, limit)

        async def question(session: Session) -> tuple[Rule, ...]:
            found = await session.collection("rules").aggregate(pipeline)
            return tuple(record_of(Rule, document) for document in found)

        return await self._database.read("match_rules", question)


def rule_document(rule: Rule) -> Document:
    """Return a rule in stored form, with the words it is found by and what it is known by."""
    return document_of(
        rule,
        **searchable_fields(rule),
        identity=identity_of(rule, rule.trigger, *rule.steps),
        trigger_words=_stems(rule.trigger),
    )


def _matching(scope: Scope, asked: Sequence[str], limit: int) -> list[Document]:
    """Return the pipeline: most shared words, then outcomes, then the shortest trigger, then near.

    Sums of 0 and 1 instead of set operators, which not every server of our list needs to know.
    """
    shared = [_one_if({"$in": [word, "$trigger_words"]}) for word in asked]
    farther = [
        _one_if({"$eq": ["$graph_id", {"$literal": ancestor.graph_id}]}, n)
        for n, ancestor in enumerate(scope.carrying("rule"), 1)
    ]
    has_outcomes = {"$gte": [{"$add": ["$successes", "$failures"]}, OUTCOMES_DENSE]}
    order = {
        "shared": {"$add": shared},
        "proven": {
            "$add": [
                _one_if({"$and": [has_outcomes, {"$gt": ["$successes", "$failures"]}]}),
                _one_if({"$and": [has_outcomes, {"$gt": ["$failures", "$successes"]}]}, -1),
            ]
        },
        "of_words": {"$size": "$trigger_words"},
        "distance": {"$add": [0, *farther]},
    }
    return [
        {"$match": inherited(scope, "rule", redacted_at=None, trigger_words={"$in": list(asked)})},
        {"$project": dict.fromkeys(shown_fields(Rule), 1) | order},
        {"$sort": {"shared": -1, "proven": -1, "of_words": 1, "distance": 1, "_id": 1}},
        {"$limit": limit},
    ]


def _one_if(condition: Document, value: int = 1) -> Document:
    return {"$cond": [condition, value, 0]}


def _stems(text: str) -> list[str]:
    return list(dict.fromkeys(stem(word) for word in content_words(text)))
