"""Terms of the word index, against the tokenizer that SQLite has for its own."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from random import Random

import pytest
from support.cold_samples import OPERATOR, SCOPE, fact_by
from support.memory_records import MemoryRecordStore
from support.tier_samples import HOSTILE_TEXT

from tiers.cold.port import Find, every
from tiers.cold.stores.words import SEARCHABLE, TOTALS, file_words
from tiers.lexical import pieces, words
from tiers.porter import BYTES_MAX, stripped
from tiers.terms import term_of

MARK = "bcdfghklmnpqrstv"
"""Stands before each word, so that the shortest are cut by the same rules as all others."""

STEMS = (
    "tyr lap undercut compar relat op us ag ic on abl y yea o cc trek assembl horr topolog b"
).split()
ENDINGS = (
    "e s es ed ing ings y ies ied ly er ers est al ally ational tional enci ence anci ance izer "
    "logi logy bli bly ible able alli entli eli ousli ously ization ation ator alism iveness "
    "fulness ousness aliti ality iviti ivity biliti bility icate iciti icity ical ness ful ative "
    "alize ement ment ent ion sion tion ou ism ate iti ous ive ize ll eed eing ating bling izing "
    "lled ssing"
).split()

FOREIGN = (
    "Température naïve coöperate Größe straße İstanbul Việt ộ ế Ελληνικός ά Шины ёлка й हिन्दी "
    "한국어 ไทย العربية がぎ ガギ ピット 更换轮胎 u22ed 2s x" + "y" * 70
)
UNLIKE = frozenset("\u3099\u309a\u30a0\u30fb")
"""Marks and dots between Katakana: words to ``lexical.words``, nothing at all to SQLite."""


def _by_sqlite(asked: Sequence[str]) -> list[str]:
    """Return what SQLite makes of words that stand behind the mark, without it."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE VIRTUAL TABLE t USING fts5(w, tokenize='porter unicode61')")
        database.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')")
        database.executemany(
            "INSERT INTO t (rowid, w) VALUES (?, ?)",
            [(row, MARK + word) for row, word in enumerate(asked)],
        )
        found = dict(database.execute("SELECT doc, group_concat(term, ' ') FROM v GROUP BY doc"))
    return [found[row].removeprefix(MARK) for row in range(len(asked))]


def _assert_alike(asked: Sequence[str]) -> None:
    expected = dict(zip(asked, _by_sqlite(asked), strict=True))
    assert {word: term_of(word) for word in asked} == expected


def test_every_ending_is_judged_as_sqlite_judges_it() -> None:
    """Each rule of the algorithm, met and not met, by every stem and two endings in a row."""
    made = {stem + one + two for stem in STEMS for one in ["", *ENDINGS] for two in ["", *ENDINGS]}
    _assert_alike(sorted(made))


def test_made_up_words_are_cut_as_sqlite_cuts_them() -> None:
    """Twenty thousand words of the letters that the rules look at."""
    random = Random(4)
    made = {
        "".join(random.choices("aeiouybdlnstgz", k=random.randint(1, 9))) for _ in range(20_000)
    }
    _assert_alike(sorted(made))


def test_other_scripts_and_accents_are_as_in_sqlite() -> None:
    """One accent on a Latin letter goes; another script's marks, and two at once, stay.

    To SQLite signs of vowels part words: what it makes of the pieces was filed under them.
    """
    _assert_alike(pieces(FOREIGN))
    texts = [f"x{chr(code)}" for code in range(0x80, 0x1780)]
    _assert_alike(sorted({word for text in texts for word in pieces(text) or words(text)}))
    assert {term_of(word) for word in ("हिन्दी", "தமிழ்")} == {"हिन्दी", "தமிழ்"}
    assert term_of("é") == "e"
    assert term_of("й") != term_of("и")
    assert term_of("が") != term_of("か")


def test_what_differs_is_known() -> None:
    """A few characters that SQLite drops: they find themselves here, and nothing there."""
    for mark in UNLIKE:
        assert words(mark) == [mark]
        assert _by_sqlite([mark]) == [""]
        assert term_of(mark) == mark


@pytest.mark.parametrize("word", [b"", b"a", b"is", b"i" * (BYTES_MAX + 1), b"s" * (BYTES_MAX + 1)])
def test_words_too_short_or_too_long_stay(word: bytes) -> None:
    """As in SQLite."""
    assert stripped(word) == word


async def test_a_record_is_filed_by_its_terms_their_counts_and_its_length() -> None:
    """Under each term once with how often it has it; lengths count repetitions."""
    store = MemoryRecordStore()
    texts = ("Tyres, tyres: the tyre of 2026! " + HOSTILE_TEXT, "?!")
    facts = [fact_by(text=text) for text in texts]
    await store.change("file", lambda: file_words(SCOPE, *facts))
    said, empty = await store.read("look", lambda: every(Find(SEARCHABLE, OPERATOR)))
    assert (said.terms["tyre"], said.terms["2026"]) == (3, 1)
    assert SEARCHABLE.values(said)["length"] == sum(said.terms.values())
    assert SEARCHABLE.listed(said)["terms"]["fact tyre"] == 3
    assert (empty.terms, SEARCHABLE.values(empty)["length"]) == ({}, 0)
    (total,) = await store.read("count", lambda: every(Find(TOTALS, OPERATOR)))
    assert (total.records, total.words) == (2, sum(said.terms.values()))
