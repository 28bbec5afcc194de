"""Files of a folder: which are found under which names, and what their front matter says."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ezra.documents import drafted
from ezra.documents.folders import Patterns, found_in, gone_of, patterns_of, read_file
from ezra.documents.front_matter import split_front_matter, topics_of
from ezra.documents.markdown import read_text
from tiers.documents import PROPERTIES_CHARS_MAX
from tiers.errors import UsageError

# Finding files: nothing hidden, nothing outside, no circles, and names that mean one document.


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with all sorts of files, and one beside it."""
    root = tmp_path / "book"
    for name in ("a.md", "part/b.txt", "part/deep/c.html", ".git/config", "part/.d.md", "e.png"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("text")
    (root / "tool").write_bytes(b"\x7fELF\x00")
    (root / "README").write_text("text")
    (tmp_path / "outside.md").write_text("secret")
    (root / "out.md").symlink_to(tmp_path / "outside.md")
    (root / "in.md").symlink_to(root / "a.md")
    (root / "circle").symlink_to(root)
    (root / "broken.md").symlink_to(root / "nothing.md")
    os.mkfifo(root / "pipe.md")
    return root


def _names(root: Path, patterns: Patterns) -> list[str]:
    return [one.name for one in found_in([root], patterns).files]


def test_a_folder_is_its_readable_files_under_its_own_name(root: Path) -> None:
    """Links out of it, links to folders, pipes, programs and pictures are left out, and counted."""
    found = found_in([root], Patterns())
    assert [(one.name, one.below) for one in found.files] == [
        ("book/README", "book"),
        ("book/a.md", "book"),
        ("book/in.md", "book"),
        ("book/part/b.txt", "part"),
        ("book/part/deep/c.html", "part"),
    ]
    assert found.ignored == 8
    assert found.is_inside("book/x")
    assert not found.is_inside("bookshelf/x")
    assert found.paths_of("book/part/x.md") == (root / "part/x.md",)


def test_patterns_are_held_against_path_and_name(root: Path) -> None:
    """What is excluded is out, whatever is included."""
    assert _names(root, patterns_of(["*.md"], None)) == ["book/a.md", "book/in.md"]
    assert _names(root, patterns_of(["part/*"], ["deep/*", "part/deep/*"])) == ["book/part/b.txt"]
    assert _names(root, patterns_of(["**/c.html"], None)) == ["book/part/deep/c.html"]
    with pytest.raises(UsageError, match="include"):
        patterns_of([" "], None)


def test_files_may_be_named_themselves(root: Path, tmp_path: Path) -> None:
    """Under their own names; two that would be one document are refused, and what is not there."""
    found = found_in([root / "a.md", root / "part"], Patterns())
    assert [one.name for one in found.files] == ["a.md", "part/b.txt", "part/deep/c.html"]
    assert list(found.roots) == ["part/"]
    assert len(found_in([root, root], Patterns()).files) == 5
    other = tmp_path / "other" / "book"
    other.mkdir(parents=True)
    (other / "a.md").write_text("text")
    with pytest.raises(UsageError, match=r"book/a\.md"):
        found_in([root, other], Patterns())
    with pytest.raises(UsageError, match="nowhere"):
        found_in([root / "nowhere"], Patterns())
    with pytest.raises(UsageError, match="path"):
        found_in([root / "pipe.md"], Patterns())


def test_only_plain_files_are_read(root: Path) -> None:
    """Nobody waits for a pipe, and what went away is told by its name."""
    assert read_file(root / "a.md") == b"text"
    for name in ("pipe.md", "nothing.md", "part"):
        with pytest.raises(UsageError, match=name):
            read_file(root / name)


def test_what_cannot_be_looked_at_is_not_gone(root: Path) -> None:
    """A document is removed only when its file is surely not there."""
    there, gone = root / "a.md", root / "x.md"
    names = {"there": (there,), "gone": (gone,), "below": (root / "a.md/x.md",)}
    odd = {"odd": (Path("a\x00b"),), "called otherwise": (gone, there)}
    assert gone_of(names | odd) == ["gone", "below"]


# Front matter: what it may say, and what is told and kept as text instead.

BOMB = "a: &a [x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join(['*' + former] * 9)}]\n"
    for former, name in zip("abcdef", "bcdefg", strict=True)
)


