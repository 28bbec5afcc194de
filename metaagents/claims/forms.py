"""Forms of words: what they have in common, which of them are verbs, and which say the same. Pure.

English. A word that is in no list here stands for itself, in whatever form.
"""

from __future__ import annotations

from functools import lru_cache

_ENDINGS = ("ingly", "edly", "ing", "ed", "ly", "ic", "es", "s", "e", "y")
_ROOT_CHARS_MIN = 3
_ROOTS_REMEMBERED = 20_000


@lru_cache(maxsize=_ROOTS_REMEMBERED)
def root(word: str) -> str:
    """Return what a word has in common with its other forms; cruder than ``tiers.lexical.stem``.

    ``moved``, ``moving``, ``move`` and ``moves`` are one. Only for telling whether a word was said
    in any form: it joins a few words that differ.
    """
    for ending in _ENDINGS:
        kept = word.removesuffix(ending)
        if kept != word and len(kept) >= _ROOT_CHARS_MIN:
            word = kept
            break
    if len(word) > _ROOT_CHARS_MIN and word[-1] == word[-2] and word[-1] not in "aeiou":
        word = word[:-1]
    return word.removesuffix("i") if len(word) > _ROOT_CHARS_MIN else word


_IRREGULAR = (
    "be was were been;become became;begin began begun;bite bit bitten;break broke broken;bring "
    "brought;build built;buy bought;catch caught;choose chose chosen;come came;cost cost;cut "
    "cut;deal dealt;draw drew drawn;drink drank drunk;drive drove driven;eat ate eaten;fall fell "
    "fallen;feed fed;feel felt;fight fought;find found;fly flew flown;forget forgot forgotten;get "
    "got gotten;give gave given;go went gone;grow grew grown;hang hung;have had;hear heard;hide "
    "hid hidden;hit hit;hold held;hurt hurt;keep kept;know knew known;lay laid;lead led;leave "
    "left;lend lent;let let;lose lost;make made;mean meant;meet met;pay paid;put put;read "
    "read;ride rode ridden;ring rang rung;rise rose risen;run ran;say said;see saw seen;sell "
    "sold;send sent;set set;shoot shot;show shown;shut shut;sing sang sung;sit sat;sleep "
    "slept;speak spoke spoken;spend spent;stand stood;steal stole stolen;swim swam swum;take took "
    "taken;teach taught;tell told;think thought;throw threw thrown;understand understood;wake woke "
    "woken;wear wore worn;win won;write wrote written;rewrite rewrote "
    "rewritten;rebuild rebuilt;beat beat beaten;quit quit;do did done;withdraw withdrew withdrawn;"
    "dream dreamt;learn learnt;burn burnt;spell spelt;mow mown;"
    "forbid forbade forbidden;seek sought;breed bred;weave wove woven;undergo "
    "underwent undergone;oversee oversaw overseen;overcome overcame;bleed bled;freeze froze "
    "frozen;swear swore sworn;shrink shrank shrunk;withhold withheld"
)
IRREGULAR = {line.split()[0]: tuple(line.split()[1:]) for line in _IRREGULAR.split(";")}
"""The other forms of verbs that no ending makes, by the base form: past first, participle last."""
PAST_OF = {form: verb for verb, forms in IRREGULAR.items() for form in forms if form != verb}
"""The base form of each irregular past and participle that differs from it."""
_SHORT_FORMS = {
    "used": "use", "uses": "use", "using": "use", "owed": "owe", "owes": "owe", "owing": "owe",
    "going": "go", "doing": "do", "lying": "lie", "dying": "die", "died": "die", "dies": "die",
    "tied": "tie", "tying": "tie", "aged": "age", "iced": "ice",
}  # fmt: skip
"""The base forms of verbs of which an ending leaves too little."""
PAST_FORM_OF = {forms[-1]: forms[0] for forms in IRREGULAR.values()}
"""The past of each irregular verb by its participle: of ``written`` ``wrote``."""
_PLURALS = {
    "children": "child", "people": "person", "men": "man", "women": "woman", "wives": "wife",
    "goes": "go", "does": "do", "feet": "foot", "teeth": "tooth", "lives": "live", "mice": "mouse",
    "allergies": "allergy",
}  # fmt: skip


@lru_cache(maxsize=_ROOTS_REMEMBERED)
def base(word: str) -> str:
    """Return the root of a word's base form: of ``bought`` that of ``buy``."""
    word = _SHORT_FORMS.get(word, word)
    if len(word) > len("dies") and word.endswith(("ies", "ied")):
        word = f"{word[:-3]}y"
    plain = root(PAST_OF.get(word, _PLURALS.get(word, word)))
    # "plays" and "play", of which the one has lost its "s" and the other its "y".
    return plain[:-1] if plain.endswith("y") and len(plain) > _ROOT_CHARS_MIN else plain


