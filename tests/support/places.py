"""Every place where somebody's words can be, and what takes them out of it. Pure data.

Whoever erases a subject or a user has to reach all of these, and whoever adds a table, a
collection, a key, a payload field, a file or a memory has to add a line here. A test compares the
list with what the engines really have, and another searches a whole installation after an erasure.

Names of tenants, graphs, agents, users and topics, and ids, are no content: they stay wherever they
are, for they say which record is whose.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias

Store: TypeAlias = Literal["sqlite", "mongodb", "redis", "qdrant", "home", "process", "outside"]
"""Where a place is.

========  ========================================================================
sqlite    a table of the embedded cold tier, shadow tables of its indexes included
mongodb   a collection of the cold tier on a server
redis     a field of the hash of an agent on a server; embedded, of the object that is kept for it
qdrant    a key of a point's payload, or one of its vectors, embedded or on a server
home      a file in the folder of the embedded tiers
process   what a running process remembers beyond one call
outside   a file that somebody asked for, wherever they wanted it
========  ========================================================================
"""

Holds: TypeAlias = Literal["text", "key", "name", "none"]
"""The most telling thing that stands in a place.

====  =====================================================================================
text  what was said: messages, answers of tools, claims, statements, summaries, questions
key   what follows from it and hints at it: single words, stems, vectors, unsalted digests
name  ids and names, kinds, numbers, moments; reasons that people gave for what they did
none  nothing that comes from a record
====  =====================================================================================
"""

Cleaning: TypeAlias = Literal[
    "redaction", "index", "rings", "rewriting", "turnover", "people", "nothing"
]
"""What takes the words of a subject out of a place.