def test_values_become_json() -> None:
    """Dates are text, numbers that JSON cannot hold too, and keys are always text."""
    found = split_front_matter(
        "---\ntitle: Plan\ndate: 2026-05-14\nat: 2026-05-14T10:00:00Z\n7: one\ntrue: yes\n"
        "big: 123456789012345678901234567890\nnot: .nan\nset: !!set {b, a}\nnone:\n---\nBody."
    )
    assert found.properties == {
        "title": "Plan",
        "date": "2026-05-14",
        "at": "2026-05-14T10:00:00+00:00",
        "7": "one",
        "true": True,
        "big": "123456789012345678901234567890",
        "not": "nan",
        "set": ["a", "b"],
        "none": None,
    }
    assert (found.body, found.problem) == ("Body.", "")


@pytest.mark.parametrize(
    "raw",
    [
        "a: [1, 2",
        "- no\n- mapping",
        "a: *nobody",
        BOMB,
        "a: " + "[" * 40 + "]" * 40,
        "x: " + "[" + "1," * 6_000 + "]",
        "a: !!python/object/apply:os.system ['true']",
        "when: 2026-13-45",
        "a: b: c",
        "? [a, b]\n: c",
        "\ta: 1",
        "x: '" + "\\" * 10 + "\n",
    ],
    ids=str,
)
def test_what_is_malformed_is_told_and_kept_as_text(raw: str) -> None:
    """Never an error, never built: the words are found all the same."""
    parsed = read_text(f"---\n{raw}\n---\n\n# Tyres\n\nMediums last 18 laps.\n")
    texts = [block.text for block in parsed.blocks]
    if parsed.warnings:
        assert parsed.properties == {}
        assert texts[0].split() == raw.split()
    assert texts[-1] == "Mediums last 18 laps."
    assert parsed.title == "Tyres"
    (warning,) = parsed.warnings or ("",)
    assert "front matter" in warning or raw.startswith("? ")
    assert len(json.dumps(parsed.properties)) <= PROPERTIES_CHARS_MAX


def test_a_rule_across_the_page_is_no_front_matter() -> None:
    """But keys behind dashes that never end are meant as such, and told."""
    assert read_text("---\n\nJust text.\n").warnings == ()
    unended = read_text("---\ntitle: x\n\nText.\n")
    assert "does not end" in unended.warnings[0]
    assert "Text." in unended.blocks[-1].text
    assert split_front_matter("text\n---\na: 1\n---\n").properties is None


def test_topics_are_a_list_or_one_text() -> None:
    """``topics`` before ``tags``; everything, and nothing, is no topic."""
    assert topics_of({"topics": ["Tyres", "#Strategy"]}) == (("strategy", "tyres"), "")
    assert topics_of({"tags": "tyres, Pit lane"}) == (("pit lane", "tyres"), "")
    assert topics_of({"topics": [], "tags": ["b"]}) == (("b",), "")
    assert topics_of({}) == (None, "")
    for bad in (["*"], ["tyres", ""], {"a": 1}, [["x"]], ["\x07"], ["x" * 300], 7):
        topics, problem = topics_of({"topics": bad})
        assert topics is None
        assert problem.startswith("topics")


@pytest.mark.parametrize(
    "raw",
    [
        "title: Payroll: 2026\ntopics: [finance]",
        "topics: [finance",
        "topics: {finance: true}",
        "topics: [finance, {a: b}]",
        "topics:\n- finance\n-hr",
        "topics:\tfinance",
        "topics:finance",
        "title: Payroll\ntopics:\u00a0[finance",
        "topics: 5",
        "topics: false",
        'topics: ["*"]',
        "Tags: *finance",
        "- topics: finance",
        "{title: Payroll, topics: [finance}",
    ],
    ids=repr,
)
async def test_topics_that_cannot_be_read_are_refused_and_never_lost(raw: str) -> None:
    """A document without topics is seen by everybody; those that are given beside it win."""
    await _refused_without_topics(f"---\n{raw}\n---\n# Payroll\n\nSalaries.\n")


async def test_topics_of_a_large_document_are_refused_as_well() -> None:
    """It is read in a process of its own, which has to say why."""
    body = "word " * 30_000
    await _refused_without_topics(f"---\ntopics: [finance\n---\n# Payroll\n\n{body}\n")


async def _refused_without_topics(content: str) -> None:
    with pytest.raises(
        UsageError, match=r"pay\.md.* accepted: front matter that .*topics: \[tyres"
    ):
        await drafted("pay.md", content)
    given = await drafted("pay.md", content, topics=["hr"])
    assert given.topics == ("hr",)
    assert given.warnings


