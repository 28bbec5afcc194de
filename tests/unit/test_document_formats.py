"""Reading files of every format: headings, pages and titles, and clear words for what is broken."""

from __future__ import annotations

import io
import time
import zipfile
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pypdf import PdfReader, PdfWriter
from support.document_files import bomb_of, pdf_of, post_of, word_of

from ezra.documents import drafted
from ezra.documents.formats import DOCX, HTML, MARKDOWN, PDF, PLAIN, is_known, parse, type_of
from ezra.documents.parsed import Block
from tiers.errors import UsageError

OWNER = "the owner"

MARKDOWN_TEXT = """---
title: Tyre guide
topics: [tyres]
---
# Tyres

Intro, *with* marks and a [link](http://x).

## `Mediums` and **softs** {#m}

- one
- two

  ```
  inside a list
  ```

```python
# no heading

x = 1
```

| compound | laps |
|----------|------|
| soft     | 9    |

<div>Raw <b>words</b></div>
<!-- nobody reads this -->

Setext
------

Text.

# Nothing under it
"""

PAGE = """<!DOCTYPE html><html><head><title>Pit &amp; lane</title><style>p {}</style>
<script>alert("no")</script></head><body><nav><a href=/>Home</a></nav><h1>Pit lane</h1>
<p>Sixty <b>km/h</b><br>in Monaco.</p><div>Bare text <p>Para</p> after</div><ul><li>first</li>
<li><p>second</p></li></ul><h2>Code</h2><pre>a = 1

  b = 2</pre><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
<p hidden>secret</p><p aria-hidden="true">secret</p><!-- <p>comment</p> --><form>menu</form>
<h3></h3><p>End &lt;here&gt;.</p></body></html>"""


def test_markdown_keeps_what_is_written_under_its_headings() -> None:
    """Lists, code and tables as they stand; marks only leave headings."""
    parsed = parse(MARKDOWN_TEXT.encode(), MARKDOWN)
    assert (parsed.title, parsed.topics, parsed.warnings) == ("Tyre guide", ("tyres",), ())
    first, second = ("Tyres",), ("Tyres", "Mediums and softs")
    assert parsed.blocks == (
        Block("Intro, *with* marks and a [link](http://x).", first),
        Block("- one\n- two\n\n  ```\n  inside a list\n  ```", second, None, by_lines=True),
        Block("```python\n# no heading\n\nx = 1\n```", second, None, by_lines=True),
        Block(
            "| compound | laps |\n|----------|------|\n| soft     | 9    |", *(second, None, True)
        ),
        Block("Raw words", second),
        Block("Text.", ("Tyres", "Setext")),
        Block("Nothing under it", ("Nothing under it",)),
    )


def test_html_gives_its_text_without_menus_scripts_and_what_is_hidden() -> None:
    """Under headings, with rows of tables and code as it stands."""
    parsed = parse(PAGE.encode(), HTML)
    assert parsed.title == "Pit & lane"
    said = [(block.headings, block.text) for block in parsed.blocks]
    lane, code = ("Pit lane",), ("Pit lane", "Code")
    assert said == [
        (lane, "Sixty km/h\nin Monaco."),
        (lane, "Bare text"),
        (lane, "Para"),
        (lane, "after"),
        (lane, "- first"),
        (lane, "second"),
        (code, "a = 1\n\n  b = 2"),
        (code, "a | b\n1 | 2"),
        (code, "End <here>."),
    ]
    whole = " ".join(block.text for block in parsed.blocks)
    assert not any(word in whole for word in ("secret", "alert", "Home", "comment", "menu"))


def test_html_says_itself_in_what_letters_it_is_written() -> None:
    """Else it is UTF-8."""
    page = '<meta charset="iso-8859-1"><p>Räder</p>'
    assert parse(page.encode("iso-8859-1"), HTML).blocks[0].text == "Räder"
    assert parse("<p>Räder</p>".encode(), HTML).blocks[0].text == "Räder"
    assert parse(b"no tags, a.txt", HTML).blocks[0].text == "no tags, a.txt"
    assert parse(b"<?xml version='1.0'?><html><p>x</p></html>", HTML).blocks[0].text == "x"


