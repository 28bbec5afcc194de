"""Every place where somebody's words can be, and what takes them out of it. Pure data.

Whoever erases a subject or a user has to reach all of these, and whoever adds a table, a
collection, a key, a payload field, a file or a memory has to add a line here. A test compares the
list with what the engines really have, and another searches a whole installation after an erasure.

Names of tenants, graphs, agents, users and topics, and ids, are no content: they stay wherever they
are, for they say which record is whose.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Store: TypeAlias = Literal["sqlite", "mongodb", "redis", "qdrant", "home", "process", "outside"]
"""Where a place is.

========  ========================================================================
sqlite    a table of the embedded cold tier, shadow tables of its indexes included
mongodb   a collection of the cold tier on a server
redis     a field of the hash of an agent, embedded or on a server
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


_SQLITE = (
    Place("sqlite", "cards", "text", "redaction",
          ("type", "title", "text", "tags", "details", "machine")),
    Place("sqlite", "turns", "text", "redaction", ("input", "response", "tool_outputs", "speaker")),
    Place("sqlite", "summaries", "text", "redaction", ("text",)),
    Place("sqlite", "episodes", "text", "redaction", ("text",)),
    Place("sqlite", "facts", "text", "redaction",
          ("text", "subject", "predicate", "object", "digest", "key_digest", "subject_key",
           "predicate_key", "object_key")),
    Place("sqlite", "rules", "text", "redaction", ("trigger", "steps", "former", "digest")),
    Place("sqlite", "beliefs", "text", "redaction",
          ("claim", "key_subject", "key_attribute", "value")),
    Place("sqlite", "documents", "text", "redaction",
          ("name", "title", "properties", "text", "digest")),
    Place("sqlite", "document_revisions", "text", "redaction",
          ("name", "title", "properties", "text", "digest")),
    Place("sqlite", "passages", "text", "redaction", ("headings", "text", "digest")),
    Place("sqlite", "belief_contents", "text", "redaction", ("content",)),
    Place("sqlite", "receipts", "text", "redaction", ("query", "body")),
    Place("sqlite", "work", "text", "redaction", ("problem",)),
    Place("sqlite", "word_index", "key", "redaction", ("words",)),
    Place("sqlite", "word_index_data", "key", "redaction", ("block",)),
    Place("sqlite", "word_index_idx", "key", "redaction", ("term",)),
    Place("sqlite", "word_index_places", "key", "redaction", ("term",)),
    Place("sqlite", "trigger_words", "key", "redaction", ("word",)),
    Place("sqlite", "belief_words", "key", "redaction", ("word",)),
    Place("sqlite", "agents", "name", "nothing"),
    Place("sqlite", "audit", "name", "nothing"),
    Place("sqlite", "belief_events", "name", "nothing"),
    Place("sqlite", "belief_heads", "name", "nothing"),
    Place("sqlite", "belief_mentions", "name", "nothing"),
    Place("sqlite", "belief_spans", "name", "nothing"),
    Place("sqlite", "belief_topics", "name", "nothing"),
    Place("sqlite", "belief_trust", "name", "nothing"),
    Place("sqlite", "card_reads", "name", "nothing"),
    Place("sqlite", "card_recipients", "name", "nothing"),
    Place("sqlite", "consolidation", "name", "nothing"),
    Place("sqlite", "coverage", "name", "nothing"),
    Place("sqlite", "fact_uses", "name", "nothing"),
    Place("sqlite", "graphs", "name", "nothing"),
    Place("sqlite", "leases", "name", "nothing"),
    Place("sqlite", "parents", "name", "nothing"),
    Place("sqlite", "rule_outcomes", "name", "nothing"),
    Place("sqlite", "searchable", "name", "nothing"),
    Place("sqlite", "tail", "name", "nothing"),
    Place("sqlite", "topic_members", "name", "nothing"),
    Place("sqlite", "topic_sets", "name", "nothing"),
    Place("sqlite", "usage", "name", "nothing"),
    Place("sqlite", "watermarks", "name", "nothing"),
    Place("sqlite", "word_totals", "name", "nothing"),
    Place("sqlite", "sqlite_sequence", "none", "nothing"),
    Place("sqlite", "word_index_config", "none", "nothing"),
    Place("sqlite", "word_index_docsize", "none", "nothing"),
)  # fmt: skip