async def test_front_matter_that_never_ends_loses_no_topics_either() -> None:
    """What has no closing dashes is refused where a line names topics, and read as text else."""
    with pytest.raises(UsageError, match="does not end"):
        await drafted("pay.md", "---\ntitle: Payroll\ntopics: [finance]\n\n# Payroll\n")
    with pytest.raises(UsageError, match="does not end"):
        await drafted("pay.md", "---\ntopics:finance\n\n# Payroll\n")
    assert (await drafted("pay.md", "---\n\nTyres.\n\ntopics: none\n")).topics is None
    assert (await drafted("pay.md", "---\na: b: c\n---\nText.")).topics is None


@pytest.mark.parametrize("name", ["pay.txt", "pay.rst", "pay", "pay.html", "pay.md"])
async def test_every_file_of_text_has_front_matter(name: str) -> None:
    """Its topics decide who sees it, and its title is what people call it."""
    said = "<p>Salaries are 400.</p>" if name.endswith("html") else "Salaries are 400."
    draft = await drafted(name, f"---\ntitle: Payroll\ntopics: [finance]\n---\n{said}\n")
    assert (draft.topics, draft.title, draft.warnings) == (("finance",), "Payroll", ())
    assert draft.passages[0].headings == ("Payroll",)
    assert draft.passages[0].text == "Salaries are 400."
    with pytest.raises(UsageError, match=r"topics: .*malformed YAML.* is not accepted"):
        await drafted(name, f"---\ntopics: [finance\n---\n{said}\n")
    plain = await drafted(name, f"---\nowner: a: b\n---\n{said}\n")
    assert plain.topics is None
    assert "owner: a: b" in plain.passages[0].text


@pytest.mark.parametrize(
    "head",
    [
        "---\n\u200btopics: [finance]\n---",
        "---\nto\u00adpics: [finance]\nowner: me\n---",
        "---\nowner: a: b\nto\u200bpics: [finance]\n---",
        "\u200b---\ntopics: [finance]\n---",
        "---\u2028topics: [finance]\u2028---",
        '+++\ntitle = "Pay"\n\n[taxonomies]\ntags = ["finance"]\n+++',
        "----\ntopics: [finance]\n----",
        "\u2014\nTopics: finance\n\u2014",
        "----\nowner: me\ntopics: [finance]",
        "---\ntopics\uff1a finance\n---",
    ],
    ids=repr,
)
@pytest.mark.parametrize("name", ["pay.md", "pay.txt", "pay.html"])
async def test_what_seems_to_be_front_matter_loses_no_topics(name: str, head: str) -> None:
    """What people see as topics is read as such, or the file is refused."""
    with pytest.raises(UsageError, match=r"^topics: .* accepted: front matter that can be read"):
        await drafted(name, f"{head}\n\nSalaries.\n")
    assert (await drafted(name, f"{head}\n\nSalaries.\n", topics=["hr"])).topics == ("hr",)


@pytest.mark.parametrize(
    "text",
    [
        "----\nPayroll\n----\n\nTopics: salaries\n",
        "----\nOwner: me\n----\n\nTopics: salaries\n",
        "----\nOwner: me\n\nTopics: salaries\n",
        "+++\nWhat is new: topics = 3\n+++\n",
        "Topics: salaries\n---\nText.\n",
        "1 - 2\n\ntags: none\n",
    ],
    ids=repr,
)
async def test_a_text_that_speaks_of_topics_has_none(text: str) -> None:
    """Lines of dashes, and lines that begin with the word further down, are no front matter."""
    for name in ("pay.md", "pay.txt"):
        assert (await drafted(name, text)).topics is None


@pytest.mark.parametrize(
    "raw",
    ["Topics: [finance]", "TAGS: finance", '"topics": [finance]', "topics: []\nTopics: finance"],
)
def test_keys_are_read_in_any_case(raw: str) -> None:
    """Also behind blank lines, as texts in programs begin; the title likewise."""
    parsed = read_text(f"\n\n---\nTITLE: Pay\n{raw}\n---\nText.")
    assert (parsed.topics, parsed.topics_problem, parsed.title) == (("finance",), "", "Pay")
    assert "line 4" in split_front_matter("\n---\na: b\nc: d: e\n---\n").problem


@given(st.text(max_size=400))
def test_any_text_between_dashes_is_read_or_told(raw: str) -> None:
    """Nothing that people write there is an error."""
    found = split_front_matter(f"---\n{raw}\n---\nBody")
    json.dumps(found.properties)
    assert found.properties is None or isinstance(found.properties, dict)
