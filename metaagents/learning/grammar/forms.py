"""Ways to state something of a subject, one to a line. Data only.

A line: verbs, words that may stand before the value, what the value is, attribute, traits; a slash
parts those of which any will do. Of one verb the first line that fits counts. Traits: ``state``
holds while it is said, ``begin`` begins a state, ``event`` happened, ``ongoing`` one may be in the
middle of it, ``end`` ends what has the value, ``one`` has one value at a time, ``not`` says the
opposite of its attribute, ``cannot`` is said of what somebody cannot bear, ``denied`` counts only
where it is denied, ``quiet`` is no news in talk, ``dated`` is news only with a time, ``since`` only
with a beginning; else it is the kind of fact.
"""

TABLE = """
live/reside | in | place | lives in | state one identity
stay | in | place | stays in | state ongoing
live | with | kin | lives with | state identity
live | in/at/on/with/near | own-place | lives in | state one identity
live | at/on | address | lives at | state one identity
be | resident in/a resident of/a citizen of | place | lives in | state one identity
stay | with | kin | stays with | state
live | | beside-place | lives in | state one identity
be | based/based just | near-place | lives in | state one identity
retire/emigrate | to | place | lives in | begin one identity
settle | near/outside/in/down in | place | lives in | begin one identity
relocate/move | from | from-to | lives in | begin one identity
emigrate | from | place | is from | event identity
move | to/back to/over to | place | lives in | begin one identity
move | to/back to/into | own-place | lives in | begin one identity
relocate | to/back to | place | lives in | begin one identity
be/come | from/originally from | place | is from | state one identity
grow | up in | place | grew up in | event identity
grow | up in/up near/up on/up outside | own-place | grew up in | event identity
grow | up in/up on/up in the | upbringing | grew up in | event identity
live | on | floor | lives on | state
be | raised in/brought up in | place | grew up in | event identity
grow | up speaking | language | speaks | event identity
be | born in/born and raised in | place | was born in | event identity
be | born/born on/born in | nothing | was born | event identity
work | at/for/with | firm | works at | state one identity
be | employed at/employed by/working at/on the staff of | firm | works at | state one identity
be | with/at | firm-name | works at | since state one identity
be | with | name | is with | since state
be | in | place | stays in | since state
quit/leave | my job at/my job with | firm | left | end identity
be | hired by/taken on by | firm | works at | begin one identity
work/freelance | as | role | works as | state one identity
be | working as/employed as | role | works as | state one identity
work | | shift | works | state identity
do | | trade | does | state identity
work | in | subject | works in | state identity
work | from | home-days | works from | state
start | a new job at/a job at/a new job with/working at | firm | works at | begin one identity
start | my new job at/my job at/my new job with | firm | works at | begin one identity
start | at | pupils | goes to | begin identity
start | working for/work at/at/with | firm | works at | begin one identity
begin | a new job at/working at/working for | firm | works at | begin one identity
take | over | business | runs | begin
report | to | name | reports to | state one
be | hired as/taken on as | role | works as | begin one identity
start | a new job as/working as/work as/as | role | works as | begin one identity
get | a job at/a new job at | firm | works at | begin one identity
get | a job as/a new job as | role | works as | begin one identity
be | promoted to/appointed/elected | thing | position | begin one identity
be | made/named | rank | position | begin one identity
become | | role | is a | begin identity
be | made redundant/laid off/fired/sacked/let go/dismissed | nothing | lost job | event identity
be | | post | is a | state identity
be | | office | is a | state identity
retire | | nothing | retired | event identity
retire | at the age of/aged/at | age-number | retired at | event identity
resign | from | thing | left | end identity
leave | | membership | left | end identity
leave | | left | left | end identity dated
quit | | left | left | end identity
quit/stop | | doing | quit | event
quit | | habit | quit | event
quit/leave | | theirs | left | end quiet
give | up/up on | doing | quit | event
give | up | habit | quit | event
buy/get | | home-in | has | begin identity
rent | | home-in | rents | state identity
have | | child | has | event identity
have | | removed | had | event identity
have | | dated-occasion | plans | state dated
have | | meal | eats | state constraint cannot
have | a reaction to/a bad reaction to | allergen | is allergic to | state constraint
have | bad reactions to/an intolerance to | allergen | is allergic to | state constraint
have | an allergy to/a severe allergy to | allergen | is allergic to | state constraint
have | | allergy | is allergic to | state constraint
have/get | | illness | has | state identity
be | prone to/living with | illness | has | state identity
struggle | with | illness | has | state identity
have/hold | | papers | has | state identity
carry | | carried | carries | state constraint
use | | carried | uses | state
use | | name | uses | state
switch/migrate | to/over to | name | uses | begin
upgrade | to/from | name | uses | begin
upgrade/downgrade/switch/move | to/to the | tier | uses | begin
give | up/up on/up learning | language | is learning | end
migrate/switch/change | from | change | changed | change
deploy | with/to/on | name | uses | state
support | | product | supports | state
drop | support for/ | product | supports | end
lead/head/manage | | charge | leads | state identity
look | after | charge | leads | state identity
take | care of | charge | leads | state identity
settle/decide | on | thing | decided on | event
take | in | owned | has | begin
need/take | | medicine | takes | state
be | prescribed/put on | medicine | takes | begin
have/catch | | infection | had | event
have | | fitted | has | event
have/own | | owned | has | state
keep | | kept | has | state
buy | | tickets | has | begin
book/reserve | | booked | booked | event
plan | | booked | plans | event ongoing
drive | | owned | drives | state
rent | | owned | rents | state
collect | | hobby | collects | state preference
inherit | | theirs | has | begin
get/buy/purchase/adopt/rescue/inherit | | owned | has | begin
get | rid of | theirs | has | end
give | | given | has | end
trade | in | theirs | has | end
give | away | theirs | has | end
throw | away/out | theirs | has | end
come | back to/home to | place | returned to | event dated
put | | put-down | has | end
be | operated on | nothing | had | event identity
be | stolen/wrecked/totalled/destroyed/nicked/pinched/broken into/smashed | nothing | lost | event
sell/donate | | theirs | has | end
cancel | | contract | has | end
give | up | home-let | has | end
lose | | theirs | lost | event dated
hurt | | body | hurt | event
break/sprain/strain | | body | broke | event identity
be | diagnosed with | thing | has | begin identity
be | in | wheelchair | is | state identity
have/wear | | worn | wears | state
be | on | medicine | takes | state
recover | from | thing | recovering from | state
be | deaf in/blind in | ear | is | state identity
be | scared of/afraid of/terrified of/frightened of | liked | is afraid of | state preference
be | against/opposed to/strongly against | stance | is against | state preference
be | in favour of/in favor of/all for | stance | is in favour of | state preference
be | bored by/bored with | liked | is bored by | state preference
be | annoyed by/irritated by | liked | is annoyed by | state preference
react | badly to/to | allergen | is allergic to | state constraint
get | a rash from/hives from/migraines from | allergen | is allergic to | state constraint
break | out in hives from/out in a rash from | allergen | is allergic to | state constraint
suffer | from | thing | has | state identity
be | allergic to/intolerant to/intolerant of | allergen | is allergic to | state constraint
be | sensitive to/hypersensitive to | allergen | is allergic to | state constraint
be | | diet | is | state constraint
be | | marital | state single | state one identity
be | | civil | is | state identity
be | between jobs/out of work | nothing | is | state identity
be | on parental leave/on maternity leave/on sick leave | nothing | is | state identity
be | on leave/on holiday/on vacation/off/away/out of office | nothing | is | state dated
be | on call/on duty | nothing | is | state dated
be | /more of | leaning | is | state preference
be | | own-age | age | state one identity
be | | age | age | state one identity
turn | | age-number | age | event one identity
outgrow | | outgrown | is allergic to | end
be | treated by/being treated by/a patient of | carer | sees | state identity
be | under the care of/in the care of/registered with | carer | sees | state identity
find | | helper | has | begin
go | to school in/to university in/to college in | place | went to school in | event identity
go | to | carer | sees | state identity
see | | carer | sees | state identity
be | a fan of/a big fan of/a huge fan of/a great fan of | fond | likes | state preference
be | fond of/very fond of/keen on/very keen on/into | fond | likes | state preference
be | crazy about/mad about/passionate about/partial to | fond | likes | state preference
be | obsessed with/addicted to/fascinated by | fond | likes | state preference
be | interested in/very interested in/really interested in | fond | likes | state preference
detest/loathe/despise/hate/dislike | | liked | likes | state preference not
like | | taken | likes | state preference
prefer | to | act | prefers | state preference
prefer | | thing | prefers | state preference
like/love/enjoy/adore | | liked | likes | state preference
hate | | undergone | likes | state preference not
care | for | liked | likes | state preference denied
stand/bear/stomach/abide | | liked | likes | state preference cannot
eat/touch | | meal | eats | state constraint denied
do | | undone | does | state preference denied
work | with | undone | works with | state preference cannot
avoid | | meal | avoids | state constraint
stay | away from/clear of/off | meal | avoids | state constraint
drink | | meal | drinks | state constraint denied
tolerate | | meal | tolerates | state constraint denied
smoke | | nothing | smokes | state constraint denied
smoke | | nothing | smokes | state
start/begin | smoking | nothing | smokes | begin
start | drinking | nothing | drinks | begin
drink | | nothing | drinks | state constraint denied
fly | | nothing | flies | state constraint denied
drive | | nothing | drives | state constraint denied
speak/talk | | language | speaks | state identity
be | bilingual in/a native speaker of/fluent in | language | speaks | state identity
know | some/a little/a bit of | language | speaks | state identity
read | | language | reads | state identity
learn | | skill | is learning | event ongoing
understand | | tongue | understands | state identity
learn | | language | is learning | event ongoing
teach | myself | language | speaks | event identity
understand | a bit of/a little/some | language | understands | state identity
speak | | languages | speaks | state identity
be | raised/brought up | bilingual | speaks | event identity
grow | up | bilingual | speaks | event identity
study | | subject | studied | event ongoing identity
study | at/in | place | studied at | event identity
graduate | | nothing | graduated | event identity
graduate | from/in/with | subject | graduated from | event identity
do | | degree | is doing | event ongoing identity
train | to be/to become/as | role | trains as | event ongoing identity
be | enrolled in/enrolled at | thing | studies | state identity
sign | up for | thing | signed up for | event
write | | degree | is writing | event ongoing
take | | exam | took | event
leave | | school | left school | event identity
get | into/accepted into/accepted at | place | goes to | begin identity
get | into | doing | took up | event
get | into | school | goes to | begin identity
be | at university in/at school in/at college in/studying in | place | studied at | state identity
major | in | subject | studied | event ongoing identity
earn/make | | income | earns | state one identity
pay | | rate | pays | state
owe | | debt | owes | state
need | | carried | needs | state constraint
train | for | race | is training for | state ongoing
save | for/up for/up to buy | owned | is saving for | state ongoing
start | /at | school | goes to | begin identity
enrol/enroll | in/at/on | thing | studies | begin identity
hand | in | degree | finished | event identity
retrain | as/to be | role | trains as | event ongoing identity
drop | out of | begun | left | event identity
go | to | school | goes to | state identity
attend | | school | goes to | state identity
take | | class | takes | state ongoing
pass | | exam | passed | event
fail | | exam | failed | event
finish | | degree | finished | event identity
start | | doing | started | event dated
take | up | hobby | took up | event
join | | owned | joined | begin dated
join | | group | joined | begin
be | to | place | visited | event
be | on/in | circle | member of | state
be | a member of/a member at | group | member of | state
be | engaged to | name | engaged to | state one identity
be | insured with/insured by | firm | insured with | state one
be | engaged to/married to | lover | married to | state one identity
see/date | | lover | partner | state ongoing identity
be | in a relationship with/together with | lover | partner | state one identity
marry | | name | married to | begin one identity
get | married to | name | married to | begin one identity
get | engaged to | name | engaged to | begin one identity
be | together | nothing | is | since state identity
get | | marital | state single | begin one identity
break | up with | name | relation | end identity
split | up with/from | name | relation | end identity
split/break | up | nothing | relation | end identity
separate | | nothing | relation | end identity
divorce | | nothing | state single | event identity
divorce | | name | relation | end identity
die | | nothing | died | event
die | at the age of/aged/at | age-number | died | event
escape | | nothing | escaped | event
break | /down | nothing | broke | event
pass | away | nothing | died | event
play | | sport | plays | state
play | for/in | group | plays for | state
sing | in | group | sings in | state
volunteer | at/for/as | firm | volunteers at | state
teach | | subject | teaches | state identity
share | | home | shares | state
cycle/walk/drive | to | commute | commutes | state
take | the bus to/the train to/the tram to | commute | commutes | state
take | the tube to/the metro to/the ferry to | commute | commutes | state
give | birth to | thing | has | event identity
expect | | child | expects | state ongoing
expect | | nothing | expects | state ongoing
visit | | place | visited | event dated
travel | to | place | visited | event dated
go | to/back to/back home to/home to | place | visited | event dated
open/launch | | business | opened | event
run | | business | runs | state identity
end | up in/up living in/up back in | place | lives in | begin one identity
be | at | college | goes to | state identity
be | put in charge of | charge | leads | begin identity
be | in charge of/responsible for | charge | leads | state identity
get | | fitted | has | event
have | | bad-part | has | state identity
have | | fixtures | has | state
spend | | stay | spends | event ongoing
be | promoted | nothing | promoted | event dated
be | in/in my/in his/in her/in their | year | is in | state identity
be | in | field | works in | state identity
be | referred to/seen by/operated on by | carer | sees | begin identity
be | on | regime | is on | state
fly/run | away/off | nothing | escaped | event
go | missing | nothing | escaped | event
finish | | school | finished | event identity
find | | home-in | has | begin identity
be | due/due date | nothing | is due | state
have | | tickets | has | state
get | | tickets | has | begin
have | | fans | has | state
try | | counted | has tried | event
visit | | counted | has visited | event
read | | counted | has read | event
complete | | counted | has completed | event
finish | | counted | has finished | event
lose | | pounds | has lost | event
gain | | pounds | has gained | event
have | the same | thing | has | since state
get/have | | jab | had | event identity
take | my coffee/my tea/my eggs/my steak | served | takes | state preference
be | | body-measure | measures | state one identity
be | in my/in his/in her/in their | decade | age | state identity
be | up in/down in/over in/out in | place | lives in | state
"""
