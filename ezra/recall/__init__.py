"""Recall: from a question to hits. Begin with ``search``, which reads top to bottom.

``question`` says what is asked and ``candidates`` asks the engines; ``ezra.ranking`` weighs what
they bring. It may import ``turn`` (receipts, packing) and what lies below, never a handle.

One call asks every tier, then decides by pure functions:

1. Read the question (``ranking/cues.py``): who is named, "I" and "you", dates, ISO weeks and
   relative times, whether a time or a number is asked for, of which past. The question without
   its speakers' names is embedded.
2. Ask the legs side by side (``candidates.py``), each with a deadline, every condition inside the
   engine: words in the cold tier (90), meaning in the warm one (160), both once more inside the
   time that the question speaks of, facts near what it names in the knowledge graph, what
   ancestors carry, the asking agent's ring, and for a question to the past what has ended since.
   For a question about a past (``past.py``) facts that held then and have given way.
3. Look around: the turns before and behind the best of both legs, and the turns that found
   summaries cover. Only what the asker may see is read, so a turn's window never holds what is
   hidden.
4. Weigh (``ranking/scoring.py``): BM25 of a turn with what was said up to 90 words before it and
   its date, by word counts of the graph, not of the installation; cosine; cosine of the
   neighbours; author; time; a time or number where one is asked for; a turn that only asks loses;
   sessions that agree gain. Legs are scaled and added, ``score = Σ weight · sign``.
5. Priors (``ranking/priors.py``), factors on the sum: age counted from the newest candidate,
   uses, scope class, inheritance, validity.
6. Choose (``ranking/choosing.py``): a turn that said what has been said otherwise since goes right
   behind the one that did, unless the past is asked about; what says the same is answered once and
   carries the other ids, a summary's place goes to the turn it covers, a kind cannot take every
   place while others are as good.
7. Rerank if there is a reranker; it moves the order by 0.7, and when it fails the order stays.

``as_of`` takes the same road at a moment: engines answer as of then, what ended since is added,
rarity is that of the pool, and uses count nothing, since how often a fact had been used by then
is not kept.

The knowledge graph is the facts that have subject, predicate and object; aliases are facts too.
So scope, history, redaction and export are theirs, and nothing is stored twice but two digests.
"""
