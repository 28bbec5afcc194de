-- Word search over every kind of record at once: one index, so that ranks compare across kinds.

-- What the scope predicate and the query's other conditions need of a record, under the number
-- that the word index knows it by. live is 0 once a fact or belief is superseded.
CREATE TABLE searchable (
    row INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    user_id TEXT,
    topic_set INTEGER NOT NULL REFERENCES topic_sets (id),
    private_to TEXT NOT NULL,
    tier TEXT,
    expires_at INTEGER,
    live INTEGER NOT NULL DEFAULT 1,
    UNIQUE (tenant, graph_id, id)
) STRICT;

-- How many records of each kind a graph has in the word index: the N of its BM25.
CREATE TABLE word_totals (
    tenant TEXT NOT NULL,
    graph_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    records INTEGER NOT NULL,
    PRIMARY KEY (tenant, graph_id, kind)
) STRICT, WITHOUT ROWID;

-- Every word carries the mark of its graph and kind (bm25.py), so these have posting lists of
-- their own. Contentless: the texts are in the tables of records.
CREATE VIRTUAL TABLE word_index USING fts5(words, content='', tokenize='porter unicode61');
