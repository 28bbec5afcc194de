"""Which playbook a reply followed, and what became of it. Pure.

A context shows several playbooks; what the user says next is about the reply, so it counts for the
one that the reply did, and for none where nobody could tell. Of a playbook the reply has to do most
of the steps, in its own sentences and calls of tools; that it shares a topic with one is nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tiers.lexical import sentences, words
from tiers.ports import Vector
from tiers.records import Rule, Turn

from ..claims.forms import base
from .instructions import words_of
from .likeness import Reading, read
from .outcomes import Outcome, corrects, reading
from .regexes import any_case

STEP_SHARE = 0.6
"""Of a step's content words, that one sentence or call has which does the step."""

STEP_COSINE = 0.75
"""From here on a sentence does a step in other words, if it has one of the step's own. MiniLM puts
what only speaks of the same things at 0.71 at most ("Drain the fuel tank", "Fill the fuel tank")
and most ways of doing a step between 0.85 and 0.91."""

RULE_SHARE = 0.5
"""Of a playbook's steps, that a reply does which follows it; two at least, where there are two."""

CLEAR_LEAD = 0.2
"""What the playbook of a reply is ahead of the next one by, of its steps or of its trigger."""

TURNS_BACK = 3
"""How far back the reply may be that a user speaks of."""

ASIDE_WORDS_MAX = 8
"""A turn of so few words that asks nothing may stand between a reply and what is said of it."""

REPLY_UNITS_MAX = 200
OUTPUT_CHARS_READ = 400

_COUNTING = frozenset("first second third next finally last".split())
_PARTS = any_case(r"[,;]\s|\bthen\b")
_UNDONE = any_case(
    r"\b(?:not|never|neither|nor|cannot|without|no need|avoid\w*|refrain\w*|instead of|rather than"
    r"|wrong|mistake|skip\w*)\b|n['\u2019]t\b"
)
"""Words with which a sentence tells what is not to be done, however often it says no."""
_NOTHING = r"(?:[\"']?(?:0|none|null|false)\b|[\"']{2}|\[\]|\{\})"
_TOOL_FAILED = any_case(
    rf"[a-z]{{0,30}}(?:error|exception|failure|fatal)[\"']?\s{{0,2}}[:=](?!\s{{0,2}}{_NOTHING})"
    r"|(?:an )?(?:error|exception) (?:occurred|while|calling|executing)\b"
    r"|traceback \(|failed\b|timed out\b|time-?out\b|permission denied\b"
    r"|(?:http[\s/.\d]{0,8})?[45]\d\d (?:bad|unauthori[sz]ed|forbidden|not|method|conflict|gone|"
    r"too|internal|service|gateway)\b|(?:success|ok)[\"']?\s{0,2}[:=]\s{0,2}false\b"
)
"""How the output of a tool that failed begins."""


@dataclass(frozen=True)
class Followed:
    """How far a reply followed a playbook.

    Attributes:
        rule: The playbook.
        done: Share of its steps that the reply did, 0 to 1.
        asked: Share of its trigger's words that were asked for, 0 to 1.
    """

    rule: Rule
    done: float
    asked: float


@dataclass(frozen=True)
class Replies:
    """Replies, and the playbooks that they may have followed.

    Attributes:
        rules: The playbooks that were in their contexts, by id.
        vectors: Of sentences and steps, as far as an embedder made them, unit length.
    """

    rules: Mapping[str, Rule] = field(default_factory=dict)
    vectors: Mapping[str, Vector] = field(default_factory=dict)

    def followed(self, turn: Turn) -> Rule | None:
        """Return the playbook that a turn's reply followed; ``None`` for none, or when in doubt."""
        shown = [self.rules[one] for one in dict.fromkeys(turn.rules) if one in self.rules]
        said = units(turn)
        found = [one for one in (self._followed(rule, turn, said) for rule in shown) if one]
        found.sort(key=lambda one: (-one.done, -one.asked, one.rule.id))
        if len(found) > 1 and not _is_ahead(found[0], found[1]):
            return None
        return found[0].rule if found else None

    def _followed(self, rule: Rule, turn: Turn, said: Sequence[str]) -> Followed | None:
        steps = steps_at(rule, turn)
        did = sum(any(self._does(step, one) for one in said) for step in steps)
        if did < min(len(steps), 2) or did < RULE_SHARE * len(steps):
            return None
        trigger, asked = read(rule.trigger).content, read(turn.input).content
        share = len(trigger & asked) / len(trigger) if trigger else 0.0
        return Followed(rule, did / len(steps), share)

    def _does(self, step: str, said: str) -> bool:
        """Whether a sentence or call does a step, with its numbers and no denial of it.

        By words it needs what is to be done, the step's first word: a tank is drained or filled.
        """
        wanted, reply = read(step), read(said)
        if not wanted.numbers <= reply.numbers or wanted.is_negated != reply.is_negated:
            return False
        if not wanted.is_negated and _UNDONE.search(said) and not _UNDONE.search(step):
            return False
        needed, had = _roots(wanted), frozenset(_roots(reply))
        common = sum(word in had for word in needed)
        if not common:
            return False
        if needed[0] in had and common >= STEP_SHARE * len(needed):
            return True
        one, two = self.vectors.get(step), self.vectors.get(said)
        if one is None or two is None:
            return False
        return sum(a * b for a, b in zip(one, two, strict=True)) >= STEP_COSINE


