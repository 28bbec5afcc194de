"""Words of grammar: what hedges, denies, asks, reports, limits or joins a statement. Pure data."""

from __future__ import annotations

from typing import Literal, TypeAlias

Mode: TypeAlias = Literal[
    "maybe", "wish", "plan", "ought", "proposal", "ask", "if", "ended", "agreed", "can"
]
"""How a clause is meant where it does not simply state something."""

AUXILIARIES = frozenset(
    "am is are was were be been being has have had do does did will would can could may might must "
    "shall should".split()
)
PAST_AUXILIARIES = frozenset("was were had did".split())
PRESENT_AUXILIARIES = frozenset("am is are has have do does".split())
BE = frozenset("am is are was were be been being".split())
DETERMINERS = frozenset("a an the my your his her its our their this that these those".split())
PREPOSITIONS = frozenset(
    "to in on at for from with by of into onto about over under between within without until after "
    "before during since towards toward against per except unlike near outside inside through "
    "across among".split()
)
CONJUNCTIONS = frozenset(
    "and but or so if unless provided because although though while whereas yet nor when after "
    "before until since which who whose where whom".split()
)
OWN = frozenset("i me my mine myself".split())
OURS = frozenset("we us our ours ourselves".split())
YOURS = frozenset("you your yours yourself".split())
THEIRS = frozenset(
    "he him his himself she her hers herself they them their theirs themselves it its itself this "
    "that these those which who whose there".split()
)
POSSESSIVES = frozenset("my our your his her its their whose".split())
SUBJECTS = frozenset("i we you he she they it this that there who which everyone nobody".split())

_TOLD: dict[Mode, str] = {
    "maybe": "may maybe perhaps might could possibly probably likely apparently allegedly "
    "supposedly seem seems seemed guess consider considers considering considered unsure "
    "presumably potentially think thinks thinking thought believe believes suspect suspects "
    "suspected reckon reckons reckoned assumes assumed",
    "wish": "want wants wanted wanting hope hopes hoped hoping wish wishes dream dreams would_like "
    "would_rather",
    "plan": "will would shall plan plans planning planned intend intends intended aim aims "
    "going_to about_to promise promises promised",
    "ought": "should must ought need needs needed have_to supposed",
    "proposal": "suggest suggests suggested suggestion propose proposes proposed proposal "
    "recommend recommends recommended recommending advise advises advised advice lets "
    "how_about offer offers offered offering",
    "ask": "ask asks asked asking wonder wonders wondered whether question inquire inquired "
    "enquired please request requests requested",
    "if": "if unless provided assuming otherwise as_long_as in_case depending conditional",
    "ended": "used_to no_longer anymore former formerly ex stop stops stopped quit quits left "
    "cancelled canceled previously once_was gave_up",
    "agreed": "agree agrees agreed accept accepts accepted approve approves approved confirm "
    "confirms confirmed consent consented",
    "can": "can able",
}
MODES: dict[str, Mode] = {word: mode for mode, line in _TOLD.items() for word in line.split()}
"""Phrases, their words joined by ``_``, stand for themselves after ``PHRASES`` has joined them."""

PHRASES: dict[tuple[str, ...], str] = {
    tuple(line.split()): joined
    for line, joined in {
        "used to": "used_to",
        "no longer": "no_longer",
        "not any more": "no_longer",
        "not any longer": "no_longer",
        "would like": "would_like",
        "would love": "would_like",
        "would rather": "would_rather",
        "would prefer": "would_rather",
        "going to": "going_to",
        "about to": "about_to",
        "have to": "have_to",
        "has to": "have_to",
        "had to": "have_to",
        "look like": "seem",
        "looks like": "seems",
        "looked like": "seemed",
        "every second": "every_second",
        "every other": "every_second",
        "have got to": "have_to",
        "has got to": "have_to",
        "have got": "have",
        "has got": "has",
        "how about": "how_about",
        "what about": "how_about",
        "why do not": "how_about",
        "as long as": "as_long_as",
        "as soon as": "as_soon_as",
        "in case": "in_case",
        "gave up": "gave_up",
        "due to": "because",
        "because of": "because",
        "owing to": "because",
        "thanks to": "because",
        "in order to": "because",
        "as a result": "because",
        "led to": "because",
        "that is why": "because",
        "for this reason": "because",
        "not sure": "unsure",
        "not certain": "unsure",
        "according to": "according_to",
        "can not wait": "eager",
        "not only": "only",
        "not least": "especially",
        "more than": "more_than",
        "less than": "less_than",
        "no more than": "at_most",
        "at most": "at_most",
        "not more than": "at_most",
        "at least": "at_least",
        "no less than": "at_least",
        "next to": "beside",
        "out of": "from",
        "yet to": "not",
        "except for": "except",
        "apart from": "except",
        "any more": "anymore",
        "not yet": "not",
        # Verbs of two words, by the one word that says the same.
        **{
            f"{form} {rest}": joined
            for forms, rest, joineds in (
                ("hand hands handed handing", "in", "submit submits submitted submitting"),
                ("run runs ran running", "out", "expire expires expired expiring"),
                ("break breaks broke breaking", "down", "fail fails failed failing"),
                ("call calls called calling", "off", "cancel cancels cancelled cancelling"),
                ("put puts put putting", "off", "postpone postpones postponed postponing"),
                ("pick picks picked picking", "up", "collect collects collected collecting"),
                ("go goes went going", "up", "rise rises rose rising"),
                ("go goes went going", "down", "fall falls fell falling"),
                ("sign signs signed signing", "up", "register registers registered registering"),
                ("turn turns turned turning", "down", "reject rejects rejected rejecting"),
                ("point points pointed pointing", "out", "note notes noted noting"),
                ("find finds found finding", "out", "learn learns learned learning"),
                ("set sets set setting", "off", "leave leaves left leaving"),
                ("take takes took taking", "part", "attend attends attended attending"),
            )
            for form, joined in zip(forms.split(), joineds.split(), strict=True)
        },
        "instead of": "except",
        "rather than": "except",
        "a bit": "somewhat",
        "fail to": "not",
        "fails to": "not",
        "failed to": "not",
    }.items()
}

