"""Facts for judging: groups that say one thing in five ways, and pairs that only look alike.

Labelled by hand. They were written before the rules were tried on them, and the rules were mended
with them since. A group ends as one live fact when its judge is good; a pair of ``DISTINCT`` must
never become one by rules.
"""

from __future__ import annotations

GROUPS: tuple[tuple[str, str, str, str, str], ...] = (
    # Small words, case, spelling: what rules must see by themselves.
    (
        "Mediums last 18 laps.",
        "The mediums last about 18 laps",
        "mediums last approximately eighteen laps",
        "The mediums currently last 18 laps.",
        "Mediums last roughly 18 laps!",
    ),
    (
        "The deploy window opens on Tuesday at 14:30.",
        "On Tuesday, the deploy window opens at 14:30",
        "Deploy window opens Tuesday at 14:30",
        "The deploy window opens on Tuesday, at 14:30.",
        "The deploy windows open on Tuesday at 14:30",
    ),
    (
        "Ada does not eat peanuts.",
        "Ada doesn't eat peanuts",
        "Ada does not eat any peanuts",
        "Ada does NOT eat peanuts!",
        "Ada actually doesn't eat peanuts.",
    ),
    (
        "The colour of the front wing is grey.",
        "The color of the front wing is grey",
        "the colour of the front wing is now grey",
        "The front wing's colour is grey.",
        "The colour of the front wing is still grey.",
    ),
    (
        "Billing service v2.3.1 runs in Frankfurt on PostgreSQL 16.",
        "The billing service v2.3.1 runs in Frankfurt on PostgreSQL 16",
        "Billing service 2.3.1 runs in Frankfurt on PostgreSQL 16.",
        "The billing service (v2.3.1) runs in Frankfurt on PostgreSQL 16.",
        "The billing service v2.3.1 currently runs in Frankfurt, on PostgreSQL 16.",
    ),
    (
        "The safety briefing for marshals takes place every Saturday morning before practice.",
        "Every Saturday morning before practice, the safety briefing for marshals takes place.",
        "The safety briefing for the marshals takes place every Saturday morning before practice",
        "The marshals' safety briefing takes place every Saturday morning before practice.",
        "The safety briefing for marshals takes place each Saturday morning before practice.",
    ),
    # Units and numbers in other shapes.
    (
        "The track is 5 km long.",
        "The track is 5000 m long",
        "The track is about 5 kilometres long.",
        "The track is 5.0 km long.",
        "The track has a length of 5 km.",
    ),
    # Other words for the same.
    (
        "Ada lives in Lisbon.",
        "Ada's home is in Lisbon.",
        "Lisbon is where Ada lives.",
        "Ada resides in Lisbon.",
        "Ada is based in Lisbon these days.",
    ),
    (
        "The user is allergic to penicillin.",
        "The user has a penicillin allergy.",
        "Penicillin gives the user an allergic reaction.",
        "The user has an allergy to penicillin.",
        "The user must avoid penicillin because of an allergy.",
    ),
    (
        "The invoice of Acme is due on 12 June 2026.",
        "Acme's invoice is due on 12 June 2026.",
        "Acme has to pay its invoice by 12 June 2026.",
        "12 June 2026 is the due date of the Acme invoice.",
        "The Acme invoice falls due on 12 June 2026.",
    ),
    (
        "Refunds are not possible after 30 days.",
        "No refunds after 30 days.",
        "After 30 days, refunds are not possible.",
        "Customers cannot get refunds after 30 days.",
        "Refunds are impossible once 30 days have passed.",
    ),
    (
        "Marcus is the father of Lena.",
        "Marcus is Lena's father.",
        "Lena's father is Marcus.",
        "Lena is the daughter of Marcus.",
        "The father of Lena is called Marcus.",
    ),
    (
        "Never call the customer before 9:00.",
        "The customer must not be called before 9:00.",
        "Do not call the customer before 9:00.",
        "No calls to the customer before 9:00.",
        "The customer should never get a call before 9:00.",
    ),
    (
        "The team prefers short stand-ups.",
        "The team likes its stand-ups short.",
        "Short stand-ups are what the team prefers.",
        "The team really prefers short stand-ups.",
        "The team prefers stand-ups that are short.",
    ),
)
"""Of racing, deploys, food, services, safety, homes, health, money, families and rules."""

