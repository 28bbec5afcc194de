"""More pairs of claims, from everyday life and work, written before the rules were tried on them.

One pair a line. Labelled as in ``claim_pairs``.
"""

from __future__ import annotations

CONTRADICTIONS = """\
The customer prefers email | The customer does not prefer email
The office is open on Saturday | The office is not open on Saturday
The office is open on Saturday | The office is closed on Saturday
The patient is allergic to penicillin | The patient is not allergic to penicillin
The patient takes 5 mg of aspirin daily | The patient takes 10 mg of aspirin daily
The build takes 5 minutes | The build takes 12 minutes
The server has 16 GB of memory | The server has 32 GB of memory
The flight leaves at 9:00 | The flight leaves at 10:30
The flight leaves at 9:00 | The flight does not leave at 9:00
The contract ends in June | The contract ends in December
The invoice is due on 5 June | The invoice is due on 12 June
The user is married | The user is single
The user is married | The user is not married
The cache is enabled in production | The cache is disabled in production
The feature flag is on | The feature flag is off
The user has 2 children | The user has 3 children
The user was born in 1990 | The user was born in 1991
The user eats meat | The user never eats meat
The user eats meat | The user does not eat meat
The user eats meat | The user no longer eats meat
The company has offices in Milan | The company has no offices in Milan
The project is finished | The project is unfinished
The retry limit is 3 | The retry limit is 5
The password must have at least 8 characters | The password must have at least 12 characters
The price is $5 per kg | The price is $7 per kg
The shipment arrives on Friday | The shipment arrives on Monday
The team meets before lunch | The team meets after lunch
The API supports pagination | The API does not support pagination
Refunds are allowed | Refunds are not allowed
Refunds are allowed | Refunds are forbidden
The test passes | The test fails
The medicine increases blood pressure | The medicine lowers blood pressure
The medicine increases blood pressure | The medicine decreases blood pressure
The library is thread safe | The library is not thread safe
The user can swim | The user can't swim
Ann is older than Tom | Tom is older than Ann
Ann is older than Tom | Ann is younger than Tom
The room is big enough | The room is not big enough
The box is 5 cm high | The box is 10 cm high
The glass is full | The glass is empty
The train stops in Pisa | The train does not stop in Pisa
The bug affects Android | The bug doesn't affect Android
The CEO is in London | The CEO is not in London
The light is green | The light is red
The theme is dark | The theme is bright
The alarm is set for 7:00 | The alarm is set for 8:00
The data is encrypted | The data is unencrypted
The tyre pressure is 1.8 bar | The tyre pressure is 2.1 bar
The user's birthday is on 3 March | The user's birthday is on 4 March
The release is scheduled for Monday | The release has been cancelled
The user lives with his parents | The user does not live with his parents
My favourite colour is green | My favourite colour is blue
The safety car was deployed | The safety car was not deployed
Our budget is 3 million euros | Our budget is 4.5 million euros
The car must stop for fuel | The car must not stop for fuel
The car needs 3 sets of tyres | The car needs 4 sets of tyres
Undercutting works in Imola | Undercutting does not work in Imola
The undercut is worth 2 seconds | The undercut is worth 4 seconds
Box this lap | Do not box this lap
Leclerc starts from third | Leclerc starts from fifth
Tyre wear is high | Tyre wear is low
The medium compound is faster than the hard | The hard compound is faster than the medium
The degradation is 0.1 s per lap | The degradation is 0.3 s per lap
Rain is expected at 15:00 | No rain is expected at 15:00
The user is a vegetarian | The user is not a vegetarian
The user wants notifications | The user does not want notifications
Notifications are enabled | Notifications are disabled
"""

