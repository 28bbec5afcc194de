-- The latest turns of a graph are read from the end of what it went through.
CREATE INDEX turns_by_time ON turns (tenant, graph_id, occurred_at DESC, id)
    WHERE redacted_at IS NULL;
