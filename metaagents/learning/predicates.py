"""Predicates of keyed facts that hold of several things at once, and words that deny. Pure."""

from __future__ import annotations

from tiers.lexical import stem, words

from .regexes import any_case

MULTI_VALUED = frozenset(
    # Tastes and interests: one does not end another.
    "like love enjoy prefer dislike hate fear avoid want need favor favour interested fan wish "
    # People and things that somebody has, knows or belongs to.
    "know met meet friend colleague sibling brother sister child son daughter parent relative pet "
    "own owner member belong follow support sponsor employ mentor teach "
    "cousin uncle aunt nephew niece grandchild teammate collaborate participate hobby "
    # What was done, which stays done.
    "visit visited went travel travelled traveled saw seen read wrote written watched played play "
    "bought ordered tried used completed finished attended joined won lost worked lived studied "
    "published released built made created founded hope said asked told mentioned reported found "
    "ate mention cite blocked "
    # Skills, means and parts.
    "speak understand use using learn practise practice can able skill tool language "
    "consist contain include comprise feature require depend offer provide "
    # Health and habits: a second one is added to the first.
    "allergic allergy intolerant suffer diagnosed symptom take medication eat drink "
    # What names no attribute: anything may follow.
    "is are was were be been has have had do does did a an related about involve affect cause "
    "mean note fact detail tag topic keyword alias example reason".split()
)
"""Words of predicates at which a second object stands beside the first; in doubt, they are here.

Of what is missing a fact gives way that still holds; of what is here by mistake, two stay.
"""

_SMALL = frozenset("to of in at for with by on from the a an also often usually mostly".split())
_LINKING = frozenset("is are was were be been has have had do does did".split())

_NEVER_SO = any_case(
    r"\bnever\s+(?:was|were|has|had|been|did|[^\W\d_]{2,40}ed)\b"
    r"|\b(?:was|were|has|have|had|did)\s+never\b"
    r"|\b(?:not true|untrue|false|wrong|wrongly|incorrect|incorrectly|mistaken|mistakenly|mistake"
    r"|misunderstood|misunderstanding|misheard|made up|typo)\b"
)


def is_multi_valued(predicate: str) -> bool:
    """Whether a subject may have several objects of this predicate at once.

    ``likes``, ``is allergic to``, ``has visited``, and a bare ``is`` or ``has``, which name no
    attribute. ``lives in``, ``is at``, ``capital`` have one at a time.
    """
    plain = [word for word in words(predicate.replace("_", " ")) if word not in _SMALL]
    telling = [word for word in plain if word not in _LINKING]
    if not telling:
        # "is at" and "is in" name a place; "is" and "has" name nothing.
        return not set(words(predicate)) & {"at", "in", "on", "from", "by"}
    if any(word in MULTI_VALUED or stem(word) in MULTI_VALUED for word in telling):
        return True
    # One works for somebody, and with many.
    return "with" in words(predicate) and "work" in map(stem, telling)


def denies(text: str) -> bool:
    """Whether a text says that something never was so, or was said by mistake."""
    return bool(_NEVER_SO.search(text))
