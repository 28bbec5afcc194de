"""Patterns of the grammar: compiled late, and all of them good."""

from __future__ import annotations

import re
import subprocess
import sys

from metaagents.learning import regexes
from metaagents.learning.regexes import any_case, compiled, regex


def test_a_pattern_is_what_re_has_compiled() -> None:
    """As far as searching goes."""
    late, now = (
        regex(r"(\w+) in (\w+)", re.IGNORECASE),
        re.compile(r"(\w+) in (\w+)", re.IGNORECASE),
    )
    text = "Anna IN Lisbon, Ben in Turin"
    assert (late.pattern, late.sub("-", text)) == (now.pattern, now.sub("-", text))
    assert [one.groups() for one in late.finditer(text)] == now.findall(text)
    assert late.groups == 2
    assert any_case(late.pattern).findall(text) == now.findall(text)


async def test_what_waits_is_compiled_once() -> None:
    """Who asks again has nothing to wait for."""
    regex(r"never asked (?P<before>)")
    await compiled()
    assert regexes._waiting == []
    await compiled()


def test_every_pattern_of_the_grammar_compiles_and_none_at_an_import() -> None:
    """In an interpreter of its own: here others have compiled what they needed."""
    asked = (
        "import ezra; ezra.Ezra\n"
        "from metaagents.learning import regexes\n"
        "late = len([one for one in regexes._waiting if 'search' not in vars(one)])\n"
        "regexes.compile_all()\n"
        "print(late)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=True, timeout=60
    )
    assert int(done.stdout) > 300
