-- Time grains, retention, judged facts, playbooks with outcomes, and how far learning has read.

ALTER TABLE agents ADD COLUMN prompts TEXT NOT NULL DEFAULT '{}';

ALTER TABLE turns ADD COLUMN rules TEXT NOT NULL DEFAULT '[]';
ALTER TABLE turns ADD COLUMN retired_at INTEGER;
-- What retention looks through: as much as still has its content.
CREATE INDEX turns_kept ON turns (tenant, graph_id, recorded_at) WHERE redacted_at IS NULL;

ALTER TABLE summaries ADD COLUMN made_by TEXT NOT NULL DEFAULT 'extract';
ALTER TABLE summaries ADD COLUMN lost INTEGER NOT NULL DEFAULT 0;
ALTER TABLE summaries ADD COLUMN retired_at INTEGER;
CREATE INDEX summaries_kept ON summaries (tenant, graph_id, recorded_at)
    WHERE level = 0 AND redacted_at IS NULL;
CREATE INDEX summaries_loose ON summaries (tenant, graph_id, starts_at)
    WHERE level = 0 AND episode_id IS NULL AND redacted_at IS NULL;

ALTER TABLE episodes ADD COLUMN period TEXT NOT NULL DEFAULT '';
ALTER TABLE episodes ADD COLUMN made_by TEXT NOT NULL DEFAULT 'extract';
ALTER TABLE episodes ADD COLUMN lost INTEGER NOT NULL DEFAULT 0;
ALTER TABLE episodes ADD COLUMN retired_at INTEGER;
-- There were daily ones only, by days in UTC.
UPDATE episodes SET period = date(starts_at / 1000000, 'unixepoch') WHERE grain = 'daily';
CREATE INDEX episodes_by_grain ON episodes (tenant, graph_id, grain, starts_at);

-- key_digest: of the one spelling of subject and predicate; it goes with them.
ALTER TABLE facts ADD COLUMN fact_type TEXT NOT NULL DEFAULT 'world';
ALTER TABLE facts ADD COLUMN superseded_as TEXT;
ALTER TABLE facts ADD COLUMN earned_from INTEGER NOT NULL DEFAULT 0;
ALTER TABLE facts ADD COLUMN judged_at INTEGER;
ALTER TABLE facts ADD COLUMN forgotten_at INTEGER;
ALTER TABLE facts ADD COLUMN retired_at INTEGER;
ALTER TABLE facts ADD COLUMN key_digest BLOB;
UPDATE facts SET superseded_as = 'natural' WHERE superseded_by IS NOT NULL;
DROP INDEX facts_by_content;
CREATE UNIQUE INDEX facts_by_content
    ON facts (tenant, graph_id, agent_id, digest, topic_set, private_to)
    WHERE superseded_by IS NULL AND forgotten_at IS NULL;
CREATE INDEX facts_by_key ON facts (tenant, graph_id, key_digest)
    WHERE key_digest IS NOT NULL AND superseded_by IS NULL AND forgotten_at IS NULL;
CREATE INDEX facts_unjudged ON facts (tenant, graph_id, recorded_at)
    WHERE judged_at IS NULL AND superseded_by IS NULL AND forgotten_at IS NULL;
CREATE INDEX facts_superseded ON facts (tenant, graph_id, superseded_at)
    WHERE superseded_at IS NOT NULL AND redacted_at IS NULL;
CREATE INDEX facts_forgotten ON facts (tenant, graph_id, forgotten_at)
    WHERE forgotten_at IS NOT NULL AND redacted_at IS NULL;

-- former: a JSON list of the steps that a rule had, with version and until when.
ALTER TABLE rules ADD COLUMN former TEXT NOT NULL DEFAULT '[]';
ALTER TABLE rules ADD COLUMN source_ids TEXT NOT NULL DEFAULT '[]';

-- One row per outcome that was counted: the key is what keeps one cause from counting twice.
CREATE TABLE rule_outcomes (
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    rule_id TEXT NOT NULL,
    cause TEXT NOT NULL,
    is_success INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, graph_id, rule_id, cause),
    FOREIGN KEY (tenant, graph_id, rule_id) REFERENCES rules (tenant, graph_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE watermarks (
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    name TEXT NOT NULL,
    seq INTEGER NOT NULL,
    moved_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, graph_id, agent_id, name)
) STRICT, WITHOUT ROWID;
