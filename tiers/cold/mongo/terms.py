"""The words of a record, as they are stored with it to be found by. Pure.

Terms are those of SQLite's word index, so that both engines find the same records and rank them
alike. The term frequencies lie beside the record, in the same document: a record and its words
are one write.
"""

from __future__ import annotations

from collections import Counter

from ...forms import entry_of
from ...lexical import words
from ...records import Owned
from ...terms import term_of
from .documents import Document


def searchable_fields(record: Owned) -> Document:
    """Return the fields by which a record is found.

    Its terms, how often it has each, and how many words there are in all. Of a turn also as what
    else it is found, and who said it while that is known.
    """
    entry = entry_of(record)
    counts = Counter(term_of(word) for word in words(entry.text))
    found: Document = {
        "terms": sorted(counts),
        "frequencies": dict(counts),
        "length": counts.total(),
    }
    if entry.kind == "turn":
        found["also"] = list(entry.also)
        if record.redacted_at is None:
            found["said_by"] = entry.speaker
    return found
