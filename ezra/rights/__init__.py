"""Rights: who is in which graph, what an agent may touch, and how much it may spend.

Begin with ``policy``, which is pure; ``membership`` knows who is there, ``metering`` charges
budgets, ``backlog`` pushes back. Of the other rooms it knows the mesh alone: who may ask a source.

``Scope`` (tenant, graph, agent, user, topics, denied topics, lineage) is made from the stored
record of a member (``ezra/rights/policy.py``, ``scope_of``), is the first argument of every store
method, and becomes part of every key, filter and query in one place per tier:
``tiers/hot/keys.py``, ``embedded.py`` and ``view.py``, ``tiers/warm/filters.py``,
``tiers/cold/visibility.py``. A record is visible when all of this holds:

* tenant: is the same, always
* graph: is the agent's own, or an ancestor for what is inherited
* topics: meet, or the record has none, or the agent holds ``*``; and none of them is denied to
  the agent
* user: of the record is the agent's, or nobody; the runtime itself sees all
* privacy: shared, or private to this very agent of this graph

Behind that, each tier has a guard which shares no code with what it guards
(``tiers/hot/guard.py``, ``tiers/warm/guard.py``, ``check`` in ``tiers/cold/visibility.py``): it
looks at each key and filter as it is about to leave, or at each record, and refuses what does not
belong to one tenant and the operation's graphs. The embedded hot tier sends nothing; what it
finds says whose it is, and is refused to anybody else.

An agent's ring belongs to one view of it (user, topics, denied topics). Re-attached with another
view the agent finds an empty ring, which is filled from cold under the new scope.
"""
