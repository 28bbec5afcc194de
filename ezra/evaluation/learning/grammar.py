"""Pairs made of templates: the same ones on every machine, for the seed decides."""

from __future__ import annotations

import re
from random import Random

from tiers.errors import UsageError

from .labels import Pair, PairSet, Template, TemplateSet

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


def _filled(template: Template, source: TemplateSet, random: Random, pair_id: str) -> Pair:
    parts = (template.old, template.new, template.speaker, template.new_speaker)
    words: dict[str, str] = {}
    for slot, place in dict.fromkeys(_SLOT.findall(" ".join(parts))):
        taken = {word for key, word in words.items() if key.rstrip("23456789") == slot}
        free = [word for word in source.slots.get(slot, ()) if word not in taken]
        if not free:
            accepted = f"a slot with words: {', '.join(source.slots)}"
            raise UsageError(f"{source.name}: {template.old}", f"{{{slot}{place}}}", accepted)
        words[slot + place] = random.choice(free)
    old, new, speaker, new_speaker = (_SLOT.sub(lambda m: words[m[1] + m[2]], s) for s in parts)
    return Pair(
        id=pair_id,
        kind=template.kind,
        speaker=speaker,
        new_speaker=new_speaker,
        old=old,
        new=new,
    )
