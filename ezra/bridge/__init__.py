"""The bridge: what coding agents on several machines remember together, also while it is away.

It holds no memory of its own: facts, the board and documents of a session graph do, behind a server
or embedded. ``config`` says who asks, ``outbox`` keeps what is to be written until it is,
``sending`` and ``delivering`` hand it over, ``client`` is the way in, ``reading`` and ``carrying``
read, and ``noted`` is what a machine notes for itself.
"""
