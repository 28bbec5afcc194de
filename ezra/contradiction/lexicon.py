"""What the rules know of words: denials, doubts, opposites, values that exclude each other.

English, with the measuring verbs of a few other languages; numbers and units need no language.
Content words stand in their base form (``base``), function words as they are said. Precision
comes first: a word that may be meant otherwise is in ``OPEN``, and its claim contradicts nothing.
"""

from __future__ import annotations

import re

from tiers.lexical import MONTHS, WEEKDAYS, stem


def _set(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


ARTICLES = _set("a an the")
INDEFINITE = _set("a an another any one each")
"""A subject that begins so is some one of many: two of them may differ."""

UNCLEAR = _set("it he she they this that these those him her them")
"""A subject that is only one of these may be anything."""

SPEAKER = _set("i me my mine myself")
"""Words that mean whoever speaks: said by two, they mean two."""

PRONOUNS = _set("i we you he she it they who")
POSSESSIVES = _set("my our your his her its their")
OF_ALL = _set("the all both every") | POSSESSIVES
"""A subject that begins so is all of its kind that is meant."""

WEATHER = _set("rain raining snow snowing hail sunny cloudy windy dry wet")

COPULAS = _set("is are was were am be been est sont ist sind es son è")
LINKING = COPULAS | _set("remain stay become get keep seem look feel stand")
MODALS = _set("will would shall should can must need ought")
AUXILIARIES = COPULAS | MODALS | _set("do does did have has had")
FINITE = (COPULAS | MODALS) - {"be", "been"}
PASTS = _set("was were had did been")

NEGATORS = _set("not never no")
SUBORDINATORS = _set(
    "who whom whose which that where why how because since although though whereas than"
)
"""After one of these a denial is about something else than the claim."""

CONDITIONS = _set("if when whenever while unless once until except assuming provided otherwise")

OPEN = _set(
    "may might could perhaps maybe possibly sometimes occasionally often partly partially some few",
    "several many most half either or nor neither none but because since although though whereas",
    "however hardly barely scarcely rarely seldom almost nearly virtually formerly",
    "say said says claim claimed think thought believe believed report reported reportedly",
    "allegedly according tell told ask asked hear heard doubt doubted fear hope hoped wonder guess",
    "rumour rumoured suggest suggested assume assumed suppose supposed pretend imagine dream",
    "example instance part portion majority minority",
)
"""Words that leave open whether, when or by whom it is said."""

NOUNS_TOO = _set("report claim hope fear doubt guess dream")
NAMING = ARTICLES | POSSESSIVES
"""What makes one of these a noun."""

ADDITIVE = _set("also too additionally another other else again both well")
"""Words that add to what was said: a value beside them excludes no other."""

ASSERTIVE = _set(
    "now currently presently still already just definitely certainly actually indeed clearly",
    "obviously simply surely please",
)
"""Adverbs without which a claim says the same."""

LIMITING = _set("just simply")
"""Of these, "not" denies the limit alone: what isn't just loud is loud."""

DEGREES = _set(
    "very quite really extremely fully completely entirely totally absolutely always all every",
    "each particularly especially exactly so too",
)
"""Words without which a claim says nearly the same, unless they are what is denied."""

QUESTION_STARTS = _set(
    "who whom whose what which where why how is are was were does did has can could should would",
    "shall am will",
)
YES_NO = _set("yes no")

VERBS_OF_NO = _set("have has had see find give leave receive")
"""After one of these, or a common verb, ``no`` denies the claim, as it does at its beginning."""

LEADS = _set("on at to in for from by with of auf um am im à le a en el")
"""Between a verb and what it says of its subject."""

SETTLED = _set(
    "set fixed limited capped rated priced scheduled planned due located painted coloured called",
    "valued switched turned kept left held marked confirmed expected born worth",
)
"""Participles that say that there is one value."""

STARTING = _set("start begin end finish open close")
MEASURING = _set(
    "last cost weigh measure need require hold contain total average take have equal use consume",
    "kostet kosten dauert dauern wiegt wiegen hält halten misst coûte coûtent dure durent pèse",
    "pèsent cuesta cuestan dura duran pesa pesan costa costano durano pesano",
)
"""Verbs that say a number of what they are about, of one thing or of a whole kind."""

MEASURED = _set("lasted weighed measured needed required held contained averaged took had used")
"""The same of one thing, as it was."""

ONE_VALUED = (
    LINKING
    | STARTING
    | MEASURING
    | MEASURED
    | _set("expire launch arrive depart leave run reach travel land")
)
ONE_VALUED_OF_WORDS = LINKING | _set("start begin end finish expire launch")

NUMBERED = _set(
    "lap turn stage page day week version number gear position place row room gate platform level",
    "phase step round chapter line sector terminal port channel season floor seat lane release box",
)
"""Nouns that a number after them names."""

COMMON_VERBS = ONE_VALUED | _set(
    "pit stop race drive box push save attack defend go come meet work live play train eat drink",
    "sleep travel fly test deploy release pay send write read speak ride swim fight change make do",
    "serve ship store return call check apply build compile turn walk wait like prefer want love",
    "hate plan support allow accept",
)
"""Verbs that the rules know as such, so that what follows belongs to no subject."""

VARIANTS = {
    "tires": "tyre", "tire": "tyre", "color": "colour", "colors": "colour", "gray": "grey",
    "canceled": "cancelled", "meter": "metre", "meters": "metre", "center": "centre",
    "favorite": "favourite", "does": "do", "has": "have", "goes": "go", "'s": "is",
    "mon": "monday", "tue": "tuesday", "thu": "thursday", "fri": "friday", "inters": "intermediate",
    "everybody": "everyone", "noone": "nobody", "shut": "closed",
}  # fmt: skip
"""Spellings of one word, and forms that no rule of endings finds."""

PHRASES: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("no", "longer"), ("never",)),
    (("not", "yet"), ("not",)),
    (("any", "more"), ()),
    (("any", "longer"), ()),
    (("anymore",), ()),
    (("no", "one"), ("nobody",)),
    (("with", "no"), ("without",)),
    (("called", "off"), ("cancelled",)),
    (("is", "going", "to"), ("will",)),
    (("are", "going", "to"), ("will",)),
    (("am", "going", "to"), ("will",)),
    (("take", "place"), ("is",)),
    (("used", "to"), ("formerly",)),
    (("in", "case"), ("if",)),
    (("as", "long", "as"), ("if",)),
    (("provided", "that"), ("if",)),
    (("of", "course"), ()),
    (("it", "is", "true", "that"), ()),
    (("it", "is", "the", "case", "that"), ()),
)
"""Several words that stand for others, looked for in this order."""

