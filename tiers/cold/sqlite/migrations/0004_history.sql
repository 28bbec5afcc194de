-- The history of beliefs: when each was active, whom the log trusts, and signed heads of logs.

-- Version 1 of the hashed form knew no turn.
ALTER TABLE belief_events ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
ALTER TABLE belief_events ADD COLUMN version INTEGER NOT NULL DEFAULT 1;

-- Contents and salts are destroyed by redaction, and never become others.
CREATE TRIGGER belief_contents_never_change BEFORE UPDATE ON belief_contents
BEGIN
    SELECT RAISE(ABORT, 'belief contents are never changed');
END;

CREATE TRIGGER belief_contents_come_once BEFORE INSERT ON belief_contents
WHEN NEW.event_id <> (
        SELECT id FROM belief_events WHERE tenant = NEW.tenant AND graph_id = NEW.graph_id
        ORDER BY seq DESC LIMIT 1)
    OR EXISTS (
        SELECT 1 FROM belief_contents
        WHERE tenant = NEW.tenant AND graph_id = NEW.graph_id AND event_id = NEW.event_id)
BEGIN
    SELECT RAISE(ABORT, 'a belief content comes with its event');
END;

-- A moment of the past is one look into an index: neither time nor turn ever falls in a log.
CREATE INDEX belief_events_by_time ON belief_events (tenant, graph_id, recorded_at, seq);
CREATE INDEX belief_events_by_turn ON belief_events (tenant, graph_id, turn, seq);
CREATE INDEX belief_events_by_belief ON belief_events (tenant, graph_id, belief_id, seq);

-- Events whose content names a belief that they are not about: a rival, a successor.
CREATE TABLE belief_mentions (
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    belief_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (tenant, graph_id, belief_id, seq)
) STRICT, WITHOUT ROWID;

INSERT INTO belief_mentions
    SELECT e.tenant, e.graph_id, c.content ->> '$.superseded_by', e.seq
    FROM belief_events e JOIN belief_contents c
        ON c.tenant = e.tenant AND c.graph_id = e.graph_id AND c.event_id = e.id
    WHERE e.kind = 'superseded';

ALTER TABLE beliefs ADD COLUMN source_ids TEXT NOT NULL DEFAULT '[]';
ALTER TABLE beliefs ADD COLUMN turn_id TEXT;
ALTER TABLE beliefs ADD COLUMN receipt_id TEXT;
ALTER TABLE beliefs ADD COLUMN origin_id TEXT;
ALTER TABLE beliefs ADD COLUMN status TEXT NOT NULL DEFAULT 'active';
ALTER TABLE beliefs ADD COLUMN ended_seq INTEGER;
ALTER TABLE beliefs ADD COLUMN superseded_by TEXT;

CREATE INDEX beliefs_in_order ON beliefs (tenant, graph_id, committed_seq);
CREATE INDEX beliefs_by_agent ON beliefs (tenant, graph_id, agent_id, committed_seq);
CREATE INDEX beliefs_by_user ON beliefs (tenant, graph_id, user_id, committed_seq)
    WHERE user_id IS NOT NULL;
CREATE INDEX beliefs_by_subject ON beliefs (tenant, graph_id, key_subject, committed_seq)
    WHERE key_subject IS NOT NULL;
CREATE INDEX beliefs_by_key
    ON beliefs (tenant, graph_id, key_subject, key_attribute, committed_seq)
    WHERE key_subject IS NOT NULL;
CREATE INDEX beliefs_by_status ON beliefs (tenant, graph_id, status, committed_seq);
CREATE INDEX beliefs_by_successor ON beliefs (tenant, graph_id, superseded_by)
    WHERE superseded_by IS NOT NULL;

-- A row per topic that a belief is filed under or was committed to with: what committed_seq names.
CREATE TABLE belief_topics (
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    topic TEXT NOT NULL,
    committed_seq INTEGER NOT NULL,
    PRIMARY KEY (tenant, graph_id, topic, committed_seq)
) STRICT, WITHOUT ROWID;

INSERT INTO belief_topics
    SELECT b.tenant, b.graph_id, m.topic, b.committed_seq
    FROM beliefs b JOIN topic_members m ON m.topic_set = b.topic_set WHERE m.topic <> ''
    UNION SELECT b.tenant, b.graph_id, b.topic, b.committed_seq
    FROM beliefs b WHERE b.topic IS NOT NULL;

-- A row per word of each active belief, which committed_seq names: tiers/history/wording.py.
CREATE TABLE belief_words (
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    filed_under TEXT NOT NULL,
    word TEXT NOT NULL,
    committed_seq INTEGER NOT NULL,
    PRIMARY KEY (tenant, graph_id, filed_under, word, committed_seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX belief_words_by_belief ON belief_words (tenant, graph_id, committed_seq, word);

-- From which event on until before which a belief was active; a new span begins when it is pinned.
-- node is set when until_seq is: tiers/history/spans.py.
CREATE TABLE belief_spans (
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    belief_id TEXT NOT NULL,
    since_seq INTEGER NOT NULL,
    until_seq INTEGER,
    node INTEGER,
    pinned INTEGER NOT NULL,
    PRIMARY KEY (tenant, graph_id, belief_id, since_seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX belief_spans_open ON belief_spans (tenant, graph_id, since_seq)
    WHERE until_seq IS NULL;
CREATE INDEX belief_spans_from ON belief_spans (tenant, graph_id, node, since_seq)
    WHERE node IS NOT NULL;
CREATE INDEX belief_spans_until ON belief_spans (tenant, graph_id, node, until_seq)
    WHERE node IS NOT NULL;

-- topic is '' for beliefs without one.
CREATE TABLE belief_trust (
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    topic TEXT NOT NULL,
    trust REAL NOT NULL,
    PRIMARY KEY (tenant, graph_id, agent_id, topic)
) STRICT, WITHOUT ROWID;

CREATE TABLE belief_heads (
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    size INTEGER NOT NULL,
    public_key TEXT NOT NULL,
    signed_at INTEGER NOT NULL,
    head TEXT NOT NULL,
    PRIMARY KEY (tenant, graph_id, size, public_key)
) STRICT, WITHOUT ROWID;

-- Active beliefs are in the warm index from now on.
INSERT INTO work (tenant, graph_id, agent_id, kind, key, payload, queued_at, due_at)
    SELECT tenant, graph_id, NULLIF(agent_id, ''), 'index', id, json_object('id', id), recorded_at,
        recorded_at
    FROM beliefs WHERE active = 1 ORDER BY row
    ON CONFLICT (tenant, graph_id, kind, key) DO NOTHING;

-- Turns of a graph are numbered over all its agents.
CREATE INDEX turns_in_order ON turns (tenant, graph_id, recorded_at);
