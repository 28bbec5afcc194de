-- The board of a graph: messages, tasks and actions.
CREATE TABLE cards (
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
    kind TEXT NOT NULL CHECK (kind IN ('message', 'task', 'action')),
    type TEXT NOT NULL,
    "to" TEXT NOT NULL,
    for_all INTEGER NOT NULL,
    thread TEXT NOT NULL,
    reply_to TEXT,
    status TEXT,
    priority TEXT NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    tags TEXT NOT NULL,
    details TEXT NOT NULL,
    machine TEXT NOT NULL,
    version INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    UNIQUE (tenant, graph_id, id)
) STRICT;

CREATE INDEX cards_by_change ON cards (tenant, graph_id, kind, changed_at, id);
CREATE INDEX cards_by_agent ON cards (tenant, graph_id, kind, agent_id, changed_at, id);
CREATE INDEX cards_by_thread ON cards (tenant, graph_id, kind, thread, changed_at, id);
CREATE INDEX cards_by_day ON cards (tenant, graph_id, recorded_at);

-- Whom a message is for, '' being everybody; a message never changes, so that its moment, with
-- which an inbox is read in order, is stored here once more.
CREATE TABLE card_recipients (
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    changed_at INTEGER NOT NULL,
    card_id TEXT NOT NULL,
    PRIMARY KEY (tenant, graph_id, agent_id, changed_at, card_id),
    FOREIGN KEY (tenant, graph_id, card_id) REFERENCES cards (tenant, graph_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE card_reads (
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    card_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    PRIMARY KEY (tenant, graph_id, card_id, agent_id),
    FOREIGN KEY (tenant, graph_id, card_id) REFERENCES cards (tenant, graph_id, id)
) STRICT, WITHOUT ROWID;
