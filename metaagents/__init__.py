"""The two background minds: lifecycle (evict, compress) and learning (index, count, promote).

Both take their work from the durable queue and act through the ports of ``tiers``. What they
decide is decided by pure functions in their ``rules`` modules; the agents only carry it out.

* Several runtimes. Leases with a fencing token, named after tenant and pass, decide who works; a
  runtime claims work of its own tenant only. Nothing is freed on opening: leases run out.

    turn ─┬─ index ────▶ warm index         turns ─▶ working ─▶ daily ─┬─▶ weekly
          ├─ extract ──▶ facts ── judge     (ring)   summaries         └─▶ monthly ─▶ quarterly
          └─ compress ─▶ summaries                                                       └─▶ yearly
    tick ─┬─ consolidate ─▶ episodes
          └─ retain ──────▶ content destroyed, rows stay

* Every follow-up is a row in the cold queue, written with what caused it or by a tick, one per
  key. It is claimed by lease with a fencing token, renewed while a handler is at work
  (``metaagents/work.py``), deferred without counting an attempt, parked after five. What passes
  make has ids derived from what it is made of, and the store refuses to cover or consolidate
  anything twice, so that passes may be repeated, interrupted between any two writes, or run side
  by side.
* Conservation. Coverage (turn to summary) and consolidation (child to episode, per grain) are
  rows with keys that allow one parent each. The report (``metaagents/lifecycle/conservation.py``)
  does not rely on that: it reads all turns and all that was made, and counts.
* A text is checked against its sources. ``metaagents/distinctive.py`` reads numbers, dates, names
  and versions. A model's text that has some of its own is refused; what it left out is appended
  as notes, as far as there is room.
* An extract is notes (``metaagents/lifecycle/extract.py``, ``statements.py``): sentences as they
  were said, chosen by what they carry, with speaker and date, at least one of every sitting that
  fits, never beyond the budget. ``lost`` counts the statements of all turns beneath that the text
  does not tell: one sentence of it must have all numbers and names of a statement, two thirds of
  its other words, and its negation.
* Retired is not redacted. Redaction, on request, takes what was made of a record with it.
  Retention destroys a record because what was made of it stands for it. Both set ``redacted_at``,
  which every query leaves out; ``retired_at`` tells them apart. What else says the same goes with
  both: receipts, by their age, entries of the warm index and the files that held them
  (``metaagents/lifecycle/retired_traces.py``).
* A model is a stranger (``metaagents/model.py``): it has a deadline and a budget, and whatever it
  raises or returns becomes an error of the tree or a value that is checked. Passes go on without
  it.
* Facts give way inside a bucket: same graph, user and privacy, and only to what everybody can see
  who saw the former (``tiers/learning.py``, ``may_give_way``).
"""
