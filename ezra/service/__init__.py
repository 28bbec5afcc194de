"""ezra over the network: REST and MCP. The surfaces hold no logic: handles do what they say.

What is asked never says who asks. A token does: tenant by the server it belongs to, graph, agent,
user and topics by what it was made with. Each operation says what it needs
(``wire/operation.py``), ``caller.py`` which role has it, and help shows that table. What an agent
is its operator's spawn says; who else spawns it gets it back as it was. Tokens of an identity
provider (``service/identity.py``) become the same ``Caller``. An agent that was spawned, or
re-attached since, with more than a token allows is not acted as by that token.
"""
