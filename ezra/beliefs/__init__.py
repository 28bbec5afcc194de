"""Beliefs: committing to them, and their history as auditors ask for it.

Begin with ``commit``; ``history`` is the handle, ``proofs`` signs, proves and exports, ``spans``
and ``difference`` tell what was active when. Rivals are settled by ``contradiction`` beside it.
"""
