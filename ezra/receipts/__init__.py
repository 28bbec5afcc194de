"""Receipts read again: contexts of the past rebuilt, compared with today's, and told of.

Begin with ``rebuilding``; what a receipt keeps is said in ``ezra.turn.receipts``. It may import
``turn``, ``recall`` and what lies below.
"""
