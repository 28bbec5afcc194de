"""The storage floor: records, ports, errors, and the hot, warm and cold stores behind them.

Nothing here imports ``metaagents`` or ``ezra``. Drivers stay in their folder: ``redis`` under
``tiers.hot``, ``qdrant_edge`` under ``tiers.warm``, ``sqlite3`` under ``tiers.cold``, and
``onnxruntime`` under ``tiers.embedding``.

* Cold is the source of truth. Hot is a cache rebuilt from cold; warm is an index whose entries
  are written by queued work.
* So the index may be behind. What it finds is looked up in cold before it is ranked and cut, in
  one read for each question to the index, and it is asked for more where what is over took places
  (``tiers/liveness.py``). Turns of the ring are looked up likewise.
* A turn and its work (index it, compress what it pushes out) are one transaction. What was
  acknowledged is there once; what follows from it is queued.
* A summary and the coverage of its turns are one transaction, and the store refuses a second
  summary for a covered turn. Ids of summaries and episodes are derived from what they cover.
* Work is claimed by lease with a fencing token and repeated after a crash; handlers are
  idempotent. Five failures park an item, with its problem, until someone runs it again. What was
  claimed together with work that took the process with it is run alone from then on, and only
  what runs alone is charged an attempt: an item that was merely claimed is never parked for
  another.
* A damaged embedded index is set aside (``warm/<index>/damaged``, until the next erasure,
  redaction or retention) and built again from cold; ``degraded`` names ``warm`` until it is
  whole. A database that was emptied, cut or lost is refused: ``memory-made`` beside it says that
  there was one.
* An embedded database has the schema version that this ezra knows, or is refused before anything
  in its folder is opened (``tiers/cold/sqlite/schema.py``); it stays as it is.
* On a full disk the embedded index is not written below 48 MiB of free space, nor opened; a
  memory opens without it, cold is read and refuses writes with ``DiskFull``. ``memory-made``
  holds the little room that SQLite needs to open a file.
* Nothing leaves the machine: onnxruntime from 1.31 on writes a device id into the home and asks
  for its vendor's host, unless a variable says no before it is imported. Qdrant's client imports
  it, too, where fastembed is installed; so it is set here, before either. Children inherit it.
"""

import os

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
