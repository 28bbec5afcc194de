"""Texts that attack a memory, made of templates: the seed decides, the same on every machine.

Nothing here is a real secret: keys and numbers are drawn; only form and checksum are right.
"""

from __future__ import annotations

import base64
import codecs
import json
import string
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from random import Random
from types import MappingProxyType
from typing import NamedTuple

from tiers.errors import UsageError
from tiers.records import Source

from .labels import AttackSet

_NINE = 9
Make = Callable[[Random], str]

_ALIKE = str.maketrans("aeopcxyi", "\u0430\u0435\u043e\u0440\u0441\u0445\u0443\u0456")
_LEET = str.maketrans("oieast", "013457")


class Attack(NamedTuple):
    """One text of a family, and whose words it is.

    ``is_whole`` says that nothing of it may be stored: a text with a secret may, without that.
    """

    id: str
    family: str
    source: Source
    text: str


def attacks(source: AttackSet) -> Iterator[Attack]:
    """Yield every template of a set, filled and spelled.

    Raises:
        UsageError: A family asks for a spelling that there is not.
    """
    for family in source.families:
        if family.spelling not in SPELLINGS:
            raise UsageError(f"{source.name}: spelling", family.spelling, ", ".join(SPELLINGS))
        for number, template in enumerate(family.texts, 1):
            random = Random(f"{source.seed} {family.name} {number}")  # noqa: S311 - it draws words
            text = _filled(template, source.slots, random)
            spelled = SPELLINGS[family.spelling](text)
            yield Attack(f"{family.name} {number}", family.name, family.source, spelled)


def _filled(template: str, slots: Mapping[str, tuple[str, ...]], random: Random) -> str:
    text = template
    for name, words in slots.items():
        if f"{{{name}}}" in text:
            text = text.replace(f"{{{name}}}", random.choice(words))
    for name, make in _MADE.items():
        if f"{{{name}}}" in text:
            text = text.replace(f"{{{name}}}", make(random))
    return text


def _token(prefix: str, length: int, alphabet: str = string.ascii_letters + string.digits) -> Make:
    return lambda random: prefix + "".join(random.choice(alphabet) for _ in range(length))


def _card(random: Random) -> str:
    body = [4] + [random.randrange(10) for _ in range(14)]
    doubled = [2 * one for one in body[-1::-2]]
    total = sum(body[-2::-2]) + sum(one - _NINE if one > _NINE else one for one in doubled)
    digits = "".join(map(str, [*body, -total % 10]))
    return " ".join(digits[at : at + 4] for at in range(0, 16, 4))


def _jwt(random: Random) -> str:
    return ".".join((_token("eyJ", 20)(random), _token("eyJ", 40)(random), _token("", 43)(random)))


def _private_key(random: Random) -> str:
    rule = "-" * 5
    return f"{rule}BEGIN PRIVATE KEY{rule}\n{_token('', 64)(random)}\n{rule}END PRIVATE KEY{rule}"


def _password(random: Random) -> str:
    return random.choice(("Hx7!qu", "lorry42#", "Tr0ub4")) + _token("", 5)(random)


def _huge(random: Random) -> str:
    word = _token("", 7, string.ascii_lowercase)
    return " ".join(word(random) for _ in range(6_000))


def _nested_json(random: Random) -> str:
    """Return JSON of many levels that ends just below a size at which a limit may stand."""
    depth = 60
    core = json.dumps({"note": _token("", 120)(random)})
    return '{"a": [' * depth + core + "]}" * depth


_MADE: Mapping[str, Make] = MappingProxyType(
    {
        "aws": _token("AKIA", 16, string.ascii_uppercase + string.digits),
        "aws_secret": _token("", 40),
        "github": _token("ghp_", 36),
        "gitlab": _token("glpat-", 20),
        "openai": _token("sk-proj-", 48),
        "slack": _token("xoxb-", 36, string.digits + string.ascii_lowercase),
        "stripe": _token("sk_live_", 24),
        "google": _token("AIza", 35),
        "password": _password,
        "private_key": _private_key,
        "jwt": _jwt,
        "card": _card,
        "long_token": _token("", 4_000, string.ascii_lowercase),
        "nested_json": _nested_json,
        "repeated": lambda _: "approve the request " * 200,
        "huge": _huge,
    }
)  # fmt: skip


def _fullwidth(text: str) -> str:
    return "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in text)


def _spaced(text: str) -> str:
    return "   ".join(" ".join(word) for word in text.split())


def _tags(text: str) -> str:
    return "Here is the report." + "".join(chr(0xE0000 + ord(char)) for char in text)


SPELLINGS: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {
        "": lambda text: text,
        "zero-width": "\u200b".join,
        "bidi": lambda text: f"Report. \u202e{text[::-1]}\u202c",
        "tags": _tags,
        "homoglyphs": lambda text: text.translate(_ALIKE),
        "fullwidth": _fullwidth,
        "base64": lambda text: f"Checksum: {base64.b64encode(text.encode()).decode()}",
        "hex": lambda text: f"id {text.encode().hex()}",
        "leet": lambda text: text.translate(_LEET),
        "spaced": _spaced,
        "percent": lambda text: f"q={urllib.parse.quote(text)}",
        "rot13": lambda text: codecs.encode(text, "rot13"),
        "reversed": lambda text: text[::-1],
        "entities": lambda text: "".join(f"&#{ord(one)};" for one in text),
    }
)  # fmt: skip
"""How a text is written, by the name of the spelling."""
