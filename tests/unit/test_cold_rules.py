"""The pure parts of the cold tier: narrowing, identity, tables, terms, and threads."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from random import Random
from threading import current_thread, get_ident

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cold_samples import OPERATOR, SCOPE, asked, fact_by, rule_by
from support.memory_records import MemoryRecordStore
from support.tier_samples import HOSTILE_TEXT, NOW, scope_of

from tiers.cold.digests import address_of, identity_of, said_by
from tiers.cold.port import Find, every
from tiers.cold.sqlite.schema import SCHEMA_VERSION, statements
from tiers.cold.sqlite.threads import Threads
from tiers.cold.stores import COLLECTIONS
from tiers.cold.stores.recall import archival_query, narrowed, reciprocal_ranks
from tiers.cold.stores.word_search import Words, asked_terms, looked_up, norm_of, rarity
from tiers.cold.stores.words import SEARCHABLE, TOTALS, file_words
from tiers.errors import UsageError
from tiers.lexical import pieces, words
from tiers.porter import BYTES_MAX, stripped
from tiers.records import ALL_TOPICS
from tiers.terms import term_of

# The pure rules of the cold tier: narrowing, fusion, word weights.

TOPICS = st.lists(st.sampled_from(["a", "b", "c", ALL_TOPICS]), max_size=4)


@given(TOPICS, st.none() | TOPICS)
def test_narrowing_never_widens(held: list[str], asked_for: list[str] | None) -> None:
    """Whatever is asked for, what remains was held."""
    scope = scope_of(topics=held)
    result = narrowed(scope, asked_for)
    if not scope.sees_all_topics:
        assert set(result.topics) <= set(scope.topics)
    if asked_for is not None and ALL_TOPICS not in asked_for:
        assert set(result.topics) <= set(asked_for)
    assert result.model_copy(update={"topics": scope.topics}) == scope


def test_narrowing_of_everything_leaves_what_is_asked() -> None:
    """And refuses what cannot be a topic."""
    assert narrowed(OPERATOR, [" Tyres", "pace"]).topics == ("pace", "tyres")
    assert narrowed(OPERATOR, []).topics == ()
    with pytest.raises(UsageError, match="scope_topics"):
        narrowed(OPERATOR, ["\x00"])
    with pytest.raises(UsageError, match="scope_topics"):
        narrowed(OPERATOR, "tyres")


@pytest.mark.parametrize(("limit", "wide"), [(1, 20), (10, 20), (11, 22), (100, 200), (200, 200)])
def test_archival_legs_fetch_more_than_is_returned(limit: int, wide: int) -> None:
    """Twice the limit, at least 20, at most what a query may ask for."""
    query = archival_query(asked(), "team", limit)
    assert (query.kinds, query.tier, query.user_id, query.limit) == (
        *(("fact",), "archival"),
        *("team", wide),
    )


def test_reciprocal_ranks_sum_over_rankings() -> None:
    """1 / (10 + rank) each, best first, ties by id; a place may be nobody's."""
    scores = reciprocal_ranks(["a", None, "d"], [None, "c", "a"], [])
    assert scores == {
        "a": pytest.approx(1 / 11 + 1 / 13),
        "c": pytest.approx(1 / 12),
        "d": pytest.approx(1 / 13),
    }
    assert list(scores) == ["a", "c", "d"]
    assert list(reciprocal_ranks(["z"], ["y"])) == ["y", "z"]
    assert reciprocal_ranks() == {}


def test_what_is_asked_for_is_stems_and_nothing_but_letters() -> None:
    """Each stem once, with how many words have it; no question is syntax."""
    found = asked_terms('the "tyre" OR tyres* NEAR( 18')
    assert found == [("tyre", 2), ("near", 1), ("18", 1)]
    assert len(asked_terms(" ".join(f"w{n}" for n in range(500)))) == 64
    assert asked_terms("?!") == []
    assert sorted(asked_terms("kids or children")) == [("child", 2), ("children", 2), ("kid", 2)]


def test_the_rarest_terms_are_looked_up_first() -> None:
    """As many as there is room for; what does not fit ends the list, and nobody's is not in it."""
    having = {"common": 9, "rare": 2, "some": 5, "few": 2, "none": 0}
    assert looked_up(having, 10) == ["few", "rare", "some"]
    assert looked_up(having, 18) == ["few", "rare", "some", "common"]
    assert looked_up(having, 1) == []


def test_rarer_words_weigh_more_and_longer_records_less() -> None:
    """However common a word is, it weighs something; an empty graph is no error."""
    weights = [rarity(having, 100) for having in (1, 5, 50, 99, 100, 120)]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] > 0
    assert rarity(1, 100) > 5 * rarity(60, 100)
    norm = norm_of(4, 40)
    assert norm.flat + 10 * norm.per_word == pytest.approx(1.2)
    assert norm_of(0, 0).per_word > 0


