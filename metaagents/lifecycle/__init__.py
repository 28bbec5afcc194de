"""Lifecycle: overflowed turns become summaries, expiring summaries become episodes."""