CAUSES = frozenset("because therefore thus hence cause caused causes causing".split())
REASONS = frozenset(("because", "since"))
"""Lead what is the cause of the other half."""
RESULTS = frozenset("so therefore thus hence".split())
"""Lead what came of the other half."""

NEGATIONS = frozenset(
    "not no never none nobody nothing neither nor without cannot no_longer".split()
)
DENYING = frozenset(
    "dislike dislikes disliked hate hates hated refuse refuses refused decline declines declined "
    "unable lack lacks lacked impossible untrue false".split()
)
"""What denies what follows it, without a negation of its own."""

LIMITS = frozenset(
    "always never every each all everyone everybody everything only usually often mostly rarely "
    "seldom sometimes occasionally hardly barely almost nearly completely totally entirely fully "
    "whole any most constantly exclusively forever more_than less_than at_most at_least "
    "every_second".split()
)
"""How much or how often: a claim has none that its source does not have."""
NUMBER_LIMITS = frozenset("at_most at_least more_than less_than".split())
KEPT_LIMITS = frozenset(
    "rarely seldom sometimes occasionally hardly barely almost nearly at_most at_least more_than "
    "less_than some few only except unlike every_second".split()
)
"""What a source limits, a claim has to limit too."""
SAME_LIMITS = {"each": "every", "everybody": "everyone", "seldom": "rarely"}

REPORTING = frozenset(
    "say says said saying tell tells told mention mentions mentioned report reports reported state "
    "states stated explain explains explained note notes noted add adds added remark remarked "
    "write writes wrote claim claims claimed think thinks thought believe believes believed reply "
    "replied answer answered respond responded reveal revealed according_to warn warned inform "
    "informed point pointed describe described suspect suspects suspected reckon reckons reckoned "
    "assumes assumed".split()
)
"""Verbs after which somebody's words follow."""
ASSENTS = frozenset("yes yeah yep ok okay sure agreed deal absolutely certainly fine".split())

FREE = (
    AUXILIARIES
    | BE
    | CONJUNCTIONS
    | DETERMINERS
    | POSSESSIVES
    | THEIRS
    | REPORTING
    - frozenset(
        "claim claimed claims point pointed remarked reveal revealed saying warn warned write "
        "writes wrote".split()
    )
    | frozenset(
        # Grammar that says nothing in particular.
        "about above again really also another around as at away back between both by done during "
        "else few for from further having here how i in into just many me much of off on onto "
        "other others ours out over own per please same several some such than then through to "
        "together too towards under up upon us very we what why with within you not no whether let "
        "one get gets got getting among instead roughly somewhat "
        # What tells how something came up.
        "agent assistant user users customer client person people someone somebody conversation "
        "chat discussion message messages summary mentioning describes talk talked discuss "
        "discussed discusses share shared according ask asks asked asking wonder wondered suggest "
        "suggests suggested suggestion suggesting propose proposed proposes recommend recommended "
        "recommends advise advised advises offer offered offers thinking consider considers "
        "considering considered plan plans planned planning intend intends want wants wanted hope "
        "hopes hoped wish need needs needed promise promises promised going_to about_to have_to "
        "used_to no_longer would_like supposed ought assuming maybe perhaps possibly probably "
        "likely seem seems unsure currently now still already recently presently eventually "
        "meanwhile additionally furthermore moreover however therefore thus hence well thing "
        "things fact way kind time detail details topic matter "
        # Names of names.
        "yes yeah yep ok okay hello hi thanks great lovely good name named title new mr mrs ms dr "
        "prof".split()
    )
)
"""Ordinary words that a claim may have of its own."""

EMPTY = frozenset(
    "call take make place happen occur exchange involve concern regard topic subject point speak "
    "speaker talk interesting good nice friendly level amount process result situation total "
    "session long own several various main due version problem".split()
)
"""Of words such as these alone nothing is stated."""

LIGHT = frozenset(
    "complete finish do perform produce make attend install put take get hold organise organize "
    "arrange handle spend run carry serve hand receive give".split()
)
"""Verbs that may stand for another one, of which everything else is told."""

ROLES = frozenset(
    "sister brother mother father mum dad mom cousin daughter son uncle aunt neighbour neighbor "
    "wife husband partner girlfriend boyfriend friend colleague coworker boss manager coach "
    "trainer doctor dentist lawyer accountant editor teacher headmaster surgeon cto ceo landlord "
    "plumber electrician child kid parent grandmother grandfather niece nephew fiance fiancee team "
    "quartet dog cat puppy family supervisor professor captain mentor director landlady flatmate "
    "roommate vet nurse therapist tutor chef guest client assistant secretary band "
    "club company".split()
)
"""Who somebody is to somebody: names stand beside these."""
