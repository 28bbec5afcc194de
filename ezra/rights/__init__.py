"""Rights: who is in which graph, what an agent may touch, and how much it may spend.

Begin with ``policy``, which is pure; ``membership`` knows who is there, ``metering`` charges
budgets, ``backlog`` pushes back. It imports no other room but ``telemetry``.
"""