=========  ================================================================================
redaction  the cold tier's own step: ``Redactor.redact`` replaces or removes what stands there
index      deleting the entries from the warm index, at once, and again by queued ``index`` work
rings      clearing what is kept for the agents concerned, or taking out single beliefs
rewriting  the engine writes its files anew without what was deleted
turnover   nothing right away: it is pushed out by what comes later and gone with the process
people     whoever made the file, or runs the server, removes it
nothing    there is nothing to take out
=========  ================================================================================
"""


class Place(NamedTuple):
    """One line of the list.

    Attributes:
        store: Where it is.
        name: A table, collection, field, key, file (``*`` for what varies), or ``module:name``.
        holds: The most telling thing in it.
        cleaned_by: What takes it out.
        fields: The columns or fields of it that ``holds`` speaks of, where it has several.
    """

    store: Store
    name: str
    holds: Holds
    cleaned_by: Cleaning
    fields: tuple[str, ...] = ()


class _Kept(NamedTuple):
    """A collection of the cold tier, in whichever engine.

    Attributes:
        name: Of its table or collection.
        holds: The most telling thing in its records.
        fields: What holds it.
        lists: What its lists hold.
    """

    name: str
    holds: Holds = "name"
    fields: tuple[str, ...] = ()
    lists: Mapping[str, Holds] = {}


_COLD = (
    _Kept("cards", "text", ("body", "type"),
          {"recipients": "name", "readers": "name", "tags": "text"}),
    _Kept("quarantined", "text", ("body",)),
    _Kept("turns", "text", ("body", "said_by")),
    _Kept("summaries", "text", ("body",)),
    _Kept("episodes", "text", ("body",), {"children": "name"}),
    _Kept("facts", "text",
          ("body", "identity", "said", "address", "subject_key", "predicate_key", "other_key",
           "subject", "object"),
          {"ends": "key", "joins": "key", "sources": "name"}),
    _Kept("rules", "text", ("body", "identity"), {"words": "key", "sources": "name"}),
    _Kept("beliefs", "text", ("body", "subject", "attribute", "held_key"),
          {"filed": "name", "words": "key", "sources": "name"}),
    _Kept("documents", "text", ("body", "name")),
    _Kept("document_revisions", "text", ("body",)),
    _Kept("passages", "text", ("body", "digest")),
    _Kept("belief_contents", "text", ("body",), {"names": "name"}),
    _Kept("receipts", "text", ("body",)),
    _Kept("set_aside", "text", ("body",)),
    _Kept("work", "text", ("body",)),
    _Kept("searchable", "key", ("body",), {"terms": "key"}),
    _Kept("agents", "text", ("body",)),
    _Kept("audit", lists={"about": "name"}),
    _Kept("belief_events"),
    _Kept("belief_heads"),
    _Kept("belief_spans"),
    _Kept("belief_trust"),
    _Kept("evidence_marks"),
    _Kept("fact_uses"),
    _Kept("graphs"),
    _Kept("leases"),
    _Kept("links"),
    _Kept("roll_backs"),
    _Kept("rule_outcomes"),
    _Kept("usage"),
    _Kept("watermarks"),
    _Kept("word_totals"),
)  # fmt: skip


def _cold(store: Store, name: str, holds: Holds, fields: tuple[str, ...]) -> Place:
    is_name = holds in {"name", "none"}
    return Place(store, name, holds, "nothing" if is_name else "redaction", fields)


def _tables(kept: _Kept) -> Iterator[Place]:
    """Yield the table of a collection, and those of its lists."""
    yield _cold("sqlite", kept.name, kept.holds, kept.fields)
    for name, holds in kept.lists.items():
        is_telling = holds not in {"name", "none"}
        yield _cold("sqlite", f"{kept.name}__{name}", holds, ("value",) if is_telling else ())


def _documents(kept: _Kept) -> Place:
    """Return the place of a collection whose lists stand in its documents."""
    lists = [f"{name}_listed" for name, holds in kept.lists.items() if holds != "name"]
    beside = ("embedding",) if kept.name == "facts" else ()
    fields = (*kept.fields, *lists, *beside)
    return _cold("mongodb", kept.name, kept.holds, fields)


_SQLITE = (
    *(place for kept in _COLD for place in _tables(kept)),
    Place("sqlite", "topic_sets", "name", "nothing"),
)

_MONGODB = (*map(_documents, _COLD), Place("mongodb", "meta", "none", "nothing"))

_REDIS = (
    Place("redis", "turn:*", "text", "rings"),
    Place("redis", "pin:*", "text", "rings"),
    Place("redis", "mesh", "text", "rings"),
    Place("redis", "view", "name", "nothing"),
)

_QDRANT = (
    Place("qdrant", "text", "text", "index"),
    Place("qdrant", "speaker", "text", "index"),
    Place("qdrant", "dense", "key", "index"),
    Place("qdrant", "bm25", "key", "index"),
    *(
        Place("qdrant", key, "name", "nothing")
        for key in (
            *("id", "owner", "tenant", "graph", "kind", "topics", "private_to", "tier"),
            *("grain", "agent_id", "user_id", "ref", "source_ids"),
            *("expires_at", "occurred_at", "recorded_at"),
        )
    ),
)

_HOME = (
    Place("home", "ezra.db", "text", "redaction"),
    Place("home", "ezra.db-wal", "text", "rewriting"),
    Place("home", "ezra.db-shm", "none", "nothing"),
    Place("home", "warm/*/shard/segments/*", "text", "rewriting"),
    Place("home", "warm/*/shard/wal/*", "text", "rewriting"),
    Place("home", "warm/*/shard/edge_config.json", "none", "nothing"),
    Place("home", "warm/*/manifest.json", "none", "nothing"),
    Place("home", "warm/*/marks.json", "name", "nothing"),
    Place("home", "warm/*/owner.lock", "none", "nothing"),
    Place("home", "signing-key.pem*", "none", "nothing"),
    Place("home", "memory-made", "none", "nothing"),
    Place("home", "owner.json", "none", "nothing"),
    Place("home", "owner.lock", "none", "nothing"),
)

_PROCESS = (
    Place("process", "tiers.cold.bodies:_young", "text", "redaction"),
    Place("process", "tiers.cold.bodies:_old", "text", "redaction"),
    Place("process", "tiers.cold.sqlite.topic_sets:_sights", "none", "nothing"),
    Place("process", "tiers.cold.sqlite.topic_sets:_numbers", "name", "nothing"),
    Place("process", "tiers.cold.stores.turn_io:_held", "text", "redaction"),
    Place("process", "tiers.cold.stores.erasures:_begun", "text", "turnover"),
    Place("process", "tiers.cold.stores.erasures:_last", "name", "nothing"),
    Place("process", "tiers.cold.mongo.database:_changing", "text", "turnover"),
    Place("process", "tiers.hot.embedded:_agents", "text", "rings"),
    Place("process", "tiers.embedding.batching:_cache", "key", "turnover"),
    Place("process", "tiers.embedding.queueing:_waiting", "text", "turnover"),
    Place("process", "tiers.embedding.queueing:_jobs", "text", "turnover"),
    Place("process", "tiers.embedding.queueing:_running", "text", "turnover"),
    Place("process", "tiers.embedding.queueing:_rooms", "text", "turnover"),
    Place("process", "metaagents.learning.likeness:_read_short", "text", "turnover"),
    Place("process", "metaagents.learning.rewording:_reworded", "text", "turnover"),
    Place("process", "metaagents.learning.succession:_claims", "text", "turnover"),
    Place("process", "metaagents.learning.updates:_told", "text", "turnover"),
    Place("process", "metaagents.learning.weighing:would_give_way", "text", "turnover"),
    Place("process", "tiers.learning:_has_ending", "text", "turnover"),
    Place("process", "tiers.learning:_telling_terms", "text", "turnover"),
    Place("process", "metaagents.learning.marks:_by_letters", "none", "nothing"),
    Place("process", "tiers.terms:term_of", "key", "turnover"),
    Place("process", "tiers.cold.digests:key_of", "key", "turnover"),
    Place("process", "tiers.lexical:stem", "key", "turnover"),
    Place("process", "metaagents.claims.forms:base", "key", "turnover"),
    Place("process", "metaagents.learning.grammar.verbs:third_person_base", "key", "turnover"),
    Place("process", "metaagents.learning.grammar.verbs:past_base", "key", "turnover"),
    Place("process", "ezra.evaluation.speed.vectors:_of_word", "key", "turnover"),
    Place("process", "metaagents.claims.forms:root", "key", "turnover"),
    Place("process", "tiers.warm.edge_points:_any_of", "name", "nothing"),
    Place("process", "tiers.warm.edge_points:_lasting", "name", "nothing"),
    Place("process", "tiers.warm.edge_points:_lasting_corpus", "name", "nothing"),
    Place("process", "tiers.warm.edge_points:_by_names", "name", "nothing"),
    Place("process", "tiers.warm.edge_readers:_name", "name", "nothing"),
    Place("process", "ezra.ranking.terms:_bags", "key", "turnover"),
    Place("process", "ezra.ranking.terms:_graphs", "key", "turnover"),
    Place("process", "metaagents.reindex.arrivals:_graphs", "key", "turnover"),
    Place("process", "ezra.ranking.terms:_read_word", "key", "turnover"),
    Place("process", "tiers.warm.edge_store:_names", "name", "nothing"),
    Place("process", "tiers.warm.guard:_owners", "name", "nothing"),
    Place("process", "tiers.warm.guard:_read_reader", "name", "nothing"),
    Place("process", "tiers.warm.payload:owner_of", "name", "nothing"),
    Place("process", "ezra.ranking.pool:_candidates", "text", "turnover"),
    Place("process", "metaagents.learning.marks:marks", "none", "nothing"),
    Place("process", "ezra.arguments:_forms_of", "none", "nothing"),
    Place("process", "ezra.remote.handle:_names", "name", "nothing"),
    Place("process", "ezra.wire.derivation:hints", "none", "nothing"),
    Place("process", "ezra.wire.derivation:in_path", "none", "nothing"),
    Place("process", "ezra.wire.derivation:offered", "none", "nothing"),
    Place("process", "ezra.wire.derivation:operation", "none", "nothing"),
    Place("process", "ezra.wire.derivation:signature", "none", "nothing"),
    Place("process", "ezra.service.console.pages:answer", "none", "nothing"),
    Place("process", "ezra.service.handle_pool:_agents", "text", "turnover"),
    Place("process", "ezra.service.handle_pool:_held", "text", "turnover"),
    Place("process", "ezra.service.handle_pool:_whose", "name", "nothing"),
    Place("process", "ezra.service.admission:_known", "none", "nothing"),
    Place("process", "ezra.service.admission:_wrong", "name", "nothing"),
    Place("process", "ezra.service.connections:_at_work", "name", "nothing"),
    Place("process", "ezra.service.connections:_open", "name", "nothing"),
    Place("process", "ezra.service.feed:_open", "name", "nothing"),
    Place("process", "ezra.mesh.program:_asked", "none", "nothing"),
    Place("process", "ezra.mesh.program:_env", "none", "nothing"),
    Place("process", "ezra.runtime:_last", "name", "nothing"),
    Place("process", "ezra.service.repeats:_running", "text", "turnover"),
    Place("process", "ezra.service.repeats:_kept", "text", "turnover"),
    Place("process", "ezra.service.limits:_buckets", "name", "nothing"),
    Place("process", "ezra.service.tokens:_tokens", "name", "nothing"),
    Place("process", "ezra.documents.following:_ids", "name", "nothing"),
    Place("process", "ezra.documents.following:_seen", "name", "nothing"),
    Place("process", "ezra.service.app:described_routes", "none", "nothing"),
    Place("process", "ezra.service.app:openapi_document", "none", "nothing"),
    Place("process", "ezra.service.routes:_by_name", "none", "nothing"),
    Place("process", "ezra.service.console.signing_in:_kept", "text", "turnover"),
    Place("process", "ezra.service.console.pages:_pages", "none", "nothing"),
    Place("process", "ezra.service.console.rendering:_static", "none", "nothing"),
    Place("process", "ezra.service.console.rendering:_digests", "none", "nothing"),
    Place("process", "ezra.service.console.sampling:_before", "none", "nothing"),
    Place("process", "ezra.service.console.sampling:_counted", "none", "nothing"),
    Place("process", "ezra.service.console.signing_in:_open", "name", "nothing"),
    Place("process", "ezra.service.identity:_until", "name", "nothing"),
    Place("process", "ezra.service.reference:_made", "none", "nothing"),
    Place("process", "ezra.cli.bridge_door:config", "none", "nothing"),
    Place("process", "ezra.wire.tools:agent_tools", "none", "nothing"),
    Place("process", "ezra.service.mcp_tools:_described", "none", "nothing"),
    Place("process", "tiers.cold.mongo.schema:_specification", "none", "nothing"),
    Place("process", "ezra.mesh.mcp_tools:_schemas", "none", "nothing"),
    Place("process", "ezra.mesh.mesh:_sources", "none", "nothing"),
    Place("process", "ezra.mesh.mesh:_connectors", "none", "nothing"),
    Place("process", "tiers.provider_clients:_load_connecting", "none", "nothing"),
    Place("process", "ezra.telemetry.spans:own_version", "none", "nothing"),
    Place("process", "ezra.rights.membership:_held", "name", "nothing"),
    Place("process", "ezra.arguments:_named_of", "none", "nothing"),
    Place("process", "ezra.operations:_names_of", "none", "nothing"),
    Place("process", "ezra.operations:_in_path_of", "none", "nothing"),
    Place("process", "ezra.operations:_kept_of", "none", "nothing"),
    Place("process", "ezra.runtime:_names", "name", "nothing"),
    Place("process", "ezra.recaller:_behind", "name", "nothing"),
    Place("process", "tiers.fleet:_whole", "name", "nothing"),
    Place("process", "tiers.cold.visibility:_owned", "name", "nothing"),
    Place("process", "tiers.cold.visibility:_seen", "name", "nothing"),
    Place("process", "metaagents.clock:_held", "name", "nothing"),
    Place("process", "metaagents.lifecycle.retention:_places", "name", "nothing"),
    Place("process", "metaagents.lifecycle.retired_traces:_blank_until", "name", "nothing"),
    Place("process", "tiers.cold.mongo.database:_turns", "name", "nothing"),
    Place("process", "ezra.contradiction.strategies:_resolvers", "none", "nothing"),
    Place("process", "tiers.warm.qdrant_indexes:_open", "none", "nothing"),
    Place("process", "tiers.fields:_blank", "none", "nothing"),
    Place("process", "tiers.cold.port:_takers", "none", "nothing"),
    Place("process", "tiers.cold.sqlite.rendering:columns", "none", "nothing"),
    Place("process", "tiers.cold.sqlite.records:_sides", "none", "nothing"),
    Place("process", "tiers.cold.sqlite.rendering:_order_of", "none", "nothing"),
    Place("process", "tiers.cold.sqlite.rendering:_text", "none", "nothing"),
    Place("process", "tiers.cold.sqlite.rendering:_of_each", "none", "nothing"),
    Place("process", "tiers.cold.sqlite.records:_insertion", "none", "nothing"),
    Place("process", "tiers.cold.sqlite.records:_removal", "none", "nothing"),
    Place("process", "tiers.cold.sqlite.records:_updating", "none", "nothing"),
    Place("process", "tiers.provider_clients:trusted_certificates", "none", "nothing"),
    Place("process", "tiers.warm.qdrant_connect:_trusted", "none", "nothing"),
    Place("process", "logging", "name", "nothing"),
)

_OUTSIDE = (
    Place("outside", "an export of a belief log", "text", "people"),
    Place("outside", "a copy of a folder or of a database", "text", "people"),
    Place("outside", "an export of a bridge, and its outbox on a machine", "text", "people"),
    Place("outside", "the handoff that a bridge's hooks prepared on a machine", "text", "turnover"),
    Place("outside", "a server's journals, free pages and backups", "text", "people"),
    Place("outside", "the ledger of a move", "name", "nothing"),
)

PLACES: tuple[Place, ...] = (
    *_SQLITE, *_MONGODB, *_REDIS, *_QDRANT, *_HOME, *_PROCESS, *_OUTSIDE,
)  # fmt: skip
"""The list, by store; inside one, what tells most comes first."""


def places_of(*stores: Store) -> dict[str, Place]:
    """Return the places of stores by name."""
    return {place.name: place for place in PLACES if place.store in stores}
