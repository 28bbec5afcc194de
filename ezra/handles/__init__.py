"""Handles: what users hold. Begin with ``graph`` and ``agent``.

A handle fixes a scope; its methods are the operations of every door (``ezra.operations``). It may
import every room that does the work, and is imported by doors only.

            spawn                  last one leaves,             idle for archive_after_days
              │                    or is let go                 compressed, consolidated
              ▼                         │                               │
           active  ───────────────▶  closed  ───────────────────▶  archived
              ▲      spawn, reopen      │                     read, recall, inherit; no writes
              └─────────────────────────┘

* Standing. At every call a handle asks how its agent stands: graph, member record, ancestors, in
  one reading, which asks once for each step of ancestry. So a revoked link, a re-attach with
  other topics, a budget or a close by another process count from the next call on.
  ``tiers/cold/lineage.py`` decides, purely, which ancestors there are and how each is read.
* Members are rows of their own, never parts of a graph's document. A member gives a sign of life
  whenever it speaks (written every ``heartbeat_seconds`` at most), and by nothing else; silent
  for ``agent_timeout_seconds`` it is let go, by compare-and-set against a late sign of life, but
  not by the process that spawned it and lives. If it speaks after all it is back as it was,
  whichever way it speaks.
* States change by compare-and-set (``metaagents/lifecycle/keeper.py``), so of several runtimes
  one does it and tells it. A graph that somebody enters while it is being closed stays open.
  Stores refuse agents' writes into an archived graph in the transaction of the write.
* Budgets are charged for the agent and the graph or for neither. A turn and its receipt are
  charged in the transaction that stores them. A model call, or another write, is charged before
  it happens, and given back when nothing was written; after a timeout or a crash in between such
  a charge may stay: it errs on the side of the limit.
* Redaction destroys content and keeps rows, ids and coverage. What was made of a record goes with
  it, and summaries and episodes get a new text from what is left.
* The audit feed is written where things happen, numbered without gaps per graph (``seq``) and per
  tenant (``position``): a reader who asks for what comes after the last number never misses one.
"""
