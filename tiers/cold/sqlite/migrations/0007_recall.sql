-- What recall asks of everything that is searchable: when it was recorded and when it happened, by
-- whom, of what grain, whether tools had a part in it, and how long it is.

-- happened_at is recorded_at where it is not known when. words is the length that BM25 goes by.
-- place counts the records of one kind in their graph, in the order in which they came.
ALTER TABLE searchable ADD COLUMN agent_id TEXT NOT NULL DEFAULT '';
ALTER TABLE searchable ADD COLUMN recorded_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE searchable ADD COLUMN happened_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE searchable ADD COLUMN grain TEXT;
ALTER TABLE searchable ADD COLUMN has_tools INTEGER NOT NULL DEFAULT 0;
ALTER TABLE searchable ADD COLUMN words INTEGER NOT NULL DEFAULT 0;
ALTER TABLE searchable ADD COLUMN place INTEGER NOT NULL DEFAULT 0;

UPDATE searchable SET place = o.place
    FROM (
        SELECT row, ROW_NUMBER() OVER (PARTITION BY tenant, graph_id, kind ORDER BY row) AS place
        FROM searchable
    ) AS o
    WHERE searchable.row = o.row;
UPDATE searchable SET agent_id = t.agent_id, recorded_at = t.recorded_at,
    happened_at = t.occurred_at, has_tools = t.tool_outputs <> '[]'
    FROM turns AS t
    WHERE searchable.kind = 'turn' AND t.tenant = searchable.tenant
    AND t.graph_id = searchable.graph_id AND t.id = searchable.id;
UPDATE searchable SET agent_id = t.agent_id, recorded_at = t.recorded_at, happened_at = t.starts_at
    FROM summaries AS t
    WHERE searchable.kind = 'summary' AND t.tenant = searchable.tenant
    AND t.graph_id = searchable.graph_id AND t.id = searchable.id;
UPDATE searchable SET agent_id = t.agent_id, recorded_at = t.recorded_at,
    happened_at = t.starts_at, grain = t.grain
    FROM episodes AS t
    WHERE searchable.kind = 'episode' AND t.tenant = searchable.tenant
    AND t.graph_id = searchable.graph_id AND t.id = searchable.id;
UPDATE searchable SET agent_id = t.agent_id, recorded_at = t.recorded_at,
    happened_at = COALESCE(t.valid_from, t.recorded_at)
    FROM facts AS t
    WHERE searchable.kind = 'fact' AND t.tenant = searchable.tenant
    AND t.graph_id = searchable.graph_id AND t.id = searchable.id;
UPDATE searchable SET agent_id = t.agent_id, recorded_at = t.recorded_at,
    happened_at = t.recorded_at
    FROM rules AS t
    WHERE searchable.kind = 'rule' AND t.tenant = searchable.tenant
    AND t.graph_id = searchable.graph_id AND t.id = searchable.id;
UPDATE searchable SET agent_id = t.agent_id, recorded_at = t.recorded_at,
    happened_at = t.recorded_at
    FROM beliefs AS t
    WHERE searchable.kind = 'belief' AND t.tenant = searchable.tenant
    AND t.graph_id = searchable.graph_id AND t.id = searchable.id;

-- Word statistics are a graph's own: nothing counts the whole index any more.
DELETE FROM word_totals WHERE tenant = ' ';
ALTER TABLE word_totals ADD COLUMN words INTEGER NOT NULL DEFAULT 0;

-- The word index read by term: a row for each place where a term stands.
CREATE VIRTUAL TABLE word_index_places USING fts5vocab(word_index, instance);

-- Who speaks in a graph is found by going from one name to the next.
CREATE INDEX turns_by_speaker
    ON turns (tenant, graph_id, CASE WHEN speaker = '' THEN agent_id ELSE speaker END)
    WHERE redacted_at IS NULL;
-- What was live at a moment of the past and is not any more.
CREATE INDEX summaries_ending ON summaries (tenant, graph_id, expires_at)
    WHERE expires_at IS NOT NULL AND redacted_at IS NULL;

CREATE INDEX beliefs_ended ON beliefs (tenant, graph_id, ended_seq) WHERE active = 0;

-- What tools returned is found in the warm index from now on.
INSERT INTO work (tenant, graph_id, agent_id, kind, key, payload, queued_at, due_at)
    SELECT tenant, graph_id, NULLIF(agent_id, ''), 'index', id, json_object('id', id), recorded_at,
        recorded_at
    FROM turns WHERE tool_outputs <> '[]' AND redacted_at IS NULL ORDER BY row
    ON CONFLICT (tenant, graph_id, kind, key) DO NOTHING;
