"""What a sentence states, clause by clause: about whom, what, how surely, in whose words. Pure.

No grammar of English, but as much of one as it takes to tell who did what: where clauses begin,
what stands before their verb, and which small words turn their meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tiers.lexical import CALENDAR

from .clause import AGENT, USER, Clause, Voice
from .cutting import FRAMING, PRONOUNS, Part, bare_part, cuts_of, is_frame_verb, is_gerund, is_verb
from .describing import FREE_ROOTS, described
from .forms import VERBS, base, is_base_form, is_finite, is_past, is_unchanged
from .lexicon import (
    AUXILIARIES,
    BE,
    DETERMINERS,
    FREE,
    LIMITS,
    MODES,
    OURS,
    OWN,
    PAST_AUXILIARIES,
    POSSESSIVES,
    PREPOSITIONS,
    PRESENT_AUXILIARIES,
    REPORTING,
    ROLES,
    SUBJECTS,
    YOURS,
    Mode,
)
from .tokens import Sentence, Token

VERB_WORDS_MAX = 4
"""Words from an auxiliary to what it helps: ``has not yet moved``."""
SUBJECT_MAX = 4
"""Words of a subject that stands after its verb."""
_RELATIVE = frozenset("who which whose where whom".split())
_SMALL_VERBS = frozenset("would_like would_rather used_to have_to going_to about_to not".split())
_ANYBODY = frozenset("somebody someone nobody everybody everyone people".split())
_RECEIVING = frozenset("got get gets received receive receives borrowed borrow inherited".split())
_GOING_ON = frozenset("keep keeps kept".split())
_POINTING = frozenset("it them one ones".split())
_OF_PEOPLE = frozenset("he him his she her hers who".split())
ROLE_ROOTS = frozenset(map(base, ROLES))


@dataclass
class Context:
    """Whom pronouns may stand for, as a text goes on."""

    people: tuple[frozenset[str], ...] = ()

    @property
    def near(self) -> frozenset[str]:
        """Who and what the clauses just before speak of."""
        return frozenset().union(*self.people)

    @property
    def last(self) -> frozenset[str]:
        """Who and what the clause just before speaks of."""
        return self.people[-1] if self.people else frozenset()

    def note(self, clause: Clause) -> None:
        """Remember of whom a clause speaks."""
        heads = clause.subjects | clause.objects | clause.owners | clause.told_by
        if heads:
            self.people = (*self.people[-4:], heads)


def clauses(
    sentence: Sentence,
    voice: Voice,
    context: Context,
    names: frozenset[str],
    *,
    keeps_frames: bool = False,
) -> list[Clause]:
    """Return the clauses of a sentence, those that say nothing in particular left out.

    Args:
        sentence: One sentence.
        voice: Who says it.
        context: Of the sentences before; is carried on.
        names: What is a name also where it opens a sentence, in lower case.
        keeps_frames: Whether what only says who speaks is returned as well.
    """
    found, asked = sentence.tokens, sentence.is_question
    inverted = bool(found) and found[0].word == "should" and not asked
    conditional = inverted or _is_conditional(found) or (not asked and _is_awaited(found))
    parts = cuts_of(found)
    reader = _Reader(voice, context, names, parts[-1], inverts=asked or inverted)
    for part in parts:
        reader.read(part)
    reader.finish()
    for clause in reader.read_clauses:
        modes = set(clause.modes) - ({"ought"} if inverted else set())
        if asked and not clause.told_by.isdisjoint(voice.to):
            clause.told_by = frozenset()  # "do you think that …"
        modes |= {"ask"} if asked else set()
        modes = modes | {"if"} if conditional else modes - {"if"}
        clause.modes = frozenset(modes)
    return [
        one
        for one in reader.read_clauses
        if not one.is_empty or (keeps_frames and (one.words or one.has_verb))
    ]


def _is_awaited(found: Sequence[Token]) -> bool:
    """Whether a sentence tells what will be once something else is."""
    opens = bool(found) and found[0].word in ("when", "once", "until", "as_soon_as")
    return opens and any(one.word in ("will", "going_to", "would") for one in found)


def _is_conditional(found: Sequence[Token]) -> bool:
    """Whether a sentence sets a condition: an ``if`` that does not mean ``whether``."""
    for place, one in enumerate(found):
        if MODES.get(one.word) == "if":
            before = {token.word for token in found[max(0, place - 3) : place]}
            if one.word != "if" or not any(
                MODES.get(word) == "ask" or word in ("know", "see") for word in before
            ):
                return True
    return False


class _Reader:
    """Reads the clauses of one sentence."""

    def __init__(
        self, voice: Voice, context: Context, names: frozenset[str], final: Part, *, inverts: bool
    ) -> None:
        self._inverts = inverts
        self._final = final
        self._voice = voice
        self._context = context
        self._names = names
        self._reporter: frozenset[str] = frozenset()
        self._framed: frozenset[Mode] = frozenset()
        self.read_clauses: list[Clause] = []
        self._last: Clause | None = None
        self._lead: Clause | None = None
        self._acting: frozenset[str] = frozenset()

    def read(self, part: Part) -> None:
        """Read one clause and remember what the next one may go on from."""
        part = bare_part(part)
        if not part.tokens:
            return
        voice = self._voice
        if part.quoted and self._reporter:
            voice = Voice("text", self._reporter)
        verb = self._verb(part.tokens)
        clause = described(part.tokens, self._names)
        clause.is_result |= part.after.endswith("so")
        clause.near = self._context.near
        self._place(clause, part, verb, voice)
        if "according_to" in clause.exact:
            self._reporter = clause.objects
            if not clause.has_verb:
                return
        if not clause.has_verb and self._last is None and not self._is_final(part):
            self._lead = self._last = clause
            clause.subjects, clause.owners = clause.objects, _owners(clause)
            return
        if _starts_anew(part, clause):
            self._reporter, self._framed = frozenset(), frozenset()
        clause.told_by = self._reporter
        if self._last is not None and not clause.has_verb and part.tokens[0].word == "not":
            clause.words = {**dict.fromkeys(self._verb_of(self._last), ""), **clause.words}
        clause.plain_modes = clause.modes
        clause.may_stand_alone = part.after in (", and", ", but", ";")
        clause.modes |= self._framed
        self._frame(clause, part.tokens, verb)
        self.read_clauses.append(clause)
        self._context.note(clause)
        self._last = clause

    def finish(self) -> None:
        """Keep what stands before a clause and belongs to none: ``Maybe a boat, if I can.``"""
        if self._lead is not None:
            self._lead.modes |= self._framed
            self.read_clauses.insert(0, self._lead)

    def _is_final(self, part: Part) -> bool:
        return part.tokens[-1] is self._final.tokens[-1] if self._final.tokens else False

    def _verb(self, found: Sequence[Token]) -> int:
        """Return where the verb of a clause stands; how many tokens there are if it has none."""
        for place in range(len(found)):
            if is_verb(found, place):
                return place
        return len(found)

    def _place(self, clause: Clause, part: Part, verb: int, voice: Voice) -> None:
        """Say who stands before and who after the verb."""
        found = part.tokens
        clause.has_verb, main = verb < len(found), verb
        self._acting = frozenset()
        before = self._heads(found[:verb], voice) if clause.has_verb else _Heads()
        is_auxiliary = clause.has_verb and found[verb].word in AUXILIARIES
        if self._inverts and not before.heads and is_auxiliary:
            verb, before = self._inverted(found, verb, voice)
        relative = next((one.word for one in found[:2] if one.word in _RELATIVE), "")
        last = self._last
        own = (
            self._heads(found[1:verb], voice).heads if relative and clause.has_verb else frozenset()
        )
        if relative and last is not None and found[0].word in _RELATIVE and not own:
            clause.subjects = last.objects | last.subjects
            if last.denied:
                clause.modes |= {"maybe"}
            clause.is_linked = True
        elif before.heads or before.owners:
            if self._lead is not None and self._lead is last and part.after in ("and", "or"):
                self._take_lead(clause, self._lead)
                clause.is_plural = True
            clause.subjects |= before.heads
            clause.owners |= before.owners
            clause.is_linked = before.by_pronoun
            clause.is_plural |= before.plural
        elif self._lead is not None and clause.has_verb:
            self._take_lead(clause, self._lead)
        elif last is not None:
            clause.subjects, clause.owners = last.subjects, last.owners
            clause.is_plural = last.is_plural
            clause.frame = last.frame and not clause.has_verb
            self._go_on(clause, part, last)
        else:
            self._without_subject(clause, found, verb, voice)
        self._acting = frozenset(filter(self._is_person, clause.subjects))
        after = self._heads(found[verb + 1 :] if clause.has_verb else found, voice, every=True)
        clause.objects = after.heads
        clause.points = self._pointed_at(found[verb + 1 :])
        clause.objects_named = frozenset(filter(self._is_person, after.heads))
        clause.owned = {**clause.owned, **before.owned, **after.owned}
        self._tense(clause, found, main)
        if {one.word for one in found} & _RECEIVING and "from" in clause.exact:
            giver = next(at for at, one in enumerate(found) if one.word == "from")
            clause.by = self._heads(found[giver + 1 :], voice, every=True).heads
            clause.received = bool(clause.by)
        company = next((at for at, one in enumerate(found) if one.word == "with"), len(found))
        with_whom = self._heads(found[company + 1 : company + 5], voice, every=True).heads
        clause.company = frozenset(filter(self._is_person, with_whom))
        if clause.passive:
            by = next((at for at in range(verb, len(found)) if found[at].word == "by"), 0)
            clause.by = self._heads(found[by + 1 :], voice, every=True).heads if by else frozenset()

    def _pointed_at(self, found: Sequence[Token]) -> frozenset[str]:
        """Return the things that ``it`` or ``them`` may be, of those spoken of just before."""
        if not any(one.word in _POINTING for one in found):
            return frozenset()
        return frozenset(filter(self._is_thing, self._context.last))

    def _inverted(self, found: Sequence[Token], verb: int, voice: Voice) -> tuple[int, _Heads]:
        """Return where the subject of a question ends, and whom it names: ``has Ada rowed``."""
        end = verb + 1
        while end < len(found) and end <= verb + SUBJECT_MAX:
            if found[end].word in PREPOSITIONS or (end > verb + 1 and _is_predicate(found, end)):
                break
            end += 1
            if found[end - 1].word in SUBJECTS:
                break
        return end - 1, self._heads(found[verb + 1 : end], voice)

    def _take_lead(self, clause: Clause, lead: Clause) -> None:
        """Let a verb have the subject that stands before an aside: ``Ada, who rows, won``."""
        clause.subjects, clause.owners = lead.subjects, lead.owners
        clause.words = {**lead.words, **clause.words}
        clause.exact, clause.names = clause.exact | lead.exact, clause.names | lead.names
        clause.owned = {**lead.owned, **clause.owned}
        self._lead = None

    def _go_on(self, clause: Clause, part: Part, last: Clause) -> None:
        """Let a clause without a subject mean what the one before it means."""
        own = {one.word for one in part.tokens} & AUXILIARIES
        if part.after in ("or", "nor") and not own:
            clause.denied = clause.denied != last.denied
        if not own:
            clause.modes |= last.modes - {"ended", "agreed"}

    def _without_subject(
        self, clause: Clause, found: Sequence[Token], verb: int, voice: Voice
    ) -> None:
        """Read an order, or a fragment that answers or goes on."""
        clause.is_linked = True
        is_order = verb == 0 and found[0].word not in AUXILIARIES and _is_bare(found[0].word)
        if is_order and voice.kind in ("user", "agent"):
            clause.modes |= {"ask"} if voice.kind == "user" else {"proposal"}
        if voice.kind == "text":
            clause.subjects = self._context.near or frozenset((USER,))
        else:
            clause.subjects = voice.selves | self._context.near

    def _verb_of(self, clause: Clause) -> list[str]:
        return [word for word in clause.words if word in VERBS][:1]

    def _frame(self, clause: Clause, found: Sequence[Token], verb: int) -> None:
        """Let what a clause says of saying hold for what follows in the sentence."""
        all_words = [one.word for one in found]
        main = all_words[verb] if verb < len(all_words) else ""
        frames = [word for word in all_words if is_frame_verb(word)]
        if not frames:
            return
        reports = [word for word in frames if word in REPORTING]
        modes = frozenset(MODES[word] for word in frames if MODES.get(word) in FRAMING)
        self._framed |= modes | ({"ask"} if clause.denied and frames else set())
        if "according_to" in all_words:
            return
        if main not in frames and clause.modes & {"wish", "plan", "ought"}:
            self._framed |= {"wish"}  # who is going to ask has not asked
        unsure = clause.modes & {"maybe", "ought", "plan"}
        if main in AUXILIARIES and unsure and not reports:
            return
        speaks = bool(reports) or any(MODES.get(word) in ("ask", "proposal") for word in frames)
        if not speaks:
            return
        clause.frame = True
        who = clause.by if clause.passive and clause.by else clause.subjects
        if main in AUXILIARIES or is_frame_verb(main):
            clause.told_by = self._reporter = who

    def _tense(self, clause: Clause, found: Sequence[Token], verb: int) -> None:
        """Say when, by the forms of the verb."""
        if verb >= len(found):
            return
        main = found[verb].word
        clause.verb = _main_verb(found[verb : verb + VERB_WORDS_MAX])
        rest = [one.word for one in found[verb + 1 : verb + 6]]
        participle = next((word for word in rest if is_past(word) and word != "been"), "")
        going = any(is_gerund(word) for word in rest[:3])
        near = {main, *rest[:3]}
        clause.progressive = bool(near & BE) and going
        if participle in ("called", "named"):
            participle = ""
        is_be = main in BE or bool(near & {"be", "been", "being"}) or main in ("get", "gets", "got")
        clause.passive = is_be and bool(participle) and not clause.progressive
        perfect = main in ("have", "has") and (bool(participle) or "been" in rest)
        clause.copular = main in BE and not clause.passive and not clause.progressive
        clause.possesses = (
            main in ("has", "have", "had", "owns", "own") and not participle and "been" not in rest
        )
        clause.past = main in PAST_AUXILIARIES or (main not in AUXILIARIES and is_past(main))
        is_modal = main in AUXILIARIES and main not in PRESENT_AUXILIARIES | PAST_AUXILIARIES
        # What has been may go on.
        clause.present = not (clause.past or is_modal or perfect or is_unchanged(main))

    def _heads(self, found: Sequence[Token], voice: Voice, *, every: bool = False) -> _Heads:
        """Return whom and what a part of a clause names; what hangs on a preposition if asked."""
        named = _Heads()
        owner: frozenset[str] = frozenset()
        hanging = False
        starts_hanging = bool(found) and found[0].word in PREPOSITIONS
        if starts_hanging and not every:
            found = _after_opening(found)
        for place, token in enumerate(found):
            if token.kind != "w" or _is_determiner(found, place):
                continue
            if token.word in PREPOSITIONS:
                hanging = not every and not starts_hanging
                owner = frozenset()
                continue
            if token.word in PRONOUNS:
                who, pronoun, plural = self._who(token.word, voice)
                if (token.word in POSSESSIVES and token.word not in ("her", "its")) or (
                    token.word in ("her", "its") and token is not found[-1]
                ):
                    owner = who
                    named.by_pronoun |= pronoun
                elif not hanging:
                    named.heads |= who
                    named.by_pronoun |= pronoun
                    named.plural |= plural
                continue
            if token.owner:
                owner = frozenset((token.word,))
                continue
            self._noun(named, token, owner, hanging=hanging)
        return named

    def _noun(self, named: _Heads, token: Token, owner: frozenset[str], *, hanging: bool) -> None:
        if token.word in (USER, AGENT, "agent", "customer", "client"):
            named.heads |= {AGENT if token.word in (AGENT, "agent") else USER}
            return
        if token.word in _ANYBODY:
            named.heads |= {token.word}
            return
        if token.word in DETERMINERS or token.word in FREE or token.word in LIMITS:
            return
        key = base(token.word)
        if owner:
            named.owned[key] = owner
            named.owners |= owner
        if not hanging:
            named.heads |= {token.word if token.capital else key}

    def _who(self, word: str, voice: Voice) -> tuple[frozenset[str], bool, bool]:
        """Return whom a pronoun stands for, whether by what was said before, and of several."""
        if word in OWN:
            return voice.selves or self._context.near, not voice.selves, False
        if word in OURS:
            return voice.selves or self._context.near, not voice.selves, True
        if word in YOURS:
            return voice.to, False, True
        near = self._context.near
        if voice.kind in ("user", "agent"):
            near -= voice.selves | {USER, AGENT}
        people = frozenset(filter(self._is_person, near))
        if not people and voice.kind == "text" and word in _OF_PEOPLE:
            people = frozenset((USER,))
        if word in _OF_PEOPLE and people:
            near = people
        elif word in ("it", "its", "itself") and near - people:
            near -= people - {AGENT}
        if word in ("his", "her", "their"):
            near |= self._acting
        return near, True, word in ("they", "them", "their")

    def _is_thing(self, word: str) -> bool:
        return not self._is_person(word) and word not in CALENDAR and word not in _ANYBODY

    def _is_person(self, word: str) -> bool:
        if word in CALENDAR:
            return False
        return word in self._names or word in (USER, AGENT) or base(word) in ROLE_ROOTS


@dataclass
class _Heads:
    """Whom and what a part of a clause names."""

    heads: frozenset[str] = frozenset()
    owners: frozenset[str] = frozenset()
    by_pronoun: bool = False
    plural: bool = False

    def __post_init__(self) -> None:
        self.owned: dict[str, frozenset[str]] = {}


def _is_determiner(found: Sequence[Token], place: int) -> bool:
    """Whether ``this`` stands before its noun, and for nothing: ``this week``."""
    if found[place].word not in ("this", "that", "these", "those") or place + 1 >= len(found):
        return False
    after = found[place + 1]
    return after.kind == "w" and not (after.word in FREE or is_verb(found, place + 1))


def _starts_anew(part: Part, clause: Clause) -> bool:
    """Whether a clause says something of its own after one that reports."""
    joined = part.after in (", and", ", but", ", while", ";", "while", "but")
    named = clause.subjects & (clause.names | {AGENT, USER})
    return joined and bool(named) and not clause.is_linked and not part.quoted


def _main_verb(found: Sequence[Token]) -> str:
    """Return the first word of a verb that is no auxiliary, if it says anything in particular."""
    for place, token in enumerate(found):
        if token.word in AUXILIARIES or token.word in _SMALL_VERBS or token.kind != "w":
            continue
        if token.word in _GOING_ON and any(is_gerund(one.word) for one in found[place + 1 :]):
            continue
        if is_finite(token.word) or is_past(token.word) or is_gerund(token.word):
            is_said = base(token.word) not in FREE_ROOTS and not is_frame_verb(token.word)
            return base(token.word) if is_said else ""
    return ""


def _owners(clause: Clause) -> frozenset[str]:
    return frozenset().union(*clause.owned.values())


def _after_opening(found: Sequence[Token]) -> Sequence[Token]:
    """Return the subject that follows an opening such as ``in March`` or ``for Kyoto alone``."""
    if found[-1].word in SUBJECTS:
        return found[-1:]
    starts = [at for at in range(1, len(found)) if found[at].word in DETERMINERS or found[at].owner]
    if len(starts) > 1 or (starts and starts[0] > 1):
        return found[starts[-1] :]
    start = len(found)
    while start > 1 and found[start - 1].capital and found[start - 1].word not in CALENDAR:
        start -= 1
    return found[start:] if start < len(found) else found


def _is_predicate(found: Sequence[Token], place: int) -> bool:
    word = found[place].word
    return is_verb(found, place) or is_gerund(word) or is_past(word) or found[place].kind != "w"


def _is_bare(word: str) -> bool:
    """Whether a verb stands as one gives orders in."""
    return is_base_form(word) and not is_past(word)