DENYING_PREFIXES = (
    ("it", "is", "not", "true", "that"),
    ("it", "is", "not", "the", "case", "that"),
    ("it", "is", "false", "that"),
    ("it", "is", "wrong", "that"),
)
"""What denies a whole claim."""

CONTRACTIONS = (
    (r"\b(can)not\b", r"\1 not"),
    (r"\b(can)'?t\b", r"\1 not"),
    (r"\b(wo)n't\b", "will not"),
    (r"\b(sha)n't\b", "shall not"),
    (r"\bain't\b", "is not"),
    (r"\b(do|does|did|is|are|was|were|has|have|had|would|should|could|must|need)n'?t\b",
     r"\1 not"),
    (r"\b(we|you|they)'re\b", r"\1 are"),
    (r"\b(i|we|you|they)'ve\b", r"\1 have"),
    (r"\b(i|we|you|he|she|it|they)'ll\b", r"\1 will"),
    (r"\bi'm\b", "i am"),
    (r"\b(it|that|there|here|he|she)'s\b", r"\1 is"),
)  # fmt: skip
"""Short forms and their long ones; ``words`` would make ``were`` of ``we're``."""

PAST_FORMS = dict(
    pair.split(":")
    for pair in (
        "be:was begin:began break:broke bring:brought build:built buy:bought catch:caught "
        "choose:chose come:came cost:cost cut:cut do:did drink:drank drive:drove eat:ate "
        "fall:fell feel:felt find:found fly:flew get:got give:gave go:went grow:grew have:had "
        "hear:heard hit:hit hold:held keep:kept know:knew lead:led leave:left let:let lose:lost "
        "make:made mean:meant meet:met pay:paid put:put read:read ride:rode rise:rose run:ran "
        "say:said see:saw sell:sold send:sent set:set show:showed shut:shut sit:sat sleep:slept "
        "speak:spoke spend:spent stand:stood swim:swam take:took teach:taught tell:told "
        "think:thought throw:threw understand:understood wear:wore win:won write:wrote"
    ).split()
)
"""Verbs whose past no ending makes."""

