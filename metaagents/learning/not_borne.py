"""What somebody must not eat, drink, take or touch, however they say so. Pure.

Whoever does not know it does harm: it is learnt wherever it is said, and told unasked.
"""

from __future__ import annotations

from .regexes import any_case

_FOOD = (
    r"almonds?|apples?|bananas?|barley|beef|bread|butter|caffeine|cashews?|celery|cheese|chicken"
    r"|chocolate|coffee|crabs?|cream|dairy|eggs?|fat|fish|fruit|garlic|gluten|grapefruits?|hazelnuts?"
    r"|kiwis?|lactose|lobsters?|lupins?|meat|milk|mushrooms?|mussels?|mustard|nuts?|onions?|oysters?"
    r"|peanuts?|pistachios?|pork|prawns?|rye|salt|seafood|sesame|shellfish|shrimps?|soya?"
    r"|strawberr(?:y|ies)|sugar|tomato(?:es)?|walnuts?|wheat|yogh?urt"
)
_MEDICINE = (
    r"alcohol|antibiotics?|aspirin|codeine|contrast (?:agent|dye|medium)|iodine|latex|morphine"
    r"|nickel|nsaids?|opioids?|painkillers?|paracetamol|acetaminophen|naproxen|diclofenac"
    r"|penicillins?|pollen|statins?|steroids?|sul(?:f|ph)a|vaccines?|bees?|wasps?"
    r"|\w{3,}(?:azole|caine|cillin|floxacin|mycin|olol|pril|profen|sartan|statin)"
)
SWALLOWED = rf"(?:[\w-]+,? ){{0,3}}(?:{_FOOD}|{_MEDICINE})\b"
"""What may go into a body, with up to three words before it."""

_WHO = r"(?:i|we|he|she|they|\w+|(?:my|our|his|her|their) [\w'-]+(?: [\w-]+)?)"
_WHEN = r"(?:when(?:ever)?|if|as soon as|every time|each time|any time)"
_TAKING = (
    r"(?: (?:eats?|drinks?|swallows?|inhales?) \w"
    rf"| (?:has|have|takes?|gets?|uses?|touch(?:es)?|smells?) {SWALLOWED}"
    r"|(?: am| is| are| gets?|'m|'s|'re) stung\b)"
)
_UNWELL = (
    r"(?:ill|sick|bloated|dizzy|itchy|nauseous|cramps|hives|migraines?|headaches?"
    r"|an? (?:migraine|rash|headache|asthma attack))"
)
_ILL = (
    r"(?<!will )(?<!'ll )(?<!would )(?<!could )(?<!might )(?<!'d )"
    r"(?:swells?(?: up)?|itch(?:es)?|vomits?|wheezes?|faints?|stops? breathing|closes? up|bloats?"
    r"|throws? up|pass(?:es)? out|goes? (?:into shock|numb)|can(?:'t|not) breathe"
    rf"|(?:gets?|feels?|am|is|are|becomes?) (?:\w+ )?{_UNWELL}"
    r"|(?:breaks?|comes?) out in (?:hives|welts|spots|an? rash|blotches))\b"
)
NOT_BORNE = any_case(
    rf"\b{_ILL}[^.;!?]{{0,30}} (?:{_WHEN} {_WHO}{_TAKING}|(?:after|from) (?:eating|drinking) \w)"
    rf"|\b{_WHEN} {_WHO}{_TAKING}[^.;!?]{{0,40}} {_ILL}"
    rf"|\b(?:eating|drinking) (?:[\w-]+ ){{1,4}}(?:makes?|gives?|sends?) [\w']+ (?:{_UNWELL}"
    r"|itch|swell|vomit|wheeze|faint|into shock|to (?:the )?hospital)\b"
    rf"|\b{SWALLOWED} (?:upsets? (?:my|our|his|her|their|[\w-]+'s) stomach"
    r"|(?:does|do)(?: not|n't) agree with [\w-]+)\b"
    rf"|\bcan(?:'t|not) (?:digest|stomach|tolerate) {SWALLOWED}"
    r"|\b(?:had|has|have|got) (?:an? )?(?:\w+ )?(?:allergic|bad|nasty|serious|severe|terrible)"
    rf" reactions? (?:after|from|to) {SWALLOWED}"
)
"""Who is ill from what they take in: ``My throat swells up when I eat peanuts``."""
