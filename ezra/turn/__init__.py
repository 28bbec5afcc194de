"""The turn: eight named steps from a message to a remembered turn. Begin with ``router``.

``assemble``, ``context_budget``, ``follow_up``, ``output_checks`` and ``receipts`` are pure. It may
import ``ranking``, ``rights``, ``contradiction``, ``mesh`` and ``models``, never a handle.
"""
