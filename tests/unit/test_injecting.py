"""What is injected is fused fairly, told once, and fits its tokens: the pure parts."""

from __future__ import annotations

from support.records import hit

from ezra.recall.injection import ITEMS_MAX, fuse, rendered, within, without_repeats
from ezra.turn.assemble import INJECTED_CHARS, injected_text
from tiers.lexical import estimate_tokens


def test_no_class_crowds_out_another() -> None:
    """The best of each class come before the second of any, whatever their scores say."""
    documents = [hit(f"d{n}", 0.9, kind="document", text=f"passage {n}") for n in range(30)]
    facts = [hit("f1", 0.01, kind="fact", text="fact")]
    turns = [hit(f"t{n}", 0.5, kind="turn", text=f"turn {n}") for n in range(2)]
    fused = fuse([facts, documents, turns])
    assert [one.id for one in fused[:5]] == ["f1", "d0", "t0", "d1", "t1"]
    assert [one.score for one in fused] == sorted((one.score for one in fused), reverse=True)
    assert {one.id for one in fused[:ITEMS_MAX]} >= {"f1", "t0", "t1"}
    assert fuse([]) == []


def test_what_says_the_same_is_told_once() -> None:
    """The better one stands, and carries the other's id; so does what a summary covers."""
    kept = without_repeats(
        [
            hit("f1", kind="fact", text="The gearbox seals last 9 races."),
            hit("f2", kind="fact", text="The gearbox seals last 9 races!"),
            hit("s", kind="summary", text="They spoke of tyres.", source_ids=("t1", "t2")),
            hit("t2", kind="turn", text="Which tyres shall we start with on Sunday?"),
            hit("f3", kind="fact", text="The gearbox seals last 4 races in rain."),
        ]
    )
    assert [(one.id, one.folded) for one in kept] == [
        ("f1", ("f2",)),
        ("s", ("t2",)),
        ("f3", ()),
    ]


def test_the_text_fits_the_tokens_headings_included() -> None:
    """A smaller record may follow one that is too large; of a long text the beginning is shown."""
    hits = [
        hit("big", kind="document", text="word " * 900),
        hit("small", kind="fact", text="Seals last 9 races."),
    ]
    assert [one.id for one in within(hits, 60)] == ["small"]
    assert [one.id for one in within(hits, 600)] == ["big", "small"]
    for budget in (1, 20, 60, 600):
        assert estimate_tokens(rendered(within(hits, budget))) <= budget
    assert len(injected_text("x" * 9_000)) == INJECTED_CHARS
    assert injected_text("x") == "x"
    assert rendered([]) == ""
