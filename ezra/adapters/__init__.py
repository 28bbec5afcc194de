"""Adapters for agent frameworks: thin, over the handles of ``ezra``. Each needs its extra.

``ezra/adapters`` stand beside the service and hold no logic. ADK's applications are graphs and
its users agents; an item of LangGraph's store, or of an OpenAI session, is a fact at an address
(``kept:…``): history, scope, audit and erasure are those of facts, and the judge compares it with
nothing. A search lists what is below the prefix, keeps what meets the filter, and lets recall
rank exactly that (``recall(ids=…)``).
"""
