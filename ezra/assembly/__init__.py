"""Assembly: the only place that names concrete engines and models, and ties agents to them.

Begin with ``assembler``; ``engines`` and ``embedders`` choose, ``schedule`` says which passes run
by themselves. ``ezra.app``, the doors and ``evaluation`` import it; no room below them does.
"""
