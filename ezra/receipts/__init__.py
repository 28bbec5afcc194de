"""Receipts read again: contexts of the past rebuilt, compared with today's, and told of.

Begin with ``rebuilding``; what a receipt keeps is said in ``ezra.turn.receipts``. It may import
``turn``, ``recall`` and what lies below.

A receipt names every record that a context or a recall showed, with the form it had and a salted
hash, and holds no text of one: redaction stays one statement, and destroys the salt. What stands
in no record (the system line, what a connector returned) is kept in it, and redacted with it.
"""