def in_question(turns: Sequence[Turn], new: Iterable[Turn]) -> list[Turn]:
    """Return the turns whose replies the new ones may say something about, each once.

    Args:
        turns: All turns that are known, in order; the new ones among them.
        new: Those that nobody has read yet.
    """
    known = {one.seq: one for one in turns}
    found: dict[str, Turn] = {}
    for turn in new:
        before = _before(known, turn)
        said = words_of(turn.input)
        if reading(said) is None and not corrects(said):
            before = [one for one in before[:1] if has_failed(one)]
        found |= {one.id: one for one in before if one.rules}
    return list(found.values())


def spoken_of(turns: Sequence[Turn], turn: Turn, replies: Replies) -> tuple[Rule, Turn] | None:
    """Return the playbook that a turn may tell the outcome of, and the turn that followed it.

    That of the last reply before it which followed one; a reply of which the next turn has told
    that its tools failed has its outcome.
    """
    for place, one in enumerate(_before({one.seq: one for one in turns}, turn)):
        rule = replies.followed(one)
        if rule is not None:
            return None if place and has_failed(one) else (rule, one)
    return None


def outcome_of(turns: Sequence[Turn], turn: Turn, replies: Replies) -> tuple[Rule, Outcome] | None:
    """Return which playbook a turn tells the outcome of, and which; ``None`` for none.

    The user's words count. Where they say nothing clear, that the reply's own tools failed does,
    in the turn that comes next. So a reply has one outcome, and a turn tells one.
    """
    found = spoken_of(turns, turn, replies)
    if found is None:
        return None
    rule, reply = found
    said = reading(words_of(turn.input))
    if said is None and reply.seq == turn.seq - 1 and has_failed(reply):
        said = "rejected"
    return None if said is None else (rule, said)


def units(turn: Turn) -> list[str]:
    """Return what a reply did, piece by piece: its sentences, their parts, its calls of tools."""
    whole = [one for line in turn.response.splitlines() for one in sentences(line)]
    said = [part for one in whole for part in (one, *_PARTS.split(one)) if part]
    called = [
        f"{one.tool.replace('_', ' ')}: {one.output[:OUTPUT_CHARS_READ]}"
        for one in turn.tool_outputs
    ]
    return list(dict.fromkeys([*said, *called]))[:REPLY_UNITS_MAX]


def steps_at(rule: Rule, turn: Turn) -> tuple[str, ...]:
    """Return the steps that a playbook had when a turn was answered."""
    former = (one.steps for one in rule.former if turn.recorded_at < one.until)
    return next(former, rule.steps)


def has_failed(turn: Turn) -> bool:
    """Whether a tool that a reply called failed, and no later call of it did not."""
    last = {one.tool: one.output for one in turn.tool_outputs}
    return any(_TOOL_FAILED.match(output.lstrip(" \t\n{[\"'")[:200]) for output in last.values())


def _before(known: Mapping[int, Turn], turn: Turn) -> list[Turn]:
    """Return the turns whose replies a turn may speak of, the last first.

    Of the same user and without a gap, no further back than what asks, or is long, or has itself
    told how the reply before it did.
    """
    found: list[Turn] = []
    for back in range(1, TURNS_BACK + 1):
        one = known.get(turn.seq - back)
        if one is None or one.user_id != turn.user_id:
            break
        found.append(one)
        if not _is_aside(one):
            break
    return found


def _is_aside(turn: Turn) -> bool:
    said = words_of(turn.input)
    is_short = len(words(said)) <= ASIDE_WORDS_MAX and "?" not in said
    return is_short and reading(said) is None and not turn.tool_outputs


def _roots(parsed: Reading) -> list[str]:
    """Return the content words of a text in any form, in order, without what only counts steps."""
    words = (word for word in parsed.order if word in parsed.content and word not in _COUNTING)
    return list(dict.fromkeys(base(word) for word in words))


def _is_ahead(first: Followed, second: Followed) -> bool:
    if first.done - second.done >= CLEAR_LEAD:
        return True
    return first.done >= second.done and first.asked - second.asked >= CLEAR_LEAD
