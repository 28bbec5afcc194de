"""The words by which the grammar tells who and what is spoken of. Data only."""

from __future__ import annotations

from tiers.lexical import NUMBER_WORDS

CAPITALS = "A-Z\u00c0-\u00de" + "".join(
    chr(code) for code in range(0x100, 0x180) if chr(code).isupper()
)
"""Capital letters of Latin alphabets, to be put between brackets of an expression."""

FULL_NAME = rf"[{CAPITALS}][\w'.\-]{{1,30}}(?: [{CAPITALS}][\w'.\-]{{1,30}}){{0,2}}"
REGION = r"[a-z]{2,}(?:-[a-z]+)+-?\d[a-z]?"
"""Where things run, as clouds call it: ``eu-west-1``."""
"""One to three words with capitals, as an expression without groups."""

INITIALS = frozenset(("IT", "US"))
"""A trade and a country; in small letters they are words that point at something."""

SPOUSES = frozenset("husband wife spouse partner fiance fianc\u00e9 fianc\u00e9e".split())
COMPANIONS = frozenset("girlfriend boyfriend".split()) | SPOUSES
RELATIVES = frozenset(
    "mother father mum mom dad mama papa parent brother sister son daughter child kid baby twin "
    "grandparent godson goddaughter godchild ex-wife ex-husband ex-partner half-brother "
    "half-sister grandmother grandfather grandma grandpa granny grandson granddaughter aunt uncle "
    "cousin niece nephew mother-in-law father-in-law brother-in-law sister-in-law son-in-law "
    "daughter-in-law stepmother stepfather stepson stepdaughter stepbrother stepsister godmother "
    "godfather youngest eldest oldest girl boy family ex granddad gran nan nana folks grandkid "
    "hubby missus ma pa sis bro lad toddler teenager newborn stepdad stepmum stepmom sibling "
    "in-law great-aunt great-uncle great-grandmother great-grandfather nanna auntie".split()
)
WOMEN = frozenset(
    "wife girlfriend mother mum mom mama sister daughter goddaughter ex-wife half-sister "
    "grandmother grandma granny granddaughter aunt niece mother-in-law sister-in-law "
    "daughter-in-law stepmother stepdaughter godmother girl gran nan nana missus ma sis "
    "landlady".split()
)
MEN = frozenset(
    "husband boyfriend father dad papa brother son godson ex-husband half-brother grandfather "
    "grandpa grandson uncle nephew father-in-law brother-in-law son-in-law stepfather stepson "
    "godfather boy granddad hubby pa bro lad landlord".split()
)
ACQUAINTANCES = frozenset(
    "friend neighbour neighbor flatmate roommate housemate colleague coworker co-worker classmate "
    "teammate landlord landlady tenant mentor tutor".split()
)
CARERS = frozenset(
    "doctor gp dentist vet therapist physiotherapist psychologist psychiatrist paediatrician "
    "pediatrician optician cardiologist dermatologist midwife surgeon oncologist physio "
    "counsellor counselor nutritionist gynaecologist gynecologist hairdresser barber lawyer "
    "solicitor accountant nanny childminder babysitter".split()
)
ROOM = (
    r"(?:office|kitchen|canteen|cafeteria|gym|library|lab(?:oratory)?|reception|mail ?room|toilets?"
    r"|bathroom|showers?|archive|workshop|warehouse|(?:meeting|server|break|prayer|conference)"
    r" room|printer|copier|server|fuse ?box|boiler|washing machine|safe|fridge|first[- ]aid kit"
    r"|defibrillator|post ?box|bike racks?)"
)
"""Rooms, and what stands in a house for good, as part of a pattern."""
DRUG = (
    r"(?:insulin|lithium|levothyroxine|aspirin|[a-z]{3,}(?:formin|statins?|pril|olol|sartan|azole"
    r"|cillin|mycin|traline|oxetine|axine|azepam|azolam|thyroxine|profen|prazole|xaban|dipine"
    r"|gliptin|gliflozin|triptan|terol|nisone|nisolone|cycline|oxacin|zapine|semide|thiazide"
    r"|pentin|gabalin|triptyline|lopram|umab|trexate))"
)
"""What is taken, by how drugs are called, as part of a pattern."""
TIER = r"(?:enterprise|premium|pro|basic|business|free|starter|gold|platinum|unlimited)"
"""What plans are called, as part of a pattern."""
DOCTOR = (
    r"(?:(?:family |new )?(?:doctor|physician)|gp|psychiatrist|cardiologist|neurologist|oncologist"
    r"|dermatologist|gyn(?:ae|e)cologist|rheumatologist|p(?:ae|e)diatrician|specialist|consultant)"
)
"""Who treats somebody, as part of a pattern."""
OFFICES = frozenset(
    "boss manager supervisor teacher coach trainer treasurer captain president chairman chairwoman "
    "chair secretary director principal headmaster headmistress head leader team-leader ceo cto "
    "cfo assistant professor adviser advisor agent".split()
)
TRADES = (
    CARERS
    | OFFICES - {"captain", "chair", "chairman", "chairwoman", "head", "leader", "treasurer"}
    | frozenset(
        "nurse engineer developer programmer designer architect chef cook waiter waitress baker "
        "butcher plumber electrician carpenter mechanic builder painter farmer gardener pilot "
        "driver sailor soldier firefighter police policeman policewoman paramedic pharmacist "
        "scientist researcher analyst consultant administrator technician tester writer "
        "journalist editor translator librarian photographer actor actress musician salesman "
        "saleswoman cashier clerk receptionist recruiter economist banker broker judge priest "
        "student apprentice intern trainee freelancer lecturer headteacher tutor carer cleaner "
        "courier".split()
    )
)
"""What somebody is for a living, one at a time where they say what they are now."""
TOOLS_OF_A_KIND = tuple(
    frozenset(line.split("|"))
    for line in (
        "npm|pnpm|yarn|bun", "pip|poetry|uv|conda", "vim|neovim|emacs|vs code|pycharm|zed|sublime",
        "jenkins|github actions|gitlab ci|buildkite|circleci", "jira|linear|asana|trello",
        "slack|teams|mattermost|discord", "github|gitlab|bitbucket|codeberg",
        "aws|azure|gcp|google cloud|hetzner", "mysql|postgres|postgresql|mongodb|sqlite",
        "chrome|firefox|safari|edge|brave", "android|iphone|ios", "windows|macos|linux",
        "confluence|notion|obsidian", "gmail|outlook|fastmail|proton mail|protonmail",
        "maven|gradle", "webpack|vite", "mocha|jest|vitest", "spotify|apple music|tidal",
        "scrum|kanban",
    )
)  # fmt: skip
"""Of each line somebody who has switched uses another one no more."""
SOFTWARE = frozenset(
    "android|angular|ansible|asana|aws|azure|bitbucket|chrome|confluence|datadog|debian"
    "|discord|docker|emacs|excel|fastmail|fedora|figma|firefox|gcp|github|github actions"
    "|gitlab|gmail|google cloud|google docs|grafana|hetzner|heroku|ios|iphone|jenkins|jira"
    "|kafka|kubernetes|linear|linux|macos|mattermost|miro|mongodb|mysql|neovim|netlify|nginx"
    "|notion|obsidian|outlook|postgres|postgresql|proton mail|protonmail|pycharm|python"
    "|rabbitmq|react|redis|rust|safari|signal|slack|spotify|sqlite|svelte|teams|telegram"
    "|css|git|html|http|java|javascript|json|sql|ssh|xml|yaml"
    "|terraform|trello|typescript|ubuntu|vercel|vim|vs code|vue|whatsapp|windows|zed|zoom".split(
        "|"
    )
) | frozenset().union(*TOOLS_OF_A_KIND)
"""Where nobody lives, though people move to it."""
DWELLING = (
    r"an? (?:[\w-]+ ){0,3}(?:apartment|flat|house|studio|condo|loft|cottage|villa|room|bungalow)"
)
"""What somebody lives in, as an expression without groups."""
DIETS = frozenset(("vegan", "vegetarian", "pescatarian"))
TEAM_TRADES = frozenset(
    "engineer developer programmer designer analyst tester writer editor researcher scientist "
    "consultant administrator technician recruiter intern apprentice trainee student".split()
)
"""Of whom a team has several."""
PETS = frozenset(
    "dog puppy cat kitten rabbit bunny hamster parrot tortoise turtle horse pony goldfish fish "
    "bird canary budgie ferret snake lizard gecko hen chicken goat sheep donkey cow pig mouse rat "
    "guinea-pig hound terrier labrador poodle spaniel retriever parakeet cockatiel iguana frog "
    "pet duck goose llama alpaca bee chinchilla hedgehog "
    "mare stallion foal tabby rooster tomcat collie dachshund beagle".split()
)
PERSONS = COMPANIONS | RELATIVES | ACQUAINTANCES | CARERS | OFFICES
ONE_AT_A_TIME = (
    SPOUSES
    | CARERS
    | OFFICES
    | frozenset(
        "girlfriend boyfriend mother father mum mom dad landlord landlady employer surname address "
        "birthday name".split()
    )
)
"""Of whom or what somebody has one: another one takes the place."""

