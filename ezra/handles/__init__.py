"""Handles: what users hold. Begin with ``graph`` and ``agent``.

A handle fixes a scope; its methods are the operations of every door (``ezra.operations``). It may
import every room that does the work, and is imported by doors only.
"""