COMPARATIVES = _set(
    "faster slower higher lower bigger smaller hotter colder warmer cooler better worse earlier",
    "later longer shorter older younger newer stronger weaker cheaper heavier lighter taller",
    "harder softer easier larger louder quieter richer poorer safer deeper wider narrower closer",
    "quicker thicker thinner brighter darker",
)

FUNCTION_WORDS = (
    ARTICLES
    | INDEFINITE
    | UNCLEAR
    | SPEAKER
    | PRONOUNS
    | POSSESSIVES
    | AUXILIARIES
    | LINKING
    | NEGATORS
    | SUBORDINATORS
    | CONDITIONS
    | OPEN
    | ADDITIVE
    | ASSERTIVE
    | DEGREES
    | QUESTION_STARTS
    | YES_NO
    | LEADS
    | SETTLED
    | _set("us as his less ours yours there nothing perhaps besides towards news")
)
"""Words that keep their form: an ending taken off would make another word of them."""


def base(word: str) -> str:
    """Return a content word without the ending of a plural or of the third person."""
    if word.endswith(("ches", "shes", "sses", "xes", "zzes")):
        return word[:-2]
    return stem(word)


def normal(word: str) -> str:
    """Return the form in which a word is compared and looked up."""
    word = VARIANTS.get(word, word)
    return word if word in FUNCTION_WORDS else base(word)


def past(verb: str) -> str:
    """Return the simple past of a verb in base form."""
    if verb in PAST_FORMS:
        return PAST_FORMS[verb]
    if verb.endswith("e"):
        return f"{verb}d"
    if verb.endswith("y") and verb[-2:-1] not in set("aeiou"):
        return f"{verb[:-1]}ied"
    short = re.fullmatch(r"[^aeiou]*[aeiou][bdgklmnprt]", verb)
    return f"{verb}{verb[-1]}ed" if short else f"{verb}ed"


def _pairs(pairs: str) -> frozenset[frozenset[str]]:
    return frozenset(frozenset(map(normal, pair.split(":"))) for pair in pairs.split())