_FOUND_BY = ("terms", "frequencies")
"""Of each MongoDB record that can be found by words."""

_MONGODB = (
    Place("mongodb", "cards", "text", "redaction",
          ("type", "title", "text", "tags", "details", "machine", "moved")),
    Place("mongodb", "turns", "text", "redaction",
          ("input", "response", "tool_outputs", "speaker", "said_by", *_FOUND_BY)),
    Place("mongodb", "summaries", "text", "redaction", ("text", *_FOUND_BY)),
    Place("mongodb", "episodes", "text", "redaction", ("text", *_FOUND_BY)),
    Place("mongodb", "facts", "text", "redaction",
          ("text", "subject", "predicate", "object", "active_identity", "fact_key", "subject_key",
           "predicate_key", "object_key", "ends", "joins", "embedding", *_FOUND_BY)),
    Place("mongodb", "rules", "text", "redaction",
          ("trigger", "steps", "former", "identity", "trigger_words", *_FOUND_BY)),
    Place("mongodb", "beliefs", "text", "redaction",
          ("claim", "key", "key_subject", "active_key", "held_key", "value", "claim_words",
           *_FOUND_BY)),
    Place("mongodb", "documents", "text", "redaction",
          ("name", "title", "properties", "text", "digest")),
    Place("mongodb", "document_revisions", "text", "redaction",
          ("name", "title", "properties", "text", "digest")),
    Place("mongodb", "passages", "text", "redaction",
          ("headings", "text", "digest", *_FOUND_BY)),
    Place("mongodb", "belief_contents", "text", "redaction", ("content",)),
    Place("mongodb", "receipts", "text", "redaction", ("query", "body")),
    Place("mongodb", "work", "text", "redaction", ("problem",)),
    Place("mongodb", "agents", "name", "nothing"),
    Place("mongodb", "audit", "name", "nothing"),
    Place("mongodb", "belief_heads", "name", "nothing"),
    Place("mongodb", "belief_log", "name", "nothing"),
    Place("mongodb", "belief_spans", "name", "nothing"),
    Place("mongodb", "belief_trust", "name", "nothing"),
    Place("mongodb", "fact_uses", "name", "nothing"),
    Place("mongodb", "graphs", "name", "nothing"),
    Place("mongodb", "leases", "name", "nothing"),
    Place("mongodb", "links", "name", "nothing"),
    Place("mongodb", "redactions", "name", "nothing"),
    Place("mongodb", "retirements", "name", "nothing"),
    Place("mongodb", "rule_outcomes", "name", "nothing"),
    Place("mongodb", "settlements", "name", "nothing"),
    Place("mongodb", "signed_heads", "name", "nothing"),
    Place("mongodb", "usage", "name", "nothing"),
    Place("mongodb", "watermarks", "name", "nothing"),
    Place("mongodb", "word_totals", "name", "nothing"),
    Place("mongodb", "meta", "none", "nothing"),
)  # fmt: skip

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
            *("id", "tenant", "graph", "kind", "topics", "private_to", "tier", "grain"),
            *("agent_id", "user_id", "ref", "source_ids"),
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
    Place("home", "owner.json", "none", "nothing"),
    Place("home", "owner.lock", "none", "nothing"),
)

