"""Erasure: redaction on request, archiving, and taking back what is poisoned.

Begin with ``redaction``; ``taint`` traces a poisoned record and rolls it back. Which stores hold a
subject's words is said in ``tiers.places``, and nowhere else.
"""
