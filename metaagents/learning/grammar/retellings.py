"""What somebody has told before, told again, asked after or put right. Pure.

``Did I mention that I'm vegan?``, ``you know my wife is Danish, right?``, ``you wrote that I have
three grandchildren, but it's four``. Who asks so takes it for true.
"""

from __future__ import annotations

from tiers.lexical import MONTHS, NUMBER_WORDS, WEEKDAYS, sentences

from ..marks import Way, Ways, reworded

_OWN = r"(?:i'm|i've|i|my|we're|we've|we|our)"
_TOLD = (
    r"(?:told you(?: about how)?|mentioned|said|wrote|noted|wrote down|noted down|put down"
    r"|have it down|have noted|have on file|have)"
)
_NUMBER = rf"(?:\d[\d.,:]*|{'|'.join(sorted(NUMBER_WORDS))})"
_DAY, _MONTH = "|".join(WEEKDAYS), "|".join(MONTHS)
_IT_IS = (
    r"(?:(?:but|though|however),? )?(?:(?:now|actually|in fact|in reality|really) )?"
    r"(?:it's|it is|he's|he is|she's|she is|they're|they are|there are|we're|that's)"
    r"(?: (?:now|actually|really|in fact))? (?:on |at |in )?"
)
_OTHERWISE = r"(?=[,.!;]|$| (?:now|by now|these days|instead)\b)"


def _put_right(kind: str) -> Way:
    """Return how a number or a day of a former statement is put right."""
    return Way(
        rf"^\s*(?:small correction: )?(?:you|i)(?: have|'ve)? {_TOLD} (?:that )?(?=[a-z])"
        rf"([^,;?]{{4,60}}? )({kind})\b([^,;?]{{0,40}})[,;] (?:[^,;?]{{3,40}} )?{_IT_IS}({kind})"
        rf"{_OTHERWISE}(?: (now|these days))?.*$",
        lambda found: f"Actually, {found[1]}{found[4]}{found[3]}{' now' if found[5] else ''}.",
    )


_RETELLINGS: tuple[Way, ...] = (
    # What a question takes for granted.
    Way(
        r"^(?=[^?]*\?\s*$)\s*(?!why\b|how (?:long|many)\b|is it true\b|do you)[^?,;]{4,80}?,? "
        r"(?:since|given(?: that)?|considering(?: that)?|seeing (?:that|as)|now that) "
        rf"(?={_OWN}\b)([^?,;]{{6,80}})\?\s*$",
        r"\1.",
    ),
    Way(
        r"^\s*(?:scrap|forget|ignore|disregard|never mind|scratch) what i (?:said|told you|wrote)"
        r" about [\w' -]{2,30}?[,:;] ",
        "Actually, ",
    ),
    Way(
        rf"^\s*you {_TOLD} (?:that )?{_OWN}\b[^,;?]{{3,60}}[,;] but (?:(?:in fact|actually|now) )?"
        rf"(?={_OWN}\b(?! (?:didn't|never|did|don't think)\b))",
        "Actually, ",
    ),
    # Asked by its manners only, and said plainly.
    Way(
        r"^\s*(?:please )?(?:can|could|would|will) you (?:please |just |also )*(?:keep in mind|note"
        r"|bear in mind|remember|make a note|take note|write down) (?:that )?"
        rf"(?={_OWN}\b(?! (?:told|said|asked|mentioned|need to|have to|wanted|might|may|would"
        r"|could)\b))([^?,;]{6,80}?)(?:,? please)?\?\s*$",
        r"\1.",
    ),
    _put_right(_NUMBER),
    _put_right(_DAY),
    _put_right(_MONTH),
    Way(
        r"^\s*(?:i'll|i will|let me|i) (?:say|tell you|repeat|write)(?: it| this)?(?: (?:once more"
        rf"|again|one more time))(?: for [\w ]{{2,30}})?[:,] (?={_OWN}\b)",
        "",
    ),
)
_WAYS = Ways(_RETELLINGS)


def retold(said: str) -> str:
    """Return a message with what it puts right, or takes for granted, as plain statements.

    Args:
        said: The message, its apostrophes in one form.
    """
    for sentence in sentences(said):
        told = reworded(sentence, _WAYS)
        said = said if told == sentence else said.replace(sentence, told, 1)
    return said