_PROCESS = (
    Place("process", "tiers.cold.sqlite.rows:_remembered", "text", "redaction"),
    Place("process", "tiers.embedding.batching:_cache", "key", "turnover"),
    Place("process", "tiers.embedding.queueing:_waiting", "text", "turnover"),
    Place("process", "tiers.embedding.queueing:_jobs", "text", "turnover"),
    Place("process", "tiers.embedding.queueing:_running", "text", "turnover"),
    Place("process", "tiers.embedding.queueing:_rooms", "text", "turnover"),
    Place("process", "metaagents.learning.likeness:_read_short", "text", "turnover"),
    Place("process", "tiers.cold.mongo.belief_commits:_waiting", "text", "turnover"),
    Place("process", "tiers.terms:term_of", "key", "turnover"),
    Place("process", "ezra.recollection.terms:_bags", "key", "turnover"),
    Place("process", "ezra.recollection.terms:_graphs", "key", "turnover"),
    Place("process", "ezra.recollection.terms:_read_word", "key", "turnover"),
    Place("process", "tiers.warm.edge_store:_turns", "name", "nothing"),
    Place("process", "ezra.recollection.pool:_candidates", "text", "turnover"),
    Place("process", "ezra.service.desk:_agents", "text", "turnover"),
    Place("process", "ezra.service.desk:_turns", "text", "turnover"),
    Place("process", "ezra.service.repeats:_running", "text", "turnover"),
    Place("process", "ezra.service.repeats:_kept", "text", "turnover"),
    Place("process", "ezra.service.limits:_buckets", "name", "nothing"),
    Place("process", "ezra.service.tokens:_tokens", "name", "nothing"),
    Place("process", "ezra.remote.agent:_names", "name", "nothing"),
    Place("process", "ezra.remote.board:_names", "name", "nothing"),
    Place("process", "ezra.documents.following:_ids", "name", "nothing"),
    Place("process", "ezra.documents.following:_seen", "name", "nothing"),
    Place("process", "ezra.remote.documents:_names", "name", "nothing"),
    Place("process", "ezra.remote.knowledge:_names", "name", "nothing"),
    Place("process", "ezra.service.app:_operation_routes", "none", "nothing"),
    Place("process", "ezra.service.routes:_by_name", "none", "nothing"),
    Place("process", "ezra.service.console.pages:_pages", "none", "nothing"),
    Place("process", "ezra.service.console.rendering:_static", "none", "nothing"),
    Place("process", "ezra.service.console.rendering:_digests", "none", "nothing"),
    Place("process", "ezra.service.console.sampling:_before", "none", "nothing"),
    Place("process", "ezra.service.console.signing_in:_open", "name", "nothing"),
    Place("process", "ezra.service.identity:_until", "name", "nothing"),
    Place("process", "ezra.wire.tools:agent_tools", "none", "nothing"),
    Place("process", "ezra.mesh.mcp_tools:_schemas", "none", "nothing"),
    Place("process", "ezra.mesh.mesh:_sources", "none", "nothing"),
    Place("process", "ezra.mesh.mesh:_connectors", "none", "nothing"),
    Place("process", "tiers.provider_clients:_load_connecting", "none", "nothing"),
    Place("process", "ezra.membership:_present", "name", "nothing"),
    Place("process", "ezra.parts:_names", "name", "nothing"),
    Place("process", "metaagents.clock:_held", "name", "nothing"),
    Place("process", "metaagents.lifecycle.retention:_places", "name", "nothing"),
    Place("process", "tiers.cold.mongo.database:_turns", "name", "nothing"),
    Place("process", "ezra.contradiction.strategies:_resolvers", "none", "nothing"),
    Place("process", "tiers.warm.qdrant_indexes:_open", "none", "nothing"),
    Place("process", "tiers.cold.mongo.documents:_inner_models", "none", "nothing"),
    Place("process", "tiers.cold.mongo.documents:_time_fields", "none", "nothing"),
    Place("process", "tiers.cold.sqlite.database:_insertion", "none", "nothing"),
    Place("process", "tiers.cold.sqlite.guard:required_params", "none", "nothing"),
    Place("process", "tiers.cold.sqlite.scope:_placed", "none", "nothing"),
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