PLURALS = {f"{one}s": one for one in PERSONS | PETS} | {
    "children": "child",
    "in-laws": "in-law",
    "missus": "missus",
    "wives": "wife",
    "puppies": "puppy",
    "ponies": "pony",
    "babies": "baby",
    "mice": "mouse",
    "geese": "goose",
    "bunnies": "bunny",
}
TITLES = frozenset("dr dr. mr mr. mrs mrs. ms ms. prof prof. professor doctor sir sister".split())

POSSESSIONS = frozenset(
    "house home flat apartment cottage cabin farm garden office studio shop store bakery "
    "restaurant company business car van truck motorbike motorcycle bike bicycle boat caravan "
    "phone laptop tablet computer camera guitar piano violin watch ring passport licence license "
    "school team club room kitchen balcony garage".split()
)
"""Things of somebody's that are worth knowing about."""

OF_THE_MOMENT = frozenset(
    "think know say tell mean believe guess wonder hope wish want need feel see hear agree "
    "disagree suggest promise appreciate thank ask remember forget imagine suppose assume seem "
    "appear look understand realise realize doubt trust admit swear bet recommend advise apologise "
    "apologize notice recall mind matter care worry regret miss expect love like hate enjoy prefer "
    "adore try welcome invite wait let get find come go do thanks consider accept refuse claim "
    "bother picture last long dread crave cheer bless pity dare beg dream deserve admire envy "
    "respect cherish happen help show explain describe answer reply respond mention discuss talk "
    "speak sound taste smell relate strive aspire struggle push plan decide intend aim hurt "
    "make stop start begin end finish fall hit catch have be live die stand give stay wake sit lie "
    "ache".split()
)
"""Verbs of mind, talk and the moment: in the present they tell of what is just so."""

