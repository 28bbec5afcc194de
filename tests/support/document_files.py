"""Files of the formats that documents come in, made for tests."""

from __future__ import annotations

import io
import random
import zipfile
from functools import cache

import docx
from fpdf import FPDF

WORDS = (
    "tyre lap engine pit lane driver fuel brake wing corner medium soft hard strategy rain track "
    "kerb marshal flag grid sector telemetry downforce gearbox clutch slipstream apex chassis"
).split()


_SYLLABLES = "ka lo mi ru sen tav bor del fin gor hul jas nip pem qua vex wol yar zim tur".split()


def post_of(page: int) -> str:
    """Return the name of a post that only one page of up to 400 speaks of."""
    return (_SYLLABLES[page // 20] + _SYLLABLES[page % 20] + "ona").capitalize()


def sentences(seed: str, count: int) -> str:
    """Return so many sentences, always the same ones for a seed."""
    drawn = random.Random(seed)
    return " ".join(
        " ".join(drawn.choices(WORDS, k=drawn.randint(6, 12))).capitalize() + "."
        for _ in range(count)
    )


@cache
def pdf_of(chapters: int, pages: int) -> bytes:
    """Return a PDF with an outline: so many chapters of so many pages, each with a footer."""
    pdf = FPDF()
    pdf.set_auto_page_break(auto=False)
    pdf.set_title("The race handbook")
    pdf.set_font("Helvetica", size=10)
    for number in range(1, chapters * pages + 1):
        pdf.add_page()
        chapter = (number - 1) // pages + 1
        if (number - 1) % pages == 0:
            pdf.start_section(f"Chapter {chapter}")
            pdf.text(20, 20, f"Chapter {chapter}")
        lines = [sentences(f"{number}.{line}", 1) for line in range(12)]
        lines[0] = f"The pit code of {post_of(number)} is {number * 7919 % 100_000:05d}."
        for place, line in enumerate(lines):
            pdf.text(20, 30 + 8 * place, line)
        pdf.text(100, 285, f"Handbook, page {number} of {chapters * pages}")
    return bytes(pdf.output())


def word_of() -> bytes:
    """Return a Word document with headings, a list and a table."""
    document = docx.Document()
    document.core_properties.title = "Race manual"
    document.add_heading("Race manual", 0)
    document.add_paragraph("For everybody in the garage.")
    document.add_heading("Tyres", 1)
    document.add_paragraph("Mediums last 18 laps.")
    document.add_paragraph("Warm them slowly.", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    for row, cells in zip(table.rows, (("compound", "laps"), ("soft", "9")), strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    document.add_heading("Pressures", 2)
    document.add_paragraph("Twenty psi at the front.")
    document.add_heading("Engine", 1)
    document.add_paragraph("Two modes.")
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def bomb_of(unpacked_bytes: int) -> bytes:
    """Return a small Word document whose text unpacks to so many zeros."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(word_of())) as source,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for member in source.infolist():
            data = source.read(member.filename)
            if member.filename == "word/document.xml":
                data = b"0" * unpacked_bytes
            target.writestr(member.filename, data)
    return out.getvalue()
