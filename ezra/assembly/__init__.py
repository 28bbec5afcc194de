"""Assembly: the only place that names concrete engines and models, and ties agents to them.

Begin with ``assembler``; ``engines`` and ``embedders`` choose, ``schedule`` says which passes run
by themselves. Only ``ezra.app`` and the doors import it.
"""