@pytest.mark.parametrize(
    "page",
    ["<a " * 60_000, "<a b='" * 60_000, "<!--" * 60_000, "<b><i>" * 6_000, "<a/" * 60_000],
    ids=["tags", "quotes", "comments", "depth", "slashes"],
)
def test_html_that_is_made_to_take_forever_does_not(page: str) -> None:
    """The parser alone would take minutes for some of these."""
    begun = time.process_time()
    with suppress(UsageError):
        parse(f"<p>{page}</p>".encode(), HTML)
    assert time.process_time() - begun < 5


def test_plain_text_is_paragraphs() -> None:
    """In UTF-8, with or without a mark, or in UTF-16 with one; lines end as they like."""
    blocks = (Block("One\ntwo."), Block("Three é."))
    for data in (
        "One\r\ntwo.\r\n\r\n \r\nThree é.\r\n".encode(),
        "\ufeffOne\ntwo.\n\n\nThree é.".encode(),
        "One\ntwo.\x0cThree é.".encode("utf-16"),
    ):
        assert parse(data, PLAIN).blocks == blocks
    for bad in (b"caf\xe9", b"a\x00b"):
        with pytest.raises(UsageError, match="accepted: text in UTF-8"):
            parse(bad, PLAIN)


def test_pdf_keeps_pages_and_takes_headings_from_the_outline() -> None:
    """Footers that stand on every page are left out, so that a new page changes no other."""
    parsed = parse(pdf_of(2, 3), PDF)
    assert parsed.title == "The race handbook"
    by_page = {block.page: block.headings for block in parsed.blocks}
    assert by_page == {n: (f"Chapter {(n + 2) // 3}",) for n in range(1, 7)}
    texts = {n: " ".join(b.text for b in parsed.blocks if b.page == n) for n in range(1, 7)}
    assert f"The pit code of {post_of(4)} is 31676." in texts[4]
    assert not any("Handbook, page" in text or "Chapter" in text for text in texts.values())


def test_pdf_paragraphs_go_on_over_the_page() -> None:
    """Where a sentence is cut by the end of a page it is cited where it begins."""
    from fpdf import FPDF

    pdf = FPDF()
    pdf.set_font("Helvetica", size=12)
    for text in ("A sentence that is not over at the end of the", "page but on the next one."):
        pdf.add_page()
        pdf.text(20, 20, text)
    (block,) = parse(bytes(pdf.output()), PDF).blocks
    assert block.page == 1
    assert block.text == "A sentence that is not over at the end of the page but on the next one."


def test_pdf_that_cannot_be_read_says_why() -> None:
    """Encrypted, broken, cut off, or without text; an empty password opens."""
    source = PdfReader(io.BytesIO(pdf_of(1, 1)))
    for password in (OWNER, ""):
        writer = PdfWriter(clone_from=source)
        writer.encrypt(user_password=password, owner_password=OWNER, algorithm="AES-256")
        out = io.BytesIO()
        writer.write(out)
        if password:
            with pytest.raises(UsageError, match="encrypted PDF"):
                parse(out.getvalue(), PDF)
        else:
            assert parse(out.getvalue(), PDF).blocks
    blank = PdfWriter()
    blank.add_blank_page(100, 100)
    out = io.BytesIO()
    blank.write(out)
    with pytest.raises(UsageError, match="without text"):
        parse(out.getvalue(), PDF)
    for broken in (b"%PDF-1.7\nnothing", b"", pdf_of(1, 1)[:400]):
        with pytest.raises(UsageError, match=r"broken|without text"):
            parse(broken, PDF)


@settings(max_examples=25)
@given(st.data())
def test_damaged_files_are_read_or_refused(data: st.DataObject) -> None:
    """Never anything else, whatever bytes are wrong."""
    media_type, whole = data.draw(st.sampled_from([(PDF, pdf_of(1, 1)), (DOCX, word_of())]))
    damaged = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 30))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    with suppress(UsageError):
        parse(bytes(damaged[: data.draw(st.integers(0, len(damaged)))]), media_type)


def test_word_documents_have_headings_lists_and_tables() -> None:
    """By the styles of their paragraphs."""
    parsed = parse(word_of(), DOCX)
    assert parsed.title == "Race manual"
    assert [(block.headings, block.text) for block in parsed.blocks] == [
        (("Race manual",), "For everybody in the garage."),
        (("Race manual", "Tyres"), "Mediums last 18 laps."),
        (("Race manual", "Tyres"), "- Warm them slowly."),
        (("Race manual", "Tyres"), "compound | laps\nsoft | 9"),
        (("Race manual", "Tyres", "Pressures"), "Twenty psi at the front."),
        (("Race manual", "Engine"), "Two modes."),
    ]