_OPPOSITES = (
    "enabled:disabled open:closed on:off true:false valid:invalid active:inactive alive:dead "
    "present:absent possible:impossible available:unavailable legal:illegal allowed:forbidden "
    "permitted:prohibited public:private full:empty complete:incomplete connected:disconnected "
    "online:offline up:down safe:unsafe right:wrong correct:incorrect locked:unlocked "
    "visible:hidden mandatory:optional required:optional running:stopped winning:losing "
    "even:odd guilty:innocent married:single included:excluded accepted:rejected "
    "approved:rejected approved:denied passed:failed encrypted:unencrypted stable:unstable "
    "cancelled:confirmed cancelled:scheduled finished:unfinished ready:unready "
    "stationary:moving permanent:temporary broken:intact synchronous:asynchronous "
    "vulnerable:immune solvent:insolvent able:unable"
)
_DEGREES_OF = (
    "hot:cold warm:cold hot:cool high:low fast:slow quick:slow big:small large:small long:short "
    "old:new old:young strong:weak heavy:light hard:soft hard:easy difficult:easy good:bad "
    "cheap:expensive wet:dry rich:poor early:late tall:short wide:narrow deep:shallow "
    "thick:thin bright:dark loud:quiet clean:dirty busy:free happy:sad happy:unhappy near:far "
    "ahead:behind left:right positive:negative optimistic:pessimistic favourable:unfavourable "
    "likely:unlikely reliable:unreliable aggressive:conservative popular:unpopular "
    "efficient:inefficient calm:nervous simple:complex rising:falling increasing:decreasing "
    "improving:worsening growing:shrinking inside:outside upstairs:downstairs better:worse "
    "faster:slower higher:lower bigger:smaller larger:smaller hotter:colder warmer:colder "
    "warmer:cooler earlier:later longer:shorter older:younger older:newer stronger:weaker "
    "heavier:lighter taller:shorter harder:softer harder:easier louder:quieter richer:poorer "
    "deeper:shallower wider:narrower brighter:darker thicker:thinner closer:farther "
    "quicker:slower dangerous:safe hostile:friendly necessary:unnecessary best:worst "
    "fastest:slowest highest:lowest biggest:smallest oldest:youngest strongest:weakest "
    "north:south east:west maximum:minimum first:last identical:different same:different"
)
_VERBS = (
    "increase:decrease increase:lower increase:reduce raise:reduce rise:drop allow:forbid "
    "permit:prohibit accept:reject support:oppose love:hate like:dislike like:hate "
    "include:exclude agree:disagree pass:fail succeed:fail rise:fall improve:worsen win:lose "
    "gain:lose trust:distrust strengthen:weaken accelerate:decelerate encourage:discourage "
    "approve:disapprove approve:reject help:hinder speed:slow raise:lower expand:shrink "
    "attack:defend overestimate:underestimate"
)
_PREPOSITIONS = "before:after above:below with:without inside:outside over:under for:against"
_QUANTIFIERS = "everyone:nobody everything:nothing everywhere:nowhere always:never"
_AMOUNTS = "more:less more:fewer much:little"


COMPLEMENTS = _pairs(_OPPOSITES)
"""Opposites of which one holds where the other does not: denying one says the other."""

CONTRARIES = _pairs(_DEGREES_OF)
"""Opposites that cannot both hold, and may both fail to."""

OPPOSED_VERBS = _pairs(_VERBS)
OPPOSED_PREPOSITIONS = _pairs(_PREPOSITIONS)
OPPOSED_QUANTIFIERS = _pairs(_QUANTIFIERS)
OPPOSED_AMOUNTS = _pairs(_AMOUNTS)

MONTH_OF_MAY = "monthofmay"
"""How ``May`` is told from ``may``."""

EXCLUSIVE = tuple(
    frozenset(map(normal, group))
    for group in (
        _set("soft medium hard intermediate wet"),
        _set("red blue green yellow black white orange purple pink brown grey silver gold"),
        frozenset(WEEKDAYS),
        frozenset(MONTHS) - {"may"} | {MONTH_OF_MAY},
        _set("spring summer autumn winter"),
        _set("small medium large"),
        _set("low medium high critical"),
        _set("low moderate high"),
        _set("first second third fourth fifth sixth seventh eighth ninth tenth last"),
        _set("single married divorced widowed"),
        _set("north south east west"),
        _set("beginner intermediate advanced"),
        _set("daily weekly monthly quarterly yearly hourly"),
        _set("pending approved rejected"),
        _set("pending running succeeded failed cancelled"),
        _set("draft published archived"),
        _set("todo done"),
        _set("yes no"),
        _set("morning afternoon evening night"),
        _set("vegetarian carnivore"),
        _set("today tomorrow yesterday"),
    )
)
"""Values of which a thing has one at a time."""