def test_what_has_all_of_several_terms_is_not_held_to_be_long() -> None:
    """With two terms, or without one of three, a long record weighs less than a short one."""
    terms = ("check", "logs", "mail")
    words = Words(("turn",), dict.fromkeys(terms, 2), dict.fromkeys(terms, 1.0), norm_of(2, 20), 2)

    def weighed(*terms: str) -> list[float]:
        rows = [
            (f"turn {term}", 1, one, "turn", 5 if one == "short" else 700)
            for term in terms
            for one in ("long", "short")
        ]
        scores = words.scored(row for row in rows if row[:3] != ("turn logs", 1, "short"))
        return [scores["long", "turn"], scores["short", "turn"]]

    long, short = weighed(*terms)
    assert long > short
    long, short = weighed(*terms[::2])
    assert long < short


# What makes two statements of one writer the same, or of two writers as much.

ALICE, BOB = scope_of(user_id="alice"), scope_of(user_id="bob")


def test_users_texts_and_kinds_are_told_apart() -> None:
    """Also where user and text run together, or a text imitates another user's statement."""
    facts = [
        fact_by(scope, text)
        for scope, text in (
            (scope_of(), "x"),
            (ALICE, "x"),
            (BOB, "x"),
            (scope_of(user_id="alicex"), "x"),
            (ALICE, "xx"),
            (scope_of(), "alicex"),
            (scope_of(), '["alice", ["x"]]'),
        )
    ]
    rules = [rule_by(scope) for scope in (scope_of(), ALICE, BOB)]
    for digest in (identity_of, said_by):
        digests = {digest(record) for record in (*facts, *rules)}
        assert len(digests) == len(facts) + len(rules)
        assert digest(fact_by(ALICE, "x")) == digest(facts[1])


def test_writers_topics_and_privacy_are_part_of_the_identity_alone() -> None:
    """What two writers say is as much, but not the same; the order of topics is nothing."""
    known = fact_by(text="x", topics=("pace", "tyres"))
    others = [
        fact_by(scope_of(agent_id="engineer"), "x", topics=("pace", "tyres")),
        fact_by(text="x", topics=("pace",)),
        fact_by(text="x", topics=("pace", "tyres"), private=True),
    ]
    assert {said_by(one) for one in others} == {said_by(known)}
    assert len({identity_of(one) for one in (known, *others)}) == 4
    again = known.model_copy(update={"topics": ("tyres", "pace")})
    assert identity_of(again) == identity_of(known)


def test_a_redacted_statement_is_like_no_other() -> None:
    """It has no digest, which would tell who guesses it what it said."""
    keyed = fact_by(ALICE, "", subject="car", predicate="has", object="tyres")
    assert address_of(keyed) is not None
    redacted = keyed.model_copy(update={"redacted_at": NOW})
    assert (said_by(redacted), identity_of(redacted), address_of(redacted)) == (None, None, None)
    rule = rule_by(ALICE).model_copy(update={"redacted_at": NOW})
    assert (said_by(rule), identity_of(rule)) == (None, None)


def test_addresses_do_not_run_together() -> None:
    """Of facts with the same subject and predicate, whatever they say of it; none without a key."""

    def keyed(subject: str, predicate: str, value: str) -> str | None:
        return address_of(fact_by(text="", subject=subject, predicate=predicate, object=value))

    assert keyed("car", "has", "tyres") == keyed("car", "has", "wings")
    assert keyed("car", "has", "x") != keyed("car has", "has", "x")
    assert keyed("car", "has", "x") != keyed("ca", "rhas", "x")
    assert address_of(fact_by(text="no key")) is None


# The tables of SQLite, which are made of the collections that are declared.

PINNED = (18, "1feaafa40417122c05192e8f5206678ecfdd0909d2f9512773a09830aab27093")
"""A version, and the digest of what makes its tables."""


def test_other_tables_are_another_version() -> None:
    """A file of before would be opened, and not have what is asked of it."""
    digest = hashlib.sha256("\n".join(statements(COLLECTIONS)).encode()).hexdigest()
    said = "raise SCHEMA_VERSION, then pin the new digest"
    assert (SCHEMA_VERSION, digest) == PINNED, said


def test_the_tables_of_every_collection_can_be_made() -> None:
    """In one go, and each collection has one of its name."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in statements(COLLECTIONS):
            connection.execute(statement)
        tables = {
            name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE sql != ''")
        }
    assert {one.name for one in COLLECTIONS} <= tables


# Terms of the word index, against the tokenizer that SQLite has for its own.

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


# Threads that carry out what they are handed.


def test_one_thread_keeps_to_the_order_and_ends_with_what_it_was_handed() -> None:
    """Stopping waits for all of it, and may be repeated."""
    done: list[tuple[int, int]] = []
    threads = Threads(1, "one")
    threads.start()
    for number in range(1_000):
        threads.submit(lambda one: done.append((one, get_ident())), number)
    threads.stop()
    threads.stop()
    assert [number for number, _ in done] == list(range(1_000))
    assert len({thread for _, thread in done} - {get_ident()}) == 1


def test_threads_that_never_began_are_stopped_at_once() -> None:
    """Nothing waits for them."""
    Threads(2, "none").stop()


def test_each_has_a_name_of_its_own() -> None:
    """By which a profile or a dump tells them apart."""
    names: set[str] = set()
    threads = Threads(2, "ezra")
    threads.start()
    for _ in range(200):
        threads.submit(lambda: names.add(current_thread().name))
    threads.stop()
    assert names <= {"ezra_0", "ezra_1"}
    assert names