UNRELATED = """\
The customer prefers email | The customer prefers phone calls
The customer wants a refund | The customer wants a replacement
The API returns JSON | The API returns XML
Version 2 is stable | Version 3 is unstable
The staging database is PostgreSQL 15 | The production database is PostgreSQL 16
The order was placed on Monday | The order was shipped on Tuesday
The patient takes 5 mg of aspirin | The patient takes 10 mg of ibuprofen
The patient takes 5 mg in the morning | The patient takes 10 mg in the evening
The office in Berlin is open | The office in Paris is closed
Alice has 3 children | Bob has 2 children
The first quarter was good | The second quarter was bad
Sales rose in March | Sales fell in April
The door is open | The window is closed
The user is vegetarian | The user does not eat fish
The build takes 5 minutes on Linux | The build takes 9 minutes on Windows
The test suite passes locally | The test suite fails in CI
The cat is black | The dog is white
He lives in Berlin | He does not live in Munich
The plan includes lunch | The plan excludes drinks
The server has 16 GB of memory | The server has 500 GB of disk
The server in Frankfurt has 16 GB | The server in Dublin has 32 GB
The hotel is 5 km from the station | The hotel is 2 km from the beach
The flight leaves at 9:00 | The flight arrives at 11:00
The flight to Rome leaves at 9:00 | The flight to Paris leaves at 10:00
A flight leaves at 9:00 | A flight leaves at 10:00
Trains leave at 9:00 | Trains leave at 10:00
The bus runs on weekdays | The bus runs on Sundays
The user works on Monday | The user works on Tuesday
The user can swim | The user cannot ski
The red team won | The blue team lost
We hired 3 engineers in May | We hired 5 engineers in June
The bug is in the parser | The bug is in the lexer
The bug affects iOS | The bug does not affect Android
The light is on in the kitchen | The light is off in the hall
The left lane is closed | The right lane is open
The temperature is high in summer | The temperature is low in winter
The team is strong in attack | The team is weak in defence
The price is $5 per kg | The price is $5 per piece
The price is $5 for members | The price is $8 for guests
Members pay $5 | Guests pay $8
The CEO is in London | The CEO is in meetings
The class is full | The bottle is empty
The user is not a doctor | The user is a nurse
The user did not go to school on Monday | The user went to school on Tuesday
The meeting is not in Rome | The meeting is in Milan
Water boils at 100 °C | Water freezes at 0 °C
The shop closes at 18:00 | The shop opens at 9:00
The project has 5 open issues | The project has 7 closed issues
The user has read 5 books | The user has written 2 books
The team has a young driver | The team has an old driver
There are red tulips | There are yellow tulips
Every second lap is slow | Every third lap is fast
The sensor reads 5 | The sensor reads 7 after reset
The car with number 5 is red | The car with number 7 is blue
The car is fast on the straight | The car is slow in corners
The house on the hill is white | The house by the sea is blue
The company has offices in Rome | The company has no offices in Milan
The user never eats meat | The user eats fish
No one likes mondays | Everyone likes fridays
The user was born in Rome | The user was raised in Paris
The user was born in 1990 | The user was married in 2015
Peter is older than Ann | Ann is older than Tom
The deadline for the report is Friday | The deadline for the slides is Monday
The user's first child is a girl | The user's second child is a boy
The user's dog is black | The user's cat is white
The music is not too loud | The music is loud
The soup is hot and spicy | The soup is hot and sour
I am Ann | I am not Bob
We are not only fast | We are fast
The user wants to start on Monday | The user wants to finish on Friday
The user wants to start on Monday | The user does not want to start on Tuesday
The price is not $5 | The price is $7
The limit is not 5 | The limit is 7
Nobody from Rome came | Somebody from Milan came
The user enjoys running in the morning | The user enjoys running in the evening
The user enjoys running | The user enjoys walking
Chapter 3 is long | Chapter 4 is short
Room 5 is free | Room 6 is not free
Room 5 is free on Monday | Room 5 is not free on Tuesday
The invoice is due on 5 June | The invoice was paid on 3 June
Support is available on weekdays | Support is not available on weekends
The score was 3-1 | The score was 2-2 at half time
The user has 2 cats | The user has 2 dogs
The app supports dark mode | The app supports light mode
The theme is dark | The icons are bright
The driver in the red car is fast | The driver in the blue car is fast
The driver of the red car is fast | The driver of the blue car is slow
The file is 5 MB | The limit is 10 MB
The lower limit is 5 | The upper limit is 10
The minimum is 5 | The maximum is 10
The average is 5 | The median is 6
Downloads take 5 s | Uploads take 9 s
The user drinks tea with sugar | The user drinks tea without milk
The user drinks tea with sugar | The user drinks coffee without sugar
The train stops in Rome | The train does not stop in Pisa
The lecture is on Monday at 10:00 | The lecture is on Wednesday at 14:00
The lectures are on Monday | The lectures are on Wednesday
The user takes the pill at 8:00 | The user takes the pill at 20:00
The user takes 1 pill at 8:00 | The user takes 2 pills at 20:00
The engine starts at 5 degrees | The engine does not start at -20 degrees
Ann is happy | Ann is not happy with the food
The update is not mandatory for admins | The update is mandatory
The light is green | The light is bright
The team's car is red | The team's truck is blue
Players with red cards leave | Players with yellow cards stay
The wine is red | The wine is Italian
The glass is half full | The glass is half empty
Half of the seats are taken | Half of the seats are free
The box is 5 cm high | The box is 10 cm wide
The result is 5 on average | The result is 7 at most
Take 5 tablets | Take 2 tablets with food
Add 5 g of salt | Add 10 g of sugar
The user moved to Rome in 2020 | The user moved to Paris in 2022
The contract ends in June | The contract starts in July
The cache is enabled in production | The cache is disabled in staging
The cache is enabled for reads | The cache is disabled for writes
The test is flaky | The test is not slow
The game is over | The game is not bad
It is cold in Oslo | It is hot in Cairo
It takes 5 minutes by car | It takes 20 minutes on foot
Leclerc is second | Norris is third
Leclerc was first in Monza | Leclerc was third in Imola
The tyre pressure is 1.8 bar at the front | The tyre pressure is 1.6 bar at the rear
The front pressure is 1.8 bar | The rear pressure is 1.6 bar
Use the soft tyre in qualifying | Use the hard tyre in the race
Use soft tyres | Use hard tyres
Box for softs on lap 12 | Box for hards on lap 30
The user said yes to coffee | The user said no to tea
The user says the soup is hot | The soup is cold
Step 1 is to open the valve | Step 2 is to close the valve
The first step is to open the valve | The next step is to close the valve
Open the valve | Close the valve
Turn left at the bank | Turn right at the church
He is not here | He is not there
Not every driver is ready | Every car is ready
The user is from Italy | The user is not from Rome
The user lives near the sea | The user lives far from the city
The user has never been to Japan | The user has been to China
The alarm is set for 7:00 on weekdays | The alarm is set for 9:00 on weekends
The alarm is set for 7:00 | Another alarm is set for 9:00
The report is due before Friday | The report is due after Monday
Cars without DRS are slow | Cars with DRS are fast
Cars without DRS are slow | Cars with DRS are slow
We win with softs | We lose with hards
The race before Imola was dry | The race after Imola was wet
The lap before the stop is slow | The lap after the stop is slow
The coffee before lunch is good | The coffee after lunch is good
We drink coffee before lunch | We drink coffee after lunch is served
The user likes the first song | The user dislikes the last song
Prices in Rome increase | Prices in Paris decrease
The number of users increases | The number of bugs decreases
A rise in fuel increases wear | A drop in fuel decreases wear
We accept cards | We reject cheques
We accept late orders | We reject early orders
The rule allows tyres of 5 kg | The rule forbids tyres of 8 kg
The system is up in Europe | The system is down in Asia
The team is 5 points ahead of McLaren | The team is 3 points behind Ferrari
The team is ahead of McLaren | The team is behind Ferrari
User 5 is active | User 6 is inactive
Ticket 123 is open | Ticket 124 is closed
Order A-17 is pending | Order B-18 is approved
The key is not in the drawer | The key is in the box
The password has at least 8 characters | The password has 12 characters
The password has at most 64 characters | The password has 12 characters
Up to 5 users can log in | 3 users are logged in
The queue holds up to 100 items | The queue holds 40 items
The pool has 10 connections | The pool has 5 idle connections
The timeout is 30 s for reads | The timeout is 60 s for writes
The read timeout is 30 s | The write timeout is 60 s
The retry limit is 3 | The retry delay is 5 s
"""


def pairs_of(told: str) -> list[tuple[str, str]]:
    """Return the pairs of a table."""
    return [(one, two) for one, _, two in (line.partition(" | ") for line in told.splitlines())]