_UNCHANGED = frozenset("cost cut hit hurt let put read set shut beat quit".split())

_VERBS = (
    "accept add adopt advise affect agree allow announce answer apply approve arrive ask assist "
    "attend avoid bake believe belong book borrow call cancel cause change charge check "
    "claim clean close complain complete confirm consider contact contain continue cook cover "
    "crash cross dance decide decline deduct delete deliver die apply forget pretend imagine "
    "deny describe develop disagree discuss "
    "dislike divorce doubt draft drop enjoy expect expire explain fail feel file fill finish fix "
    "follow forward found gain guess happen hate help hire hope ignore improve include increase "
    "inform insist install intend invest invite join jump kill know lack learn leak lie like list "
    "listen live look love manage march marry mention migrate miss move need note notice offer "
    "open order own pack paint park pass perform pick plan owe oppose hand paint pour prefer play "
    "post practise practice prefer prepare prescribe print produce promise propose prove provide "
    "publish pull push quit raise rain reach receive recommend record reduce refuse rehearse "
    "reject relax relocate remain remember remind remove renew rent repair repeat replace reply "
    "report request require reserve reside rest return review roast sail save score search seem "
    "serve share sign skip smoke sound start state stay stop store study suffer suggest support "
    "suppose switch talk thank transfer travel treat trust try turn update upload use visit wait "
    "care carry walk want wash watch weigh wish wonder work worry "
    "declare examine extend argue assume bother breathe celebrate compare complicate "
    "concentrate decorate deserve disappear earn employ escape exist explore gather identify "
    "inspect involve knit locate maintain occur operate organise organize participate permit "
    "postpone depend ship refund qualify realise realize regret respond retire retrain submit "
    "succeed teach translate "
    "unpack vary volunteer vomit warn "
    "assemble calculate circulate classify compile comprise conduct connect consist construct "
    "contribute convert coordinate crave cultivate curate debug devote disable dispatch "
    "distribute edit embed enable encrypt enforce enter establish evaluate exceed exclude execute "
    "fetch generate govern handle implement impose indicate inhabit inherit juggle justify lease "
    "measure moderate negotiate obtain occupy omit originate outsource peel persist possess "
    "preside prevent procure prohibit promote protect prune recruit recycle redirect refer "
    "regulate reimburse reject rely render replicate resemble resolve restart restrict retain "
    "retry revise select specialise specialize specify squeeze stitch subscribe substitute "
    "supervise surround sustain swallow tend tolerate trim truncate unlock validate verify wipe "
    "worship "
    "archive assign attach broadcast bury compress configure cure damage delay delegate demolish "
    "donate elect evict export finance flood fund hatch hospitalise hospitalize hunt import infect "
    "invoice lecture lock log mentor merge monitor notify proofread release remodel rent reset "
    "resume revoke rob schedule scrape shave sneeze sponsor steer stream sublet subtitle sue "
    "switch tattoo telecommute transcribe transport triage unsubscribe vaccinate weld "
    "suspect reckon assume fear persist nap mark score swap revert bore lengthen shorten notify "
    "trim opt"
)
_BASE_FORMS = frozenset((*_VERBS.split(), *IRREGULAR))
VERBS = frozenset(map(base, _BASE_FORMS))
"""Roots of verbs: as many as it takes to see where a clause begins and who is its subject."""
_FINITE = frozenset(PAST_OF).union(
    *(
        (
            word,
            f"{word}s",
            f"{word}es",
            f"{word}d",
            f"{word}ed",
            f"{word[:-1]}ies",
            f"{word[:-1]}ied",
        )
        for word in _BASE_FORMS
    )
)


