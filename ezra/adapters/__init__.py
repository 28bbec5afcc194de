"""Adapters for agent frameworks: thin, over the handles of ``ezra``. Each needs its extra."""
