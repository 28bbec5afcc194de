"""The two background minds: lifecycle (evict, compress) and learning (index, count, promote).

Both take their work from the durable queue and act through the ports of ``tiers``. What they
decide is decided by pure functions in their ``rules`` modules; the agents only carry it out.
"""
