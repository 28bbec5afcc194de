-- Times are integer microseconds since 1970 in UTC, lists are JSON.
--
-- Every table of records carries the same owner columns, which is all that the scope predicate
-- (scope.py) reads: tenant, graph_id, topic_set, and private_to, which is '' for shared records.

CREATE TABLE graphs (
    row INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    state TEXT NOT NULL,
    inherits_from TEXT NOT NULL,
    merge_strategy TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    closed_at INTEGER,
    UNIQUE (tenant, id)
) STRICT;

CREATE TABLE agents (
    row INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    id TEXT NOT NULL,
    role TEXT NOT NULL,
    user_id TEXT,
    topics TEXT NOT NULL,
    sources TEXT NOT NULL,
    spawned_at INTEGER NOT NULL,
    left_at INTEGER,
    UNIQUE (tenant, graph_id, id)
) STRICT;

-- Agents write under few different sets of topics, so a set is stored once and a record names it
-- by number: one integer instead of a row per topic, and still an indexed lookup per candidate.
-- The empty set has the one member ''.
CREATE TABLE topic_sets (
    id INTEGER PRIMARY KEY,
    topics TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE topic_members (
    topic_set INTEGER NOT NULL REFERENCES topic_sets (id),
    topic TEXT NOT NULL,
    PRIMARY KEY (topic_set, topic)
) STRICT, WITHOUT ROWID;

CREATE TABLE turns (
    row INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    user_id TEXT,
    topic_set INTEGER NOT NULL REFERENCES topic_sets (id),
    private_to TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    seq INTEGER NOT NULL CHECK (seq >= 1),
    ref TEXT,
    speaker TEXT NOT NULL,
    input TEXT NOT NULL,
    response TEXT NOT NULL,
    tool_outputs TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    occurred_at INTEGER NOT NULL,
    UNIQUE (tenant, graph_id, id),
    UNIQUE (tenant, graph_id, agent_id, seq)
) STRICT;

CREATE UNIQUE INDEX turns_by_ref ON turns (tenant, graph_id, ref) WHERE ref IS NOT NULL;

-- Turns that no summary covers yet. Apart from the turns, so that finding them costs what waits
-- and not what has ever been said.
CREATE TABLE tail (
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    turn_id TEXT NOT NULL,
    PRIMARY KEY (tenant, graph_id, agent_id, seq)
) STRICT, WITHOUT ROWID;

-- The key makes "covered by exactly one summary per level" a rule of the engine.
CREATE TABLE coverage (
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    level INTEGER NOT NULL,
    turn_id TEXT NOT NULL,
    summary_id TEXT NOT NULL,
    PRIMARY KEY (tenant, graph_id, level, turn_id),
    FOREIGN KEY (tenant, graph_id, turn_id) REFERENCES turns (tenant, graph_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE summaries (
    row INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    user_id TEXT,
    topic_set INTEGER NOT NULL REFERENCES topic_sets (id),
    private_to TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    level INTEGER NOT NULL,
    text TEXT NOT NULL,
    covers TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    starts_at INTEGER NOT NULL,
    ends_at INTEGER NOT NULL,
    expires_at INTEGER,
    episode_id TEXT,
    UNIQUE (tenant, graph_id, id)
) STRICT;

CREATE INDEX summaries_by_period ON summaries (tenant, graph_id, starts_at);
CREATE INDEX summaries_due ON summaries (tenant, graph_id, starts_at, expires_at)
    WHERE episode_id IS NULL AND expires_at IS NOT NULL;

CREATE TABLE episodes (
    row INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    user_id TEXT,
    topic_set INTEGER NOT NULL REFERENCES topic_sets (id),
    private_to TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    grain TEXT NOT NULL,
    text TEXT NOT NULL,
    children TEXT NOT NULL,
    starts_at INTEGER NOT NULL,
    ends_at INTEGER NOT NULL,
    UNIQUE (tenant, graph_id, id)
) STRICT;

CREATE INDEX episodes_by_period ON episodes (tenant, graph_id, starts_at);

CREATE TABLE consolidation (
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    grain TEXT NOT NULL,
    child_id TEXT NOT NULL,
    episode_id TEXT NOT NULL,
    PRIMARY KEY (tenant, graph_id, grain, child_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE facts (
    row INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    user_id TEXT,
    topic_set INTEGER NOT NULL REFERENCES topic_sets (id),
    private_to TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    text TEXT NOT NULL,
    digest BLOB NOT NULL,
    subject TEXT,
    predicate TEXT,
    object TEXT,
    tier TEXT NOT NULL CHECK (tier IN ('archival', 'core')),
    confidence REAL NOT NULL,
    valid_from INTEGER,
    valid_to INTEGER,
    superseded_by TEXT,
    source_ids TEXT NOT NULL,
    uses INTEGER NOT NULL,
    last_used_at INTEGER,
    UNIQUE (tenant, graph_id, id)
) STRICT;

CREATE UNIQUE INDEX facts_by_content
    ON facts (tenant, graph_id, agent_id, digest, topic_set, private_to)
    WHERE superseded_by IS NULL;
CREATE INDEX facts_active ON facts (tenant, graph_id, tier, recorded_at)
    WHERE superseded_by IS NULL;

-- One row per use that was counted: the key is what keeps one cause from counting twice.
CREATE TABLE fact_uses (
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    fact_id TEXT NOT NULL,
    cause TEXT NOT NULL,
    used_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, graph_id, fact_id, cause),
    FOREIGN KEY (tenant, graph_id, fact_id) REFERENCES facts (tenant, graph_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE rules (
    row INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    user_id TEXT,
    topic_set INTEGER NOT NULL REFERENCES topic_sets (id),
    private_to TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    "trigger" TEXT NOT NULL,
    steps TEXT NOT NULL,
    digest BLOB NOT NULL,
    successes INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    version INTEGER NOT NULL,
    UNIQUE (tenant, graph_id, id),
    UNIQUE (tenant, graph_id, agent_id, digest, topic_set, private_to)
) STRICT;

-- The different words of each rule's trigger, by stem; of_words is how many the trigger has.
CREATE TABLE trigger_words (
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    word TEXT NOT NULL,
    rule_row INTEGER NOT NULL REFERENCES rules (row),
    of_words INTEGER NOT NULL,
    PRIMARY KEY (tenant, graph_id, word, rule_row)
) STRICT, WITHOUT ROWID;

CREATE TABLE belief_events (
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    belief_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    content_digest TEXT NOT NULL,
    previous_hash TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (tenant, graph_id, seq),
    UNIQUE (tenant, graph_id, id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER belief_events_never_change BEFORE UPDATE ON belief_events
BEGIN
    SELECT RAISE(ABORT, 'belief events are append-only');
END;

CREATE TRIGGER belief_events_never_go BEFORE DELETE ON belief_events
BEGIN
    SELECT RAISE(ABORT, 'belief events are append-only');
END;

-- INSERT OR REPLACE would delete without the trigger above unless recursive triggers are on, and
-- a gap would break the chain for good.
CREATE TRIGGER belief_events_follow_each_other BEFORE INSERT ON belief_events
WHEN NEW.seq <> 1 + COALESCE(
        (SELECT MAX(seq) FROM belief_events WHERE tenant = NEW.tenant AND graph_id = NEW.graph_id),
        0)
    OR EXISTS (
        SELECT 1 FROM belief_events
        WHERE tenant = NEW.tenant AND graph_id = NEW.graph_id AND id = NEW.id)
BEGIN
    SELECT RAISE(ABORT, 'a belief event takes the next seq of its graph and an id of its own');
END;

-- Apart from the events, so that content and salt can be destroyed while the chain still verifies.
CREATE TABLE belief_contents (
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    salt BLOB NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (tenant, graph_id, event_id),
    FOREIGN KEY (tenant, graph_id, event_id) REFERENCES belief_events (tenant, graph_id, id)
) STRICT, WITHOUT ROWID;

-- The projection of the log: what is believed now, and what was, with active = 0.
CREATE TABLE beliefs (
    row INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    user_id TEXT,
    topic_set INTEGER NOT NULL REFERENCES topic_sets (id),
    private_to TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    claim TEXT NOT NULL,
    topic TEXT,
    key_subject TEXT,
    key_attribute TEXT,
    value TEXT,
    trust REAL NOT NULL,
    pinned INTEGER NOT NULL,
    active INTEGER NOT NULL,
    committed_seq INTEGER NOT NULL,
    UNIQUE (tenant, graph_id, id)
) STRICT;

CREATE INDEX beliefs_active ON beliefs (tenant, graph_id, committed_seq) WHERE active = 1;
CREATE UNIQUE INDEX beliefs_one_per_key
    ON beliefs (
        tenant, graph_id, key_subject, key_attribute,
        topic IS NULL, COALESCE(topic, ''), private_to)
    WHERE active = 1 AND key_subject IS NOT NULL;

-- due_at is when an item may next be claimed: a claim moves it to the end of its lease.
-- again_at is when an item was asked for once more while it was claimed.
-- AUTOINCREMENT: the id of an item that is done is never given to another.
CREATE TABLE work (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    agent_id TEXT,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    payload TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    token INTEGER NOT NULL DEFAULT 0,
    queued_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    lease_owner TEXT,
    again_at INTEGER,
    parked INTEGER NOT NULL DEFAULT 0,
    problem TEXT,
    UNIQUE (tenant, graph_id, kind, key)
) STRICT;

CREATE INDEX work_in_order ON work (kind, row, due_at) WHERE parked = 0;
CREATE INDEX work_parked ON work (row) WHERE parked = 1;

CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    owner TEXT,
    token INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE receipts (
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    query TEXT NOT NULL,
    body TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, graph_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    agent_id TEXT,
    kind TEXT NOT NULL,
    record_ids TEXT NOT NULL,
    reason TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, graph_id, seq)
) STRICT, WITHOUT ROWID;
