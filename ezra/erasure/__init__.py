"""Erasure: redaction on request, archiving, and taking back what is poisoned.

Begin with ``redaction``; ``taint`` traces a poisoned record and rolls it back. Which stores hold a
subject's words is said in ``tests/support/places.py``, and nowhere else.

* Erasure goes through one path whatever asks for it (a record, a subject, a user, retention), and
  ``tests/support/places.py`` lists every place that can hold a subject's words; a test fails when a
  table, a collection, a key or a payload field is not in it. A subject is found by the text of
  each record, names by their parts (``tiers/cold/mentions.py``). A turn or a fact that retention
  empties keeps marks of its words, salted digests of 24 bits, so that an erasure finds it and
  walks from it to what was made of it.
"""
