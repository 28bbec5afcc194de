-- Links between graphs, members that are noticed when they fall silent, budgets, moments at which
-- facts were core, redaction, and an audit feed of the whole tenant.

-- A row per link, so that revoking one is one row. Places rise and may have holes.
CREATE TABLE parents (
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    place INTEGER NOT NULL,
    id TEXT NOT NULL,
    as_of INTEGER,
    rules INTEGER NOT NULL,
    episodes INTEGER NOT NULL,
    linked_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, graph_id, place),
    UNIQUE (tenant, graph_id, id)
) STRICT, WITHOUT ROWID;

-- A parent could be named twice; the first time is the one that counted.
INSERT INTO parents (tenant, graph_id, place, id, as_of, rules, episodes, linked_at)
    SELECT g.tenant, g.id, MIN(p.key), p.value, NULL, 1, 0, g.created_at
    FROM graphs g, json_each(g.inherits_from) p
    GROUP BY g.tenant, g.id, p.value;

ALTER TABLE graphs DROP COLUMN inherits_from;
ALTER TABLE graphs ADD COLUMN budget TEXT NOT NULL DEFAULT '{}';
ALTER TABLE graphs ADD COLUMN retention TEXT NOT NULL DEFAULT '{}';

ALTER TABLE agents ADD COLUMN denied_topics TEXT NOT NULL DEFAULT '[]';
ALTER TABLE agents ADD COLUMN denied_sources TEXT NOT NULL DEFAULT '[]';
ALTER TABLE agents ADD COLUMN budget TEXT NOT NULL DEFAULT '{}';
ALTER TABLE agents ADD COLUMN seen_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agents ADD COLUMN released INTEGER NOT NULL DEFAULT 0;
UPDATE agents SET seen_at = spawned_at;
CREATE INDEX agents_present ON agents (tenant, seen_at) WHERE left_at IS NULL;

-- agent_id is '' for what the whole graph has used; no agent is called that.
CREATE TABLE usage (
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    tokens INTEGER NOT NULL DEFAULT 0,
    model_calls INTEGER NOT NULL DEFAULT 0,
    writes INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, graph_id, agent_id)
) STRICT, WITHOUT ROWID;

ALTER TABLE turns ADD COLUMN redacted_at INTEGER;
ALTER TABLE summaries ADD COLUMN redacted_at INTEGER;
ALTER TABLE episodes ADD COLUMN redacted_at INTEGER;
ALTER TABLE facts ADD COLUMN redacted_at INTEGER;
ALTER TABLE rules ADD COLUMN redacted_at INTEGER;
ALTER TABLE beliefs ADD COLUMN redacted_at INTEGER;

-- core_spans: a JSON list of [since, until or null] in microseconds, oldest first.
ALTER TABLE facts ADD COLUMN superseded_at INTEGER;
ALTER TABLE facts ADD COLUMN core_spans TEXT NOT NULL DEFAULT '[]';
UPDATE facts SET core_spans = json_array(json_array(recorded_at, NULL)) WHERE tier = 'core';
CREATE INDEX facts_ever_core ON facts (tenant, graph_id, recorded_at) WHERE core_spans <> '[]';

-- Two users never take each other's beliefs away, nor do two that name no topic and share none.
DROP INDEX beliefs_one_per_key;
CREATE UNIQUE INDEX beliefs_one_per_key
    ON beliefs (
        tenant, graph_id, key_subject, key_attribute,
        topic IS NULL, COALESCE(topic, ''), private_to, COALESCE(user_id, ''),
        CASE WHEN topic IS NULL THEN topic_set ELSE 0 END)
    WHERE active = 1 AND key_subject IS NOT NULL;

ALTER TABLE audit ADD COLUMN position INTEGER NOT NULL DEFAULT 0;
UPDATE audit SET position = o.position
    FROM (
        SELECT tenant, graph_id, seq, ROW_NUMBER() OVER (
            PARTITION BY tenant ORDER BY moment, graph_id, seq) AS position
        FROM (
            -- Where a clock went back, the order inside the graph is the one that counts.
            SELECT tenant, graph_id, seq, MAX(recorded_at) OVER (
                PARTITION BY tenant, graph_id ORDER BY seq) AS moment
            FROM audit
        )
    ) AS o
    WHERE audit.tenant = o.tenant AND audit.graph_id = o.graph_id AND audit.seq = o.seq;
CREATE UNIQUE INDEX audit_by_position ON audit (tenant, position);
CREATE INDEX audit_by_kind ON audit (tenant, kind, position);
