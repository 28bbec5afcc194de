"""The rules of belief history, pure and the same for every engine.

``chain`` says how events hang together, ``plan`` which events a change makes, ``fold`` what a log
comes to, ``spans`` how a moment of the past is found without reading what lies before it.

    agent.commit ─ contradiction/ ─▶ settled ─▶ BeliefStore.commit ─▶ plan ─▶ events ─▶ projection
                   finds rivals      by the     refuses rivals that   pure    contents  beliefs,
                   and judges        strategy   are not settled                         spans, trust

* The log is the truth. One per graph, ``seq`` without gaps, each event with the hash of the one
  before. What kind of event it is and which belief it is about say all that the projection needs
  (``tiers/history/fold.py``), so a log whose contents were destroyed still comes to the same
  beliefs. SQLite refuses by triggers to change or remove an event, and to change what it said;
  the engine refuses it before, whichever it is. One transaction is the change: a belief without
  its event cannot be.
* The store decides nothing. A commit says how its rivals are settled; when the store finds a
  rival of the same key that is not, or one that is active no longer, it writes nothing and says
  so, and ``ezra/contradiction/detector.py`` decides again. So a person may take half a minute to
  decide, and no transaction waits for that.
* Rivals of a claim without a key are found by its words and its vector. By words each look-up
  sees the newest 64 active beliefs of a word, filed by topic, user and privacy (``worded_like``),
  so that the cost of a commit does not grow with what is believed. What the judge or a tier did
  not take part in stands in the audit feed.
* Content lies apart, under a salted digest, since an unsalted one of a short text could be
  guessed. Redaction deletes content and salt; events that quote it (the belief, its
  contradictions, why it was reverted) lose theirs with it.
* The past costs what it returns. A stretch in which a belief was active is filed under one node
  of a binary tree over event numbers (``tiers/history/spans.py``), so that a moment is some
  twenty look-ups in an index. Neither time nor turn ever falls inside a log, whatever the clocks
  of several processes say, so a moment is one place in it.
* Turns of a graph are counted over its agents. A turn lasts from its opening until the next one
  begins: a belief committed while a turn is under way belongs to that turn. Each event names the
  turn that it was made in, since several may be under way; who has none changes beliefs in the
  one that was opened last.
* Proof. Heads cover a Merkle tree (RFC 9162) over the events' hashes and are made from the last
  head's frontier and the events since. The verifier (``tiers/history/verification.py``) is the
  same for an export and for ``history.verify()``, which also compares the stored projection with
  the fold, and every row that look-ups go by with what it was made of (``tiers/beliefs.py``).
  The audit feed is chained per graph (``tiers/history/audit_chain.py``) and is part of both.
  Heads are numbered, and each names the head before it and how far the feed had come. How far
  log, feed and heads had come is noted beside them: whoever cuts the end of all of these at once,
  the note included, is found out only by a head that was kept elsewhere.
* A branch is a session graph whose first event names the head that it left, and which holds
  copies of the beliefs that were active there. It reads the facts of that time through an
  ordinary link with ``as_of``. Redacting a belief redacts its copies.
"""
