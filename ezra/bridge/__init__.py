"""The bridge: what coding agents on several machines remember together, also while it is away.

It holds no memory of its own: facts, the board and documents of a session graph do, behind a server
or embedded. ``config`` says who asks, ``outbox`` keeps what is to be written until it is,
``sending`` hands it over, ``client`` is the way in, ``reading`` and ``carrying`` read, and
``noted`` is what a machine notes for itself.

``ezra/bridge`` is a client of the handles, beside the adapters. ``config`` and ``outbox`` need
the standard library and light parts of ``tiers``, because hooks import them at every call of a
coding agent. Online writes go through the outbox too, so that a killed process or a lost answer
is the same case as being offline: an item's id is the id of the record that it makes. *Away* (not
reachable, 5xx of a proxy, folder in use, too many requests): the item waits and holds up those
behind it. *Failed* (reached and broke): five tries, then refused. *Refused* (usage, policy,
conflict, budget): put aside with the reason, the rest goes on.

A hook (``ezra-hook``, ``bridge/hook.py``) imports the standard library and the light part of the
bridge only, has 5 seconds whatever blocks it, and reads 8 MiB at most. It queues; ``ezra bridge
hooks drain``, one at a time, in a session of its own and with none of the agent's pipes, sends
the outbox, indexes notes, syncs memories and writes the next handoff. Settings of the coding
agent are changed as text: all that is not ours stays to the byte.

A Markdown note is a document on the shelf ``notes:<agent>/<folder>``, a note of an agent's own
memory one on ``memories:<agent>``. Entities and edges are derived from the current revisions at
each question and stored nowhere: a note that is edited, removed or read as of a date has the
right ones by itself. Notes of an agent's own memory are no entities; they carry the topics of a
memory (``memories``, ``type:…``, ``tag:…``), by which recall and search take them along.
``three_way`` compares base, file and memory, purely.
"""
