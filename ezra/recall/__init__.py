"""Recall: from a question to hits. Begin with ``search``, which reads top to bottom.

``question`` says what is asked and ``candidates`` asks the engines; ``ezra.ranking`` weighs what
they bring. It may import ``turn`` (receipts, packing) and what lies below, never a handle.
"""