DISTINCT: tuple[tuple[str, str], ...] = tuple(
    (one.strip(), two.strip())
    for one, two in (
        line.split(" | ")
        for line in """\
Mediums last 18 laps | Mediums last 19 laps
The mediums last about 18 laps in Imola | The mediums last about 18 laps in Monza
The mediums last 18 laps | The mediums lasted 18 laps
The mediums last 18 laps | The mediums last 18 minutes
The mediums last 18 laps | The mediums cost 18 euros
Hamilton starts the long race in Imola on medium tyres with a full tank of fuel | \
Leclerc starts the long race in Imola on medium tyres with a full tank of fuel
Ada lives in Lisbon | Ada lived in Lisbon
Ada lives in Lisbon | Ada works in Lisbon
Ada lives in Lisbon | Ada's brother lives in Lisbon
Ada lives in Lisbon | Ada will live in Lisbon
Ada lives in Lisbon | Ada lives near Lisbon
Ada was born in Lisbon | Ada was married in Lisbon
I live in Lisbon | She lives in Lisbon
My sister lives in Lisbon | Your sister lives in Lisbon
The user is allergic to penicillin | The user is not allergic to penicillin
The user is allergic to penicillin | The user's son is allergic to penicillin
The user is allergic to penicillin | The user was allergic to penicillin
The user takes 5 mg of aspirin every morning | The user takes 5 g of aspirin every morning
The user takes 5 mg of aspirin every morning | The user takes 5 mg of aspirin every evening
The user takes the pill before breakfast on working days | \
The user takes the pill after breakfast on working days
The billing service v2.3.1 runs in Frankfurt | The billing service v2.3.2 runs in Frankfurt
The billing service runs in Frankfurt on PostgreSQL | \
The billing service runs in Frankfurt on MongoDB
The staging database of the billing service is backed up every night to the Frankfurt region | \
The production database of the billing service is backed up every night to the Frankfurt region
The nightly backup of the billing database in Frankfurt is encrypted with the team key | \
The nightly backup of the billing database in Frankfurt is unencrypted with the team key
The cache of the checkout service is enabled for all European customers in the new region | \
The cache of the checkout service is disabled for all European customers in the new region
The deploy window opens on Tuesday at 14:30 | The deploy window opens on Thursday at 14:30
The deploy window opens on Tuesday at 14:30 | The deploy window closes on Tuesday at 14:30
The deploy window opens on Tuesday at 14:30 | The deploy window opens on Tuesday at 15:30
The release is planned for 12 June 2026 | The release is planned for 12 July 2026
The release is planned for 12 June 2026 | The release is planned for 12 June 2027
The release needs two approvals from the platform team | \
The release needs three approvals from the platform team
Red follows blue in the start-up sequence of the signal lights | \
Blue follows red in the start-up sequence of the signal lights
Alice reports to Bob in the platform team | Bob reports to Alice in the platform team
Marcus is the father of Lena | Lena is the father of Marcus
Marcus is the father of Lena | Marcus is the uncle of Lena
The train from Rome to Paris is late | The train to Rome from Paris is late
The flight leaves Lisbon at 9:00 and lands in Rome at 13:00 | \
The flight leaves Lisbon at 13:00 and lands in Rome at 9:00
The left mirror of the red car has to be replaced before the race on Sunday in Imola | \
The right mirror of the red car has to be replaced before the race on Sunday in Imola
The tyre is hot | The tyre is very hot
The tyre is hot after the first lap | The tyre is almost hot after the first lap
The pit lane opens at 14:00 | The pit lane never opens at 14:00
The pit lane opens at 14:00 | The pit lane usually opens at 14:00
All cars of the team finished the race | Most cars of the team finished the race
Cars with a damaged floor must stop at the pit box | \
Only cars with a damaged floor must stop at the pit box
The driver can leave the car without help | The driver can leave the car with help
If it rains during the race, the team pits | If it rains before the race, the team pits
The team pits when it rains | The team pits
The contract with Acme ends in June | The contract with Acme starts in June
The contract with Acme was signed | The contract with Apex was signed
The invoice of Acme is due on 12 June | The invoice of Acme was paid on 12 June
The invoice of Acme is 1,500 euros | The invoice of Acme is 1,500 dollars
The invoice of Acme is 1.500 euros | The invoice of Acme is 15.00 euros
Refunds are possible within 30 days | Refunds are possible after 30 days
Refunds for members are possible within 30 days | Refunds for guests are possible within 30 days
The customer wants calls in the morning | The customer wants emails in the morning
The customer prefers the old layout of the report | \
The customer prefers the new layout of the report
The first step of the runbook is to drain the node | \
The last step of the runbook is to drain the node
The runbook says to drain the node | The runbook says not to drain the node
Ben thinks that the release is ready | The release is ready
The user's dog is called Rex | The user's cat is called Rex
The user likes strong coffee in the morning | The user liked strong coffee in the morning
The user has two daughters | The user has two sons
The meeting room on floor 3 has space for 12 people | \
The meeting room on floor 12 has space for 3 people
The alarm of the server room is on | The alarm of the server room is off
Nobody but Ada has the key of the server room | Ada has the key of the server room
The window of the kitchen is open at night in summer | \
The window of the kitchen is open at night in winter
The user can park in front of the house | The user can park behind the house
The speed limit on the bridge is 80 km/h | The speed limit on the bridge is 80 mph
The former head of the platform team is Ada | The head of the platform team is Ada
The platform team has probably fixed the outage of the checkout service in Frankfurt | \
The platform team has fixed the outage of the checkout service in Frankfurt
""".splitlines()
    )
)
