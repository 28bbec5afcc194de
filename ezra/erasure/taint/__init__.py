"""Taint: what came of a poisoned record, in which contexts it was shown, and rolling that back.

``walk`` and ``planning`` are pure; ``tracing`` asks, ``rolling_back`` acts, ``handle`` is for
people.
"""