def test_a_word_document_that_unpacks_to_too_much_is_refused() -> None:
    """Before it is unpacked."""
    bomb = bomb_of(70 * 2**20)
    assert len(bomb) < 2**20
    with pytest.raises(UsageError, match="unpacks to more"):
        parse(bomb, DOCX)
    with pytest.raises(UsageError, match="broken"):
        parse(b"PK\x03\x04 and nothing", DOCX)


def test_content_has_the_last_word_on_the_format() -> None:
    """A name helps where the content does not tell; what is neither is refused."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("a.txt", "x")
    assert type_of("paper.txt", pdf_of(1, 1), None) == PDF
    assert type_of("letter", word_of(), None) == DOCX
    assert type_of("README", b"text", None) == PLAIN
    assert type_of("a.MD", b"text", None) == MARKDOWN
    assert type_of("a.htm", b"<p>", None) == HTML
    assert type_of("a.bin", b"# x", "Text/Markdown; charset=utf-8") == MARKDOWN
    for name, data in (
        ("a.zip", packed.getvalue()),
        ("a.py", b"x = 1"),
        ("a.txt", b"a\x00b"),
        ("old.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    ):
        with pytest.raises(UsageError, match=name):
            type_of(name, data, None)
    for name in ("a.txt", "LICENSE"):  # the name is fine: it is what the file holds
        with pytest.raises(UsageError, match=f"content: .*{name}.* accepted: text in UTF-8"):
            type_of(name, "Nut".encode("utf-16-le"), None)
    with pytest.raises(UsageError, match="text/markdown"):
        type_of("a.md", b"x", "image/png")
    assert is_known("a/b.md")
    assert is_known("LICENSE")
    assert not is_known("a.png")


async def test_a_draft_is_a_document_without_an_owner() -> None:
    """Arguments come before what a file says of itself, and that before its name."""
    plain = await drafted("notes/plan.txt", "One.\n\nTwo.")
    assert (plain.title, plain.media_type, plain.topics) == ("plan", PLAIN, None)
    assert plain.digest == (await drafted("x", b"One.\n\nTwo.")).digest
    said = await drafted("a.md", MARKDOWN_TEXT.encode(), keep_text=True)
    assert (said.title, said.topics) == ("Tyre guide", ("tyres",))
    assert said.text == MARKDOWN_TEXT
    given = await drafted(
        "a.md", MARKDOWN_TEXT, title="Other", topics=["Pit"], properties={"title": "P", "x": [1]}
    )
    assert (given.title, given.topics) == ("Other", ("pit",))
    assert given.properties == {"title": "P", "topics": ["tyres"], "x": [1]}


@pytest.mark.parametrize(
    ("name", "content", "more", "about"),
    [
        ("", "x", {}, "name"),
        ("a\nb", "x", {}, "name"),
        ("a" * 1_025, "x", {}, "name"),
        ("a.md", 7, {}, "content"),
        ("a.md", "\ud800", {}, "content"),
        ("a.md", " \n\u200b", {}, "content"),
        ("a.txt", b"\xef\xbb\xbf", {"title": "t"}, "content"),
        ("a.html", "<script>x</script>", {}, "content"),
        ("a.md", "x" * 200_001, {"keep_text": True}, "content"),
        ("a.pdf", pdf_of(1, 1), {"keep_text": True}, "keep_text"),
        ("a.md", "x", {"shelf": ""}, "shelf"),
        ("a.md", "x", {"media_type": "application/pdf"}, "media_type"),
        ("a.md", "x", {"properties": {"a": "x" * 64_001}}, "properties"),
        ("a.md", "x", {"topics": [""]}, "topics"),
        ("a.md", "x", {"title": "x" * 200_001}, "title"),
    ],
    ids=range(15),
)
async def test_what_cannot_be_a_document_is_refused_by_name(
    name: str, content: str | bytes, more: dict[str, object], about: str
) -> None:
    """Field, value, and what would do."""
    with pytest.raises(UsageError) as refused:
        await drafted(name, content, **more)  # type: ignore[arg-type]
    assert refused.value.field == about
