-- Documents: each as it stands, its former revisions, and the passages that recall finds.

CREATE TABLE documents (
    row INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    user_id TEXT,
    topic_set INTEGER NOT NULL REFERENCES topic_sets (id),
    private_to TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    redacted_at INTEGER,
    shelf TEXT NOT NULL,
    name TEXT NOT NULL,
    title TEXT NOT NULL,
    media_type TEXT NOT NULL,
    digest TEXT NOT NULL,
    revision INTEGER NOT NULL CHECK (revision >= 1),
    properties TEXT NOT NULL,
    text TEXT NOT NULL,
    machine TEXT NOT NULL,
    passages INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    removed_at INTEGER,
    UNIQUE (tenant, graph_id, id),
    UNIQUE (tenant, graph_id, shelf, name)
) STRICT;

-- Revisions that another has followed; the last one is in documents alone.
CREATE TABLE document_revisions (
    row INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    user_id TEXT,
    topic_set INTEGER NOT NULL REFERENCES topic_sets (id),
    private_to TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    redacted_at INTEGER,
    shelf TEXT NOT NULL,
    name TEXT NOT NULL,
    title TEXT NOT NULL,
    media_type TEXT NOT NULL,
    digest TEXT NOT NULL,
    revision INTEGER NOT NULL CHECK (revision >= 1),
    properties TEXT NOT NULL,
    text TEXT NOT NULL,
    machine TEXT NOT NULL,
    passages INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    removed_at INTEGER,
    UNIQUE (tenant, graph_id, id, revision)
) STRICT;

-- until and retired_at are set together; without them a passage is current.
CREATE TABLE passages (
    row INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    user_id TEXT,
    topic_set INTEGER NOT NULL REFERENCES topic_sets (id),
    private_to TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    redacted_at INTEGER,
    document_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    headings TEXT NOT NULL,
    page INTEGER,
    text TEXT NOT NULL,
    digest TEXT NOT NULL,
    since INTEGER NOT NULL,
    until INTEGER,
    retired_at INTEGER,
    UNIQUE (tenant, graph_id, id)
) STRICT;

CREATE INDEX passages_by_document ON passages (tenant, graph_id, document_id, until, number);
-- What was live at a moment of the past and is not any more.
CREATE INDEX passages_ended ON passages (tenant, graph_id, retired_at)
    WHERE retired_at IS NOT NULL AND redacted_at IS NULL;
-- The latest passages of a graph are read from the end of what it was given.
CREATE INDEX passages_by_time ON passages (tenant, graph_id, recorded_at DESC, id)
    WHERE redacted_at IS NULL;
