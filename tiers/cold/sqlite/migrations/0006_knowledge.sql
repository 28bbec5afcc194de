-- The knowledge graph: facts are found by the names at their ends.

-- Digests of the one spelling of each part; only where a fact has all three, and they go with them.
ALTER TABLE facts ADD COLUMN subject_key TEXT;
ALTER TABLE facts ADD COLUMN predicate_key TEXT;
ALTER TABLE facts ADD COLUMN object_key TEXT;
CREATE INDEX facts_by_subject ON facts (tenant, graph_id, subject_key, predicate_key)
    WHERE subject_key IS NOT NULL;
CREATE INDEX facts_by_object ON facts (tenant, graph_id, object_key, predicate_key)
    WHERE object_key IS NOT NULL;
