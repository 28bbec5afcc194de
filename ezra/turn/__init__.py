"""The turn: eight named steps from a message to a remembered turn. Begin with ``router``.

Steps that are more than a few lines have a module of their name; what a turn leaves in the tiers
is ``ledger``, what the steps return to each other ``routing``.

``assemble``, ``context_budget``, ``follow_up``, ``output_checks``, ``receipts``, ``slots`` and
``telling`` are pure. It may import ``ranking``, ``rights``, ``contradiction``, ``mesh`` and
``models``, never a handle.

1. parse intent, entities and urgency by heuristics.
2. policy refuses topics and sources that are not the agent's; nothing was read yet. Then it asks
   how the agent stands: its record, its graph and whom that inherits from, as they are now.
3. beliefs reads the active beliefs from their index.
4. hydrate reads hot turns, core facts and rules while the question is embedded, then archival
   facts and warm summaries. Each leg has a deadline; one that fails or is late is left out, and
   ``degraded`` and ``skipped`` say so.
5. fetch asks the live source the caller named, if any: the message or the caller fills slots of a
   declared question; the answer is bounded, typed, kept in the hot tier and noted in the audit
   feed.
6. assemble fills the token budget in salience order and charges it. What memory holds stands in a
   fenced block behind the instruction, what tools returned in one behind what was said, each
   entry labelled with where it comes from (``tiers/fencing.py``). Every slot carries its source
   ids, and a receipt of the whole is stored together with the work of counting what was used.
7. model (only in ``complete``).
8. write_back stores the turn, the receipt of its context and its follow-up work in one
   transaction of the cold tier, then appends to the hot ring. A receipt without a reply is stored
   within a second (``tiers/cold/stores/held_receipts.py``). What the ring pushes out is
   compressed by the lifecycle agent.
"""
