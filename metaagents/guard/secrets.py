"""Secrets in a text: keys, tokens, passwords, card numbers. Pure.

Each is found by its form, a card number by its checksum and the prefixes of its issuer as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

DIGITS_MIN = 2
"""What is called a token or a key without a form of its own has so many figures."""
PASSWORD_CHARS_MIN = 6
DIFFERENT_CHARS_MIN = 4
"""Of a password; ``xxxxxx`` is a placeholder."""
KEY_DIFFERENT_CHARS_MIN = 8
"""Of a key or token."""
_DIGIT_MAX = 9


class Secret(NamedTuple):
    """A secret, and where it stands."""

    label: str
    start: int
    end: int


def is_card(digits: str) -> bool:
    """Whether digits are the number of a card: issuer, length and checksum (Luhn) agree."""
    sizes = next((some for prefix, some in _ISSUERS if prefix.match(digits)), ())
    if len(digits) not in sizes:
        return False
    doubled = (2 * int(one) for one in digits[-2::-2])
    total = sum(map(int, digits[-1::-2])) + sum(
        one - 9 if one > _DIGIT_MAX else one for one in doubled
    )
    return total % 10 == 0


_ISSUERS = (
    (re.compile("4"), (13, 16, 19)),
    (re.compile("5[1-5]|2[2-7]"), (16,)),
    (re.compile("3[47]"), (15,)),
    (re.compile("6(?:011|5)"), (16, 19)),
    (re.compile("3(?:0[0-5]|6|8)"), (14, 16)),
    (re.compile("35"), (16,)),
)
"""By prefix, how long the numbers of an issuer are (ISO/IEC 7812 as its registrants use it)."""


def _is_mixed(value: str) -> bool:
    """Whether a value may be a password: letters with figures or signs, no word of a sentence."""
    value = value.rstrip(".,;:!?)\"'")
    has_sign = any(not char.isalnum() for char in value.strip("-_[]<>{}*."))
    has_both = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    is_varied = len(value) >= PASSWORD_CHARS_MIN and len(set(value)) >= DIFFERENT_CHARS_MIN
    return is_varied and (has_both or (has_sign and "'" not in value))


def _is_random(value: str) -> bool:
    """Whether a value may be a key: long, varied, with figures."""
    return sum(map(str.isdigit, value)) >= DIGITS_MIN and len(set(value)) >= KEY_DIFFERENT_CHARS_MIN


def _is_varied(value: str) -> bool:
    """Whether a value is no placeholder such as ``ghp_xxxx``."""
    return len(set(value)) >= KEY_DIFFERENT_CHARS_MIN


def _is_card_number(value: str) -> bool:
    return is_card(re.sub(r"\D", "", value))


class _Form(NamedTuple):
    """A form of secrets: its label, what must stand in the text, the pattern, and the test.

    Of a pattern with a group, the group is the secret.
    """

    label: str
    marks: tuple[str, ...]
    pattern: re.Pattern[str]
    is_one: Callable[[str], bool]


def _form(
    label: str, marks: str, pattern: str, is_one: Callable[[str], bool] = _is_varied
) -> _Form:
    return _Form(label, tuple(marks.split()), re.compile(pattern), is_one)


_NAMED = (
    r"(?i:api[_ -]?key|secret(?:[_ -]access)?(?:[_ -]key)?|access[_ -]?(?:key|token)"
    r"|auth[_ -]?token|account[_ -]?key|"
    r"client[_ -]?secret|token|bearer)\w{0,16}[\"']?\s{0,3}(?:[:=]|\bis\b|\s)\s{0,3}[\"']?"
)
_PASSWORD = (
    r"(?:(?i:pass(?:word|wort|wd|phrase|code)|pwd|kennwort|mot de passe|contrase\u00f1a)"  # noqa: S105
    r"|_PASS|_pass)"
)
_BY_PREFIX = {
    "gldt- glrt- glptt- glcbt- glft- glimt- glagent- glsoat-": r"[A-Za-z0-9_\-]{20,64}",
    "shpat_ shpca_ shppa_ shpss_": r"[0-9a-fA-F]{32}",
    "sq0atp- sq0csp- sq0idp-": r"[A-Za-z0-9_\-]{22,43}",
    "hvs. hvb. hvr.": r"[A-Za-z0-9_\-]{24,200}",
    "dp.pt. dp.st. dp.ct. dp.sa.": r"[A-Za-z0-9._\-]{40,100}",
    "lin_api_ lin_oauth_": r"[A-Za-z0-9]{32,64}",
    "dckr_pat_ dckr_oat_": r"[A-Za-z0-9_\-]{24,64}",
    "SK key- dapi": r"[0-9a-f]{32}\b",
    "gsk_ ntn_ pplx-": r"[A-Za-z0-9]{40,64}",
    "xapp-": r"\d-[A-Za-z0-9-]{20,200}",
    "whsec_": r"[A-Za-z0-9+/=]{24,100}",
    "GOCSPX-": r"[A-Za-z0-9_\-]{28}",
    "pypi-AgEI": r"[A-Za-z0-9_\-]{50,1000}",
    "AGE-SECRET-KEY-1": r"[0-9A-Z]{58}",
    "figd_": r"[A-Za-z0-9_\-]{36,60}",
    "PMAK-": r"[0-9a-f]{24}-[0-9a-f]{34}",
    "ATATT3": r"[A-Za-z0-9_\-=]{50,300}",
    "NRAK-": r"[A-Z0-9]{27}",
    "sbp_": r"[0-9a-f]{40}",
    "xai-": r"[A-Za-z0-9]{60,100}",
    "r8_": r"[A-Za-z0-9]{37}",
}
"""How tokens of an issuer begin, and what follows (the rules of gitleaks and TruffleHog)."""
_ISSUED = "|".join(
    f"(?:{'|'.join(map(re.escape, some.split()))}){rest}" for some, rest in _BY_PREFIX.items()
)
FORMS = (
    _form("private key", "-----BEGIN", r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
          r"(?:[^-]{0,20000}-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----)?"),
    _form("AWS key", "AKIA ASIA", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    _form("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
          r"\b(?:gh[pousr]_[A-Za-z0-9]{36,251}|github_pat_[A-Za-z0-9_]{22,251})"),
    _form("GitLab token", "glpat-", r"\bglpat-[A-Za-z0-9_\-]{20,64}"),
    _form("Slack token", "xox", r"\bxox[abposre]-[A-Za-z0-9-]{10,200}"),
    _form("Stripe key", "_live_ _test_", r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,247}"),
    _form("API key", "sk-", r"\bsk-[A-Za-z0-9_\-]{20,200}"),
    _form("Google key", "AIza ya29.", r"\bAIza[A-Za-z0-9_\-]{35}|\bya29\.[A-Za-z0-9_\-]{20,400}"),
    _form("token", "npm_ hf_ SG. dop_v1_", r"\b(?:npm_[A-Za-z0-9]{36}|hf_[A-Za-z0-9]{30,40}|"
          r"SG\.[A-Za-z0-9_\-]{16,32}\.[A-Za-z0-9_\-]{32,64}|dop_v1_[a-f0-9]{64})"),
    _form("token", "eyJ", r"\beyJ[A-Za-z0-9_\-]{8,2000}\.eyJ[A-Za-z0-9_\-]{8,4000}"
          r"\.[A-Za-z0-9_\-]{8,1000}"),
    _form("token", " ".join(_BY_PREFIX),
          rf"(?<![A-Za-z0-9])(?:{_ISSUED})"),
    _form("token", ":AA", r"\b\d{8,10}:AA[A-Za-z0-9_\-]{32,33}\b"),
    _form("web hook", "hooks.slack.com/",
          r"\bhooks\.slack\.com/[a-z]{4,20}/([A-Za-z0-9/+]{20,200})"),
    _form("password", "Basic ", r"(?i:authorization)[\"']?\s{0,3}[:=]\s{0,3}[\"']?Basic\s{1,3}"
          r"([A-Za-z0-9+/=]{8,400})"),
    _form("password", "sshpass", r"\bsshpass\s{1,3}-p\s{0,3}(\S{5,127})", _is_mixed),
    _form("password", "curl", r"\bcurl\s[^\n]{0,300}?(?<=\s)(?:-u|--user)[\s=]{0,3}[\"']?"
          r"[^\s:\"']{1,64}:([^\s\"']{3,128})"),
    _form("password", "://", r"://[^/\s:@]{0,64}:([^/\s:@]{3,128})@", lambda _: True),
    _form("password", "pass Pass PASS pwd PWD kennwort Kennwort mot contrase",
          _PASSWORD + r"[\"']?\s{0,3}(?:[:=]|\bis\b|\bist\b|\best\b"
          r"|\bes\b)\s{0,3}[\"']?(\S{5,127}[^\s.,;:)\"'])",
          _is_mixed),
    _form("key", "key Key KEY ecret ECRET oken OKEN earer",
          _NAMED + r"([A-Za-z0-9_\-./+=]{16,512})", _is_random),
    _form("card number", "", r"(?<![\d+.,/-])(?:\d[ -]?){12,18}\d(?![\d])", _is_card_number),
)  # fmt: skip
_CARD_AHEAD = re.compile(r"\d{4}[ -]?\d{3}")


def secrets(text: str) -> Iterator[Secret]:
    """Yield the secrets of a text."""
    for form in FORMS:
        if form.marks:
            if not any(mark in text for mark in form.marks):
                continue
        elif _CARD_AHEAD.search(text) is None:
            continue
        for one in form.pattern.finditer(text):
            group = 1 if form.pattern.groups else 0
            if form.is_one(one[group]):
                yield Secret(form.label, one.start(group), one.end(group))
