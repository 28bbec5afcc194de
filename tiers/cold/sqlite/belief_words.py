"""Which active beliefs have which words in their claim: where rivals of a claim are looked for.

A row per word, and only while the belief is active: nothing of it stays once it has ended.
"""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

import json
import sqlite3

from ...history.wording import LOOKED_THROUGH_MAX, NEWEST_MAX, claim_words, filed_under
from ...records import Commitment, HistoricBelief, Scope
from .database import Session, Value
from .scope import as_json, scoped

_FILED = "{0}.filed_under = :filed_under AND {0}.word = :word"
# What the asker does not see is passed over in the index, but not without an end.
_FROM_HERE = (
    f"SELECT f.committed_seq FROM belief_words f WHERE $own(f) AND {_FILED.format('f')}"
    " ORDER BY f.committed_seq DESC LIMIT 1 OFFSET :passed_over"
)
# The plus keeps the planner from looking for beliefs from there on, instead of for the one.
_NEWEST = (
    "SELECT w.committed_seq FROM belief_words w CROSS JOIN beliefs b"
    " ON b.tenant = w.tenant AND b.graph_id = w.graph_id AND b.committed_seq = +w.committed_seq"
    f" WHERE $own(w) AND $audited(b) AND {_FILED.format('w')}"
    f" AND w.committed_seq >= COALESCE(({_FROM_HERE}), 0)"
    " ORDER BY w.committed_seq DESC LIMIT :newest"
)
_SHARING_MOST = (
    "SELECT w.committed_seq AS seq, COUNT(*) AS shared FROM json_each(:seqs) j"
    " CROSS JOIN belief_words w WHERE $own(w) AND w.committed_seq = j.value"
    " AND w.word IN (SELECT value FROM json_each(:words))"
    " GROUP BY w.committed_seq ORDER BY shared DESC, seq DESC LIMIT :limit"
)
_BEST = (
    f"SELECT b.*, s.topics FROM ({_SHARING_MOST}) n CROSS JOIN beliefs b"
    " CROSS JOIN topic_sets s ON s.id = b.topic_set"
    " WHERE $audited(b) AND b.committed_seq = n.seq ORDER BY n.shared DESC, n.seq DESC"
)
_FORGET = "DELETE FROM belief_words AS w WHERE $own(w) AND w.committed_seq = :committed_seq"


def file_words(session: Session, scope: Scope, belief: HistoricBelief) -> None:
    """Let an active belief be found by the words of its claim."""
    row: dict[str, Value] = {
        "tenant": scope.tenant,
        "graph_id": scope.graph_id,
        "filed_under": filed_under(belief),
        "committed_seq": belief.committed_seq,
    }
    session.insert_all("belief_words", [row | {"word": one} for one in claim_words(belief.claim)])


def forget_words(session: Session, scope: Scope, committed_seq: int) -> None:
    """Let a belief that has ended be found by no word."""
    session.run(scoped(_FORGET, scope, committed_seq=committed_seq))


def worded_most_like(
    session: Session, scope: Scope, belief: Commitment, limit: int
) -> list[sqlite3.Row]:
    """Return the rows of active beliefs that are filed like one and share words with it.

    About the newest of each word, by one look-up each; how many words each of these shares is
    counted over all of them.
    """
    words = claim_words(belief.claim)
    seqs: dict[int, None] = {}
    for word in words:
        newest = scoped(
            _NEWEST,
            scope,
            filed_under=filed_under(belief),
            word=word,
            newest=NEWEST_MAX,
            passed_over=LOOKED_THROUGH_MAX - 1,
        )
        seqs |= dict.fromkeys(int(row["committed_seq"]) for row in session.all(newest))
    among = json.dumps(list(seqs))
    return session.all(scoped(_BEST, scope, seqs=among, words=as_json(words), limit=limit))