MOMENTARY = (OF_THE_MOMENT - {"ache", "die", "last", "thanks", "wake"}) | frozenset(
    "require call send take put bring keep remain continue turn leave arrive return share react "
    "check test fix debug click open close press type run use add remove change move set pick "
    "choose value treasure support owe lack cost hold hang receive lose pass rise break cut drop "
    "throw carry pull meet follow lead reach join refer recognise recognize deny second depend "
    "rely belong concern involve include contain result face save load print vote order request "
    "cancel confirm sign attach copy paste upload download install wrap trade read".split()
)
"""Verbs of the mind, of talk, of feeling and of handling things: they tell of the moment."""

ILLNESS = (
    r"(?:[a-z]+(?:itis|osis|emia|aemia|algia|plegia|phobia|pathy|oma)|asthma|diabetes|epilepsy|gout"
    r"|(?:high|low) (?:cholesterol|iron|blood sugar)|sleep apno?ea|shingles|fibroids"
    r"|anxiety attacks|panic attacks|(?:kidney|gall) ?stones|bad (?:knees|hips|eyesight)"
    r"|(?:an? )?(?:heart|kidney|liver|lung|skin|thyroid|autoimmune|kidney|celiac|coeliac|lyme)"
    r" (?:disease|failure|trouble|disorder)|an (?:under|over)active thyroid"
    r"|insomnia|migraines?|sciatica|vertigo|cancer|adhd|add|autism|arthritis|anxiety|depression"
    r"|eczema|psoriasis|dyslexia|hypertension|tinnitus|hay fever|(?:high|low) blood pressure"
    r"|(?:chronic )?(?:back|knee|neck|joint) pain|reflux"
    r"|crohn's(?: disease)?|coeliac disease|celiac disease|lupus|parkinson's|dementia|alzheimer's"
    r"|multiple sclerosis|glaucoma|cataracts?|scoliosis|narcolepsy|ibs|pcos|ptsd|ocd|low iron"
    r"|a (?:heart (?:murmur|condition|defect)|pacemaker|slipped disc|hernia|bad (?:back|knee|hip)"
    r"|weak heart|thyroid (?:condition|problem)|stutter|hearing aid|stoma|prosthesis))"
)
"""What somebody has without an article, as an expression without groups."""

