"""The storage floor: records, ports, errors, and the hot, warm and cold stores behind them.

Nothing here imports ``metaagents`` or ``ezra``. Drivers stay in their folder: ``redis`` under
``tiers.hot``, ``qdrant_edge`` under ``tiers.warm``, ``sqlite3`` under ``tiers.cold``, and
``onnxruntime`` under ``tiers.embedding``.
"""