_SAME = (
    "move relocate resettle;begin start commence;buy purchase acquire;child kid;mother mum "
    "mom;father dad;doctor physician gp;job position occupation profession;flat apartment;house "
    "home;finish complete;stop quit cease;leave quit depart;help assist aid;dog puppy;bike "
    "bicycle;car automobile;trip journey;travel journey fly drive go;gift present;need require "
    "must;live reside dwell;like love enjoy fond dislike hate;marry wed wedding;ill sick "
    "unwell;speak talk;call phone ring;email mail;repair fix mend;rise increase go;decide "
    "decision;fall decrease drop;big large;small little;delete remove erase;make produce;attend "
    "come;build construct;holiday vacation;film movie;shop store;search look seek;teach "
    "teacher;study student;play player;bake baker bakery;run operate;cost charge price;say "
    "state;near close;employee staff;colleague coworker;boss manager supervisor;husband "
    "spouse;wife spouse;euro eur;dollar usd;kilogram kg kilo;kilometre km kilometer;metre meter "
    "m;minute min;hour hr;percent pct;allergy allergic intolerant;own possess;name call;earn "
    "salary;fast quick;use utilise utilize;give provide;get receive;choose pick select;see "
    "visit;each every;most at;pay cover;beat win;surgery operation;install put;break broken;work "
    "employ;old age;roof rooftop;permit allow;cook prepare;set configure;announce tell;pay salary "
    "wage earn;free available;choose pick;answer reply;call phone ring contact;expire end;submit "
    "file send;inherit leave;choose decide opt settle;fail break crash stop;prefer rather "
    "would_rather;begin start launch;repeat again;test exam examination;reschedule move postpone;"
    "large big "
    "huge;around about roughly approximately;shop store;collect get receive;"
    "sing singer singing;long last;trouble problem issue;afraid scared frightened fear;"
    "tired exhausted;"
    "angry annoyed upset;happy glad pleased delighted;expensive costly;cheap inexpensive;"
    "illness disease condition;replace change swap;lend loan;gain win;"
    "show display;allow let permit;get obtain;return back;"
    "meeting appointment;trip travel visit;watch monitor;"
    "fitted installed;delay postpone late;cover include;learn find;keep retain;"
    "own belong;ship deliver release;drop discard;problem bug error fault;team group crew squad;"
    "find discover learn;inform notify tell;suspect think believe assume reckon guess suppose;"
    "worry concern fear afraid anxious nervous panic;oppose against object;consent agree accept "
    "approve;refuse decline reject;cut reduce lower decrease shrink;raise increase lift rise grow;"
    "extend lengthen prolong longer;shorten cut trim shorter;fix resolve solve;hurt ache pain "
    "painful sore trouble;nap sleep doze;wake awake;arrive come reach get;finish conclude complete;"
    "due deadline;check verify inspect examine look;book "
    "reserve;cancel drop scrap abandon;skip miss omit;join attend;meet see;talk speak discuss chat;"
    "write draft compose;hide mask cover conceal;keep retain hold;change switch swap "
    "replace alter;run use operate host;cost price quote;pay spend;rent hire lease;teach instruct "
    "tutor coach train;eat have consume;drink have;bore dull tedious;annoy upset irritate bother "
    "anger;please like happy glad;tire exhaust;cold chilly cool;warm hot;quiet low silent;loud "
    "noisy;fast quick rapid;sure certain confident;unsure uncertain doubtful;right correct;wrong "
    "incorrect mistaken;old elderly;small little tiny;near next beside adjacent close;enough "
    "sufficient adequate;short brief;last final;main primary;grandfather grandad granddad grandpa;"
    "grandmother grandma granny;university uni college;mobile phone;photo picture image;company "
    "firm employer business;customer client;outage downtime incident;release deploy deployment "
    "rollout;document file;money cash;fee price cost;bill invoice;vehicle car;thesis dissertation;"
    "course class lesson;physio physiotherapist;vet veterinarian;medicine medication drug pill "
    "tablet;result outcome;reason cause;idea suggestion proposal;place spot slot;rest remainder;"
    "evening night;noon midday;option alternative choice possibility;harm bad damage;responsible "
    "cause blame culprit;persist continue remain;same unchanged;mail message;roll revert"
)
_ALIKE: dict[str, frozenset[str]] = {}
for _told in _SAME.split(";"):
    _group = frozenset(base(word) for word in _told.split())
    for _word in _group:
        _ALIKE[_word] = _ALIKE.get(_word, frozenset()) | _group
_KINDS = {
    base(one): base(kind)
    for kind, line in {
        "child": "son daughter",
        "parent": "mother father mum dad",
        "sibling": "brother sister",
        "relative": "cousin aunt uncle",
        "travel": "fly drive sail",
        "pet": "dog cat rabbit parrot hamster",
        "money": "euro dollar pound",
    }.items()
    for one in line.split()
}


def alike(word: str) -> frozenset[str]:
    """Return the roots of which any says what a root of a claim says, itself among them."""
    return _ALIKE.get(word, frozenset()) | {word}


def kind_of(word: str) -> str:
    """Return the root of what something is a kind of: a daughter of a child; else ``""``."""
    return _KINDS.get(word, "")


def is_finite(word: str) -> bool:
    """Whether a word is the finite form of a known verb, or its base form."""
    return word in _FINITE


def is_base_form(word: str) -> bool:
    """Whether a word is the base form of a known verb, in which orders are given."""
    return word in _BASE_FORMS


def is_past(word: str) -> bool:
    """Whether a word is a past form or participle that looks like one."""
    return word in PAST_OF or (
        word.endswith("ed") and len(word) > len("need") and root(word) != word
    )


def is_unchanged(word: str) -> bool:
    """Whether the past of a verb looks like its present."""
    return word in _UNCHANGED