BODY = frozenset(
    "ankle arm back collarbone elbow finger foot hand heel hip jaw knee leg neck nose rib ribs "
    "shin shoulder skull toe tooth thumb wrist hamstring achilles appendix tonsils gallbladder "
    "spleen kidney wisdom meniscus ligament cartilage tendon calf thigh forehead eardrum "
    "retina".split()
)

STATES: tuple[tuple[str, ...], ...] = tuple(
    tuple(line.split())
    for line in (
        "broken/defective working/repaired/fixed",
        "open/opened/reopened closed/shut/resolved/merged",
        "single married divorced engaged widowed separated",
        "pending approved/accepted/granted rejected/refused/denied",
        "ill/sick healthy/well/recovered",
        "on off",
        "full empty",
        "employed unemployed retired",
        "available unavailable/occupied sold",
        "alive dead",
        "paid unpaid overdue",
        "online offline",
        "locked unlocked",
    )
)
"""Of each line a thing or a person is one at a time; a slash parts words for the same."""

EVALUATIVE = frozenset(
    "great good nice lovely amazing awesome wonderful fantastic incredible bad terrible awful "
    "mountain pile heap load rough important must tough hard fun cool crazy weird funny blast lot "
    "lots bit ton tons bunch chance moment feeling feelings idea ideas thought thoughts point "
    "question questions problem problems issue issues look minute sec clue word words hunch "
    "suspicion doubt doubts deadline plan plans choice favour favor request dream dreams goal "
    "goals hope hopes fear fears vision feel sense blessing mess nightmare joke pain star angel "
    "saint genius idiot disaster despair spite pleasure treat charm gem delight shame pity mystery "
    "secret secrets surprise couple few several whole perfect thing things stuff way ways part "
    "kind sort type number special favourite favorite best worst better worse happy sad proud glad "
    "sorry excited ready reason reasons story stories memory memories experience experiences "
    "impact difference challenge challenges struggle struggles journey adventure adventures "
    "progress success luck fan believer connection bond passion interest respect love support help "
    "strength courage inspiration motivation energy vibe vibes view views scene scenes atmosphere "
    "beauty peace joy same different similar such other huge big real total true sure conversation "
    "talk talks chat discussion argument fight accident news update opportunity opportunities "
    "advice suggestion tip tips info information knowledge understanding copy copies picture "
    "pictures photo photos pic pics video videos sign recipe recipes addition win list theme "
    "ability place spot scoop note warning notice bite zero exactly procrastination sarcasm "
    "headache crush heart go shot try feet caring worrying thinking trying believing laughing "
    "crying wondering hoping waiting talking napping overthinking complaining snoozing "
    "oversleeping".split()
)
"""Words of talk about talk, of moods and of praise: what is called so is no fact to keep."""

OF_AN_ANSWER = frozenset(
    "answer question result outcome sum total solution remainder offer option suggestion proposal "
    "guess advice tip point trick thought idea default".split()
)
"""What comes of a question, or is put up to choose from: it is known while that is talked of."""

ORDINALS = frozenset(
    "first second third fourth fifth last next other latter former rest best worst cheapest".split()
)
"""Alone they say which, and not of what."""

OCCASIONS = frozenset(
    "day days week weekend night lunch dinner breakfast meal drink meeting appointment call time "
    "times break rest nap".split()
)
"""What somebody has in passing."""

NO_PERSON = frozenset(
    "dear however meanwhile therefore moreover furthermore additionally "
    "everybody everyone somebody someone anybody anyone nobody people life love work today "
    "tomorrow yesterday monday tuesday wednesday thursday friday saturday sunday god money music "
    "nature art family friends kids time things lots thanks thank yes yeah yep no nope wow hey hi "
    "hello oh ah well so but and or if when while because since though although there here this "
    "that these those it he she they we you what who which why how where being having getting "
    "seeing knowing going doing making taking just only even also maybe perhaps sure good great "
    "nice cool awesome amazing one two all both each every some any most many much more less "
    "next last first second then now once never always sometimes usually often good-bye bye okay "
    "ok sorry please congrats congratulations absolutely definitely totally exactly right true "
    "home school church mum mom dad grandma grandpa let's nothing everything something anything "
    "not let in on at for with from to of by as such same other another than "
    "imagine suppose pretend customers customer users user man woman guy".split()
)
"""Words that open a sentence with a capital and are nobody's name."""
CONDITIONS = frozenset(
    "sober clean clean-and-sober vegan vegetarian pescatarian coeliac celiac diabetic teetotal "
    "left-handed right-handed colour-blind color-blind colourblind colorblind dyslexic autistic "
    "epileptic asthmatic short-sighted deaf blind lame pregnant widowed retired unemployed".split()
)
NUMBERS = frozenset(NUMBER_WORDS) - {"zero"}
MARITAL = frozenset("single married divorced widowed engaged separated".split())
CIVIL = frozenset("self-employed unemployed bilingual".split()) | {"only child"}
"""What somebody is for longer: by body and diet, in years, by marriage, by standing."""
NOT_UNDONE = frozenset("miracles magic idiots fools people amateurs liars favours".split())
"""What nobody does, and whom nobody would work with."""
TOO_YOUNG = frozenset("0 1 2 3 one two three four five six seven eight nine ten".split())
"""No age of who speaks: "we are two"."""

