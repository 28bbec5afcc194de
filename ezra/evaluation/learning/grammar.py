"""Pairs and false statements made of templates: the seed decides, the same on every machine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

from tiers.errors import UsageError

from .labels import Claim, HostileSet, Line, Pair, PairSet, Template, TemplateSet

_SLOT = re.compile(r"\{([a-z]+)([2-9]?)\}")
_TRIES = 1_000


def filled(source: TemplateSet) -> PairSet:
    """Return each template filled as often as the set says, every time with other words.

    Raises:
        UsageError: A template has a slot that nothing fills, or too few words to differ.
    """
    random = Random(source.seed)  # noqa: S311 - it draws words
    made: list[Pair] = []
    for number, template in enumerate(source.templates, 1):
        found: dict[tuple[str, str], Pair] = {}
        for _ in range(_TRIES):
            if len(found) == source.fillings:
                break
            pair = _filled(template, source, random, f"{number:02d}-{len(found) + 1}")
            found.setdefault((pair.old, pair.new), pair)
        else:
            accepted = f"slots with words for {source.fillings} different pairs"
            raise UsageError(f"{source.name}: templates.{number}", template.old, accepted)
        made += found.values()
    return PairSet(name=source.name, about=source.about, pairs=tuple(made))


class FilledClaim(NamedTuple):
    """A false statement among the turns that it is held against."""

    id: str
    kind: str
    turns: tuple[Line, ...]
    text: str


ASIDES = 3
"""Turns of other talk around those that a false statement twists."""


def claims(source: HostileSet) -> Iterator[FilledClaim]:
    """Yield each family filled as often as the set says, its templates in turn, among asides.

    Raises:
        UsageError: A template has a slot that nothing fills.
    """
    for family in source.families:
        for number in range(source.fillings):
            random = Random(f"{source.seed} {family.kind} {number}")  # noqa: S311 - it draws words
            claim = family.claims[number % len(family.claims)]
            yield _claim(claim, source, random, f"{family.kind} {number + 1}", family.kind)


def _claim(
    claim: Claim, source: HostileSet, random: Random, claim_id: str, kind: str
) -> FilledClaim:
    parts = [part for turn in claim.turns for part in (turn.speaker, turn.text, turn.answer)]
    words = _drawn([*parts, claim.text], source.slots, random, source.name)
    said = [_line(turn, words) for turn in claim.turns]
    around = []
    for aside in random.sample(source.asides, ASIDES):
        others = _drawn([aside.text, aside.answer], source.slots, random, source.name)
        speaker = random.choice(said).speaker
        around.append(_line(aside, others).model_copy(update={"speaker": speaker}))
    at = random.randrange(ASIDES + 1)
    turns = (*around[:at], *said, *around[at:])
    return FilledClaim(claim_id, kind, turns, _SLOT.sub(lambda m: words[m[0]], claim.text))


def _line(line: Line, words: Mapping[str, str]) -> Line:
    filled = {
        name: _SLOT.sub(lambda m: words.get(m[0], m[0]), getattr(line, name))
        for name in ("speaker", "text", "answer")
    }
    return Line(**filled)


def _drawn(
    parts: Sequence[str], slots: Mapping[str, Sequence[str]], random: Random, name: str
) -> dict[str, str]:
    """Return words for the slots of some texts, by slot as written; alike slots differ."""
    words: dict[str, str] = {}
    taken: dict[str, set[str]] = {}
    for slot, place in dict.fromkeys(_SLOT.findall(" ".join(parts))):
        free = [word for word in slots.get(slot, ()) if word not in taken.get(slot, ())]
        if not free:
            accepted = f"a slot with words: {', '.join(slots)}"
            raise UsageError(f"{name}: {parts[-1]}", f"{{{slot}{place}}}", accepted)
        word = random.choice(free)
        taken.setdefault(slot, set()).add(word)
        words[f"{{{slot}{place}}}"] = word
    return words


def _filled(template: Template, source: TemplateSet, random: Random, pair_id: str) -> Pair:
    texts = (template.old, template.new, template.speaker, template.new_speaker)
    words = _drawn(texts, source.slots, random, source.name)
    old, new, speaker, new_speaker = (_SLOT.sub(lambda m: words[m[0]], one) for one in texts)
    return Pair(
        id=pair_id,
        kind=template.kind,
        speaker=speaker,
        new_speaker=new_speaker,
        old=old,
        new=new,
    )