RULES_OF_THINGS = frozenset(
    "use require support cost belong close open contain expire last weigh allow accept cover "
    "include serve store depend integrate deploy sit hold own publish ship run live rotate "
    "keep respond want need forbid prohibit consist exceed comprise exclude limit restrict "
    "permit ban handle measure".split()
)
"""Verbs of what things do as a rule, and of what a client, a team or an office asks for."""

FAILING = frozenset(
    "fail break crash hang load throw return ring take pass work freeze compile print build test "
    "drop leak flicker beep respond arrive leave react click scroll turn change grow rise "
    "complain".split()
)
"""Verbs of how things are just doing."""

LIFE_CHANGES = frozenset(
    "leave quit stop switch ditch swap join pass pay sell buy adopt marry divorce graduate outgrow "
    "retire enrol hire move settle change replace break drop cancel win earn found publish inherit "
    "emigrate choose select convert complete become finish start begin lose qualify accept sign "
    "pick cut get do".split()
)
"""Verbs of what changes a life, once it is done."""

SLIGHT_CHANGES = frozenset("get buy do cut drop start begin lose break change".split())
"""Of these only with a name, a number or something of one's own."""

AT_HAND = frozenset(
    "file files folder page pages button line lines code test tests ticket tickets issue issues "
    "script draft drafts document documents doc docs table column row cell slide slides build "
    "branch branches config setting settings window tab screen function variable message messages "
    "mail email emails link links list report picture photo photos call meeting bus train tram "
    "key keys phone charger coffee tea lunch breakfast dinner break minute minutes look question "
    "questions answer turn bug error order note notes update version point bit chat chats blast "
    "time times talk fun laugh walk respect back part while weather traffic server program print "
    "printer pr prs".split()
)
"""What people have to do with in passing, at work and on the way."""

OUTSIDE = frozenset(
    "it its it's this that that's these those he she him hers they them theirs you your yours i "
    "one ones some something somewhere someone somebody anyone anybody everything everyone "
    "everybody nothing none others either former latter option such here there then now "
    "today tonight tomorrow again yet already what what's when who why how whatever whoever thing "
    "things way ways much lot lots bit kind sort stuff part enough too really if whether like "
    "myself yourself himself herself itself so just right house".split()
)
"""Words with which a clause cannot be understood alone, or is a matter of the moment."""

PROJECTS = frozenset(
    "project repo repository codebase team company app api database service pipeline website site "
    "office shop school firm department class club client customer contract licence garden "
    "apartment flat house landlord employer building".split()
)
"""Things that are known by the article: there is one where it is spoken of."""

FIGURES = frozenset(
    "hero heroine character villain protagonist avatar "
    "sherlock moriarty frodo bilbo gandalf gollum dumbledore voldemort hogwarts "
    "batman superman spiderman spider-man dracula frankenstein cinderella pinocchio napoleon "
    "shakespeare einstein mozart beethoven cleopatra skywalker vader yoda godzilla".split()
) | {"harry potter", "james bond", "walter white", "homer simpson", "santa claus", "mickey mouse"}
"""Who lives in what is made up, and whom everybody knows of and nobody knows."""

MADE_UP = FIGURES | frozenset(
    "book film movie game novel story song series show episode king "
    "queen devil god gods witch men women".split()
)
"""What is made up, or lives."""

READ_ELSEWHERE = frozenset(
    "birthday anniversary address name password passphrase pin secret token credentials key".split()
)
"""What is read in other ways, or is secret."""
SWALLOWED = frozenset(
    "coffee tea caffeine alcohol beer wine meat fish sugar sweets dairy milk cheese gluten bread "
    "chocolate soda cigarettes smoking".split()
)
"""What people give up for their health."""
