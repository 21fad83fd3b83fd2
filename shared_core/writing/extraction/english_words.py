"""The English words the rules know: verbs with what each says of its subject, and closed word lists.

A verb's line is `base[/past[/participle]] | frame | frame`, regular forms made by rule. A frame is
`particles > predicate kind tenses`: the words that must follow the verb (`-` for none, alternatives
split by commas, `_` for a space), the predicate, how the object is read (see `english.py`), and the
tenses in which the sentence states a fact:

  p  present simple ("I live in")          g  present progressive ("I'm living in")
  d  past simple, it happened              f  present perfect ("I've adopted")
  h  perfect progressive ("I've been …")   D  past simple, so it has ended ("I lived in")
  x  any of these ends it ("I sold", "I stopped eating")
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

VERBS: Final = """
live | in,at > lives_in place pghfD
reside | in > lives_in place pghfD
move/moved | from > lives_in fromto df | to,back_to,over_to,out_to,down_to,up_to,into > lives_in place df | out_of > lives_in place dfx
relocate | from > lives_in fromto df | to > lives_in place df
settle | in,down_in > lives_in place df
work | at,for > works_at org pghfD | as > works_as job pghfD | on > works_on topic ghf | in > works_in area pghfD
intern | at,with > works_at org pghfD
study/studied | at > studies_at org pghfD | - > studies subject pghfD
major | in > studies subject pgdf
minor | in > studies subject pgdf
graduate | from > graduated_from org df
attend | - > attended happening df | - > studies_at school pg
like | to > likes activity p | - > likes taste p
love | to > likes activity p | - > likes taste pf
enjoy | - > likes taste pf
adore | - > likes taste p
hate | to > likes activity p! | - > likes taste p!
dislike | - > likes taste p!
detest | - > likes taste p!
despise | - > likes taste p!
loathe | - > likes taste p!
prefer/preferred | to > prefers activity p | - > prefers prefer p
eat/ate/eaten | - > eats food np
drink/drank/drunk | - > drinks food np
depend | on > uses tool p
smoke | - > practises self n
stop/stopped | eating > eats food dfx | drinking > drinks food dfx | using > uses list dfx | working_at,working_for > works_at org dfx | going_to > practises activity dfx | playing > plays game dfx | smoking > quit smoke df
own | - > owns thing pfD
drive/drove/driven | - > owns vehicle p
ride/rode/ridden | - > owns vehicle p
buy/bought/bought | - > owns thing df
purchase | - > owns thing df
order | - > owns thing f
adopt | - > owns adoptee df
get/got/gotten | married_to > married_to person df | married > marital_status =married df | engaged_to > engaged_to person df | engaged > marital_status =engaged df | divorced > marital_status =divorced df | promoted_to > works_as job df | back_from > visited trip df | a_job_at,a_job_with,hired_at,hired_by,a_new_job_at > works_at org df | a_job_as,a_new_job_as,hired_as > works_as job df | accepted_for,accepted_into,accepted_to,into > won prize df | accepted_into,accepted_to,into > studies_at school df | rid_of > owns thing dfx | - > started newjob df | - > owns ownable df | - > won prize df | - > member_of gathering df
receive | - > received gift df
inherit | - > owns thing df
rescue | - > owns ownable df
sell/sold/sold | - > owns thing dfx
return | from > visited trip df
use | - > uses list phf
switch | from > uses fromto df | to,over_to > uses list df
adopt_the | - > uses list df
join | - > member_of group df
sign/signed/signed | up_for,up_to > member_of gathering df
enroll/enrolled | in > member_of gathering df
register | for > member_of gathering df
belong | to > belongs_to org p
leave/left/left | my_job_at,my_position_at > works_at org dfx | - > works_at employer dfx
quit/quit/quit | my_job_at,working_at,working_for > works_at org dfx | - > quit habit df
resign | from > works_at org df x
retire | from > works_at org dfx
teach/taught/taught | at > works_at org pghf | - > teaches subject pgh
coach | - > coaches list pgh
mentor | - > teaches people pgh
run/ran/run | - > completed race df | - > runs business ph
manage | - > runs business ph
lead/led/led | - > runs business p
found_it/founded | - > founded thing df
establish | - > founded thing df
open | - > works_on venture gh | up > founded business df | - > founded business df
launch | - > works_on venture gh | - > started thing df
start | - > works_on venture gh | learning_to,learning_how_to,to_learn_to > learns activity dfgh | learning,studying,to_learn > learns subject dfgh | working_at,working_for,at,a_new_job_at,a_job_at,my_new_job_at > works_at org df | a_new_job_as,a_job_as,my_new_job_as,working_as > works_as job df | teaching,coaching > teaches subject df | using > uses list df | playing > plays game df | volunteering_at > volunteers_at org df | to > started mental df | - > started begun df
begin/began/begun | learning_to,learning_how_to > learns activity dfgh | learning,studying,to_learn > learns subject dfgh | working_at,working_for > works_at org df | working_on > works_on topic df | - > started begun df
take/took/taken | up > started begun df | a_road_trip,a_short_trip,a_trip,a_solo_trip,a_weekend_trip > did =self df | part_in > attended happening df | - > visited tookto df | a_trip_to,a_road_trip_to,a_vacation_to,a_vacation_in,a_holiday_in > visited trip df | - > attended gathering dfgh | my_fam,my_family,the_kids,my_kids > did outing df
finish | - > finished done df
complete | - > finished done df
win/won/won | - > won prize df
earn | - > won prize df
pass | - > passed exam df
visit | - > visited trip df
go/went/gone | to > visited trip df | - > practises outing p | through_with > did nothing d | on,for > visited tripto df | vegan,vegetarian,pescatarian,gluten-free,sober > diet =self df | back_to > visited trip df | - > did outing df | to > studies_at school p
travel/traveled | to,around,through > visited trip df
fly/flew/flown | to > visited trip df
hike | - > did trail df
tour | - > visited trip df
explore | - > visited trip df
speak/spoke/spoken | - > speaks language p
play | for > member_of group pgh | in > member_of gathering pgh | - > plays game pgh
sing/sang/sung | in > member_of group pgh | at > performed happening df
practice | - > practises routine gh | - > practises sport p
practise | - > practises routine gh | - > practises sport p
do/did/done | - > practises sport pgh | - > attended event d
learn | how_to,to > learns activity gh | - > learns subject gh
perform | at,in > performed happening df
volunteer | at,with,for > volunteers_at org pghdf | in > volunteers_at happening pghdf
participate | in > attended happening df
compete | in > attended happening df
host | - > organised happening df
organize | - > organised happening df
organise | - > organised happening df
celebrate | - > attended occasion df
make/made/made | - > made work df
paint | - > works_on project gh | - > made craft df
draw/drew/drawn | - > made work df
write/wrote/written | - > works_on project gh | - > made craft df
bake | - > made work df
cook | - > made work df
build/built/built | - > works_on project gh | - > made craft df
design | - > works_on project gh | - > made craft df
compose | - > works_on project gh | - > made craft df
create | - > works_on project gh | - > made work df
sew/sewed/sewn | - > works_on project gh | - > made craft df
knit/knit/knit | - > works_on project gh | - > made craft df
crochet | - > works_on project gh | - > made craft df
carve | - > made work df
publish | - > published thing df
submit/submitted | - > published work df
record | - > made song df
read/read/read | - > read book dfgh
watch | - > watched film dfgh
see/saw/seen | - > watched show df
lose/lost/lost | - > lost loss df
break/broke/broken | - > injured body df
injure | - > injured body df
hurt/hurt/hurt | - > injured body df
sprain | - > injured body df
meet/met/met | - > met someone df
donate | - > donated thing df
try/tried/tried | out > tried novelty dfg | - > tried novelty dfg
collect | - > collects list pgh
develop | - > works_on project gh | - > made work df
marry/married/married | - > married_to person df
decide | to > decided activity d | on > decided thing d
choose/chose/chosen | to > decided activity d
grow/grew/grown | up_in > from place df
team | up_with > works_with thing df
collaborate | with > works_with thing dfgh
partner | with > works_with thing df
acquire | - > owns thing df
find/found/found | - > discovered novel df
suffer | from > has_condition thing pfh
apply/applied | to,for > applied_to thing df
pick | up > started begun df
give/gave/given | - > performed talk df
train | for > prepares_for thing gh
prepare | for > prepares_for thing gh
film | - > works_on project gh | - > made craft df
organize_it | - > works_on project gh
edit | - > works_on project gh
rehearse | for > prepares_for thing gh
renovate | - > works_on project gh | - > completed thing f
interview | at,with > applied_to org df
beat/beat/beaten | - > won prize df
coauthor | - > made work df
"""

RUN_VERBS: Final = frozenset("use run belong depend".split())


@dataclass(frozen=True, slots=True)
class Frame:
    """What a verb with these particles says of its subject."""

    particles: tuple[str, ...]
    predicate: str
    kind: str
    tenses: str


@dataclass(frozen=True, slots=True)
class Verb:
    """A form of a verb: its base, the tenses this form serves, and its frames."""

    base: str
    forms: frozenset[str]  # of base, third, past, participle, ing
    frames: tuple[Frame, ...]


def _regular(base: str) -> tuple[str, str, str]:
    """Third person, past and ing form of a regular verb."""
    third = base + ("es" if re.search(r"(?:s|x|z|ch|sh|o)$", base) else "s")
    if re.search(r"[^aeiou]y$", base):
        return base[:-1] + "ies", base[:-1] + "ied", base + "ing"
    if base.endswith("e"):
        return third, base + "d", base[:-1] + "ing"
    return third, base + "ed", base + "ing"


_DOUBLED: Final = frozenset("stop prefer enroll get run begin win travel quit submit knit sit".split())


@lru_cache(maxsize=1)
def verbs() -> dict[str, Verb]:
    """Every form of every verb."""
    forms: dict[str, dict[str, set[str]]] = {}
    frames: dict[str, list[Frame]] = {}
    for line in VERBS.strip().splitlines():
        head, *parts = [part.strip() for part in line.split("|")]
        base, *irregular = head.split("/")
        base = {"found_it": "found", "adopt_the": "adopt", "organize_it": "organize"}.get(base, base)
        third, past, ing = _regular(base)
        if base in _DOUBLED and not base.endswith("ll"):
            ing = base + base[-1] + "ing"
        past = irregular[0] if irregular else past
        participle = irregular[1] if len(irregular) > 1 else past
        for form, role in ((base, "base"), (third, "third"), (past, "past"), (participle, "participle"), (ing, "ing")):
            forms.setdefault(form, {}).setdefault(base, set()).add(role)
        frames.setdefault(base, []).extend(_frame(part) for part in parts)
    for form, base in (("travelled", "travel"), ("learnt", "learn"), ("ive", "have")):
        if base in frames:
            forms.setdefault(form, {}).setdefault(base, set()).update(("past", "participle"))
    found: dict[str, Verb] = {}
    for form, bases in forms.items():
        base = min(bases, key=lambda name: (name != form, name))
        if form == "found":
            base = "find"  # "I found a shell" is no foundation
        found[form] = Verb(base, frozenset(bases[base]), tuple(frames[base]))
    return found


@lru_cache(maxsize=1)
def pasts() -> dict[str, str]:
    """The simple past of each base form."""
    return {verb.base: form for form, verb in verbs().items() if "past" in verb.forms}


def _frame(part: str) -> Frame:
    left, right = part.split(">")
    particles = () if left.strip() == "-" else tuple(p.replace("_", " ") for p in left.strip().split(","))
    predicate, kind, *tenses = right.split()
    return Frame(tuple(sorted(particles, key=len, reverse=True)), predicate, kind, "".join(tenses))


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


KIN: Final = {
    **{word: word for word in ("sister brother mother father wife husband partner girlfriend boyfriend son daughter"
       " child grandmother grandfather grandson granddaughter aunt uncle cousin niece nephew friend colleague boss"
       " manager roommate neighbour teacher mentor coach doctor stepmother stepfather twin student").split()},
    "mom": "mother", "mum": "mother", "dad": "father", "grandma": "grandmother", "grandpa": "grandfather",
    "fiance": "fiance", "fiancé": "fiance", "fiancée": "fiance", "fiancee": "fiance", "neighbor": "neighbour",
    "flatmate": "roommate", "coworker": "colleague", "buddy": "friend", "bestie": "friend", "bf": "boyfriend",
    "gf": "girlfriend", "kid": "child", "granny": "grandmother", "spouse": "partner", "hubby": "husband",
    "stepmom": "stepmother", "stepdad": "stepfather", "friends": "friend", "sisters": "sister", "brothers": "brother",
    "kids": "child", "sons": "son", "daughters": "daughter", "children": "child",
}  # fmt: skip
FAMILY: Final = words(
    "sister sisters brother brothers kid kids child children son sons daughter daughters twins twin cousin cousins"
    " niece nieces nephew nephews grandchildren grandson granddaughter grandkids wife husband girlfriend boyfriend"
    " partner sibling siblings stepson stepdaughter baby fiancé fiancée fiance fiancee"
)
PETS: Final = words(
    "dog dogs cat cats puppy puppies kitten kittens pup pups doggo rabbit rabbits hamster parrot goldfish tortoise"
    " turtle turtles horse pony retriever labrador lab poodle terrier corgi husky beagle collie dachshund bulldog"
    " shepherd tabby guinea-pig snake lizard gecko canary budgie cockatiel ferret hedgehog bunny bird fish pet pets"
    " kitty kitties chihuahua pug spaniel siamese axolotl iguana chickens hens goat goats"
)
OWNABLE: Final = PETS | words(
    "car bike bicycle motorbike motorcycle scooter van truck boat vespa jeep campervan laptop phone smartphone computer"
    " pc tablet ipad iphone macbook camera drone console telescope printer keyboard headphones guitar piano violin"
    " ukulele cello drums saxophone house apartment flat condo cottage cabin allotment garden farm shoes boots sneakers"
    " tattoo jacket dress coat jersey watch ring necklace bracelet bookcase bookshelf couch sofa desk bed fridge oven"
    " skateboard surfboard snowboard kayak tent backpack scarf sweater hoodie t-shirt shirt figurine figurines poster"
    " suv sedan playstation xbox switch kindle monitor tv microphone easel sewing-machine loom bowl plant plants"
    " collection shop store restaurant cafe bakery studio studios"
)
GOODS: Final = OWNABLE | words("book books game tickets ticket")
VEHICLES: Final = words(
    "car bike bicycle motorbike motorcycle scooter van truck jeep tesla toyota honda ford vespa bmw audi volvo subaru"
    " corolla civic prius mazda nissan fiat mini volkswagen vw mercedes harley pickup suv hatchback sedan kia hyundai"
)
JOBS: Final = words(
    "nurse doctor teacher engineer developer programmer lawyer attorney chef cook pilot firefighter cto ceo cfo coo"
    " accountant architect dentist vet veterinarian plumber electrician carpenter barista waiter waitress journalist"
    " reporter editor translator interpreter designer artist painter sculptor musician singer dancer actor actress"
    " director producer photographer writer author novelist poet scientist researcher professor lecturer tutor librarian"
    " therapist psychologist counselor counsellor psychiatrist surgeon paramedic pharmacist physiotherapist midwife"
    " consultant analyst manager salesperson cashier clerk secretary receptionist assistant technician mechanic driver"
    " farmer gardener florist baker butcher tailor hairdresser barber cleaner janitor guard officer soldier policeman"
    " policewoman detective judge paralegal economist statistician biologist chemist physicist geologist historian"
    " entrepreneur freelancer contractor intern apprentice bartender instructor trainer athlete footballer goalkeeper"
    " blogger streamer youtuber influencer banker broker realtor agent recruiter curator archaeologist astronomer"
    " astronaut sailor fisherman builder bricklayer welder roofer courier postman pastor priest nun monk diplomat"
    " politician mayor senator lead head vp president supervisor administrator sysadmin devops superintendent caregiver"
    " babysitter nanny screenwriter playwright illustrator animator composer conductor drummer guitarist pianist"
    " violinist bassist dj choreographer stylist model tester"
)
CLASSES: Final = words(
    "student undergraduate freshman sophomore junior senior mother mom mum father dad parent grandmother grandfather"
    " immigrant refugee veteran citizen christian muslim buddhist jew hindu atheist catholic introvert extrovert vegan"
    " widow widower twin feminist pacifist woman man native resident alumnus alumna graduate postdoc beginner"
    " polyglot minimalist"
)
DIETS: Final = words(
    "vegetarian vegan pescatarian gluten-free lactose-intolerant kosher halal dairy-free keto celiac coeliac"
)
CONDITIONS: Final = words(
    "asthma diabetes migraines epilepsy arthritis adhd autism dyslexia insomnia anemia hypertension depression eczema"
    " celiac tinnitus ptsd ocd scoliosis hypothyroidism endometriosis cancer lupus psoriasis"
)
LANGUAGES: Final = words(
    "english spanish catalan french german italian portuguese dutch swedish norwegian danish finnish polish czech"
    " russian ukrainian greek turkish arabic hebrew persian farsi hindi urdu bengali tamil telugu punjabi thai vietnamese"
    " indonesian malay tagalog japanese korean chinese mandarin cantonese swahili zulu latin irish welsh basque hungarian"
    " romanian bulgarian serbian croatian slovak slovenian estonian latvian lithuanian icelandic esperanto mongolian"
)
INSTRUMENTS: Final = words(
    "cello violin viola piano guitar bass drums drum flute clarinet saxophone sax trumpet trombone harp ukulele banjo"
    " mandolin accordion harmonica organ keyboard keyboards oboe bassoon recorder sitar"
)
GAMES: Final = words(
    "tennis football soccer basketball baseball volleyball badminton golf hockey rugby cricket squash chess go poker"
    " bridge softball lacrosse handball snooker pool darts pickleball table videogames frisbee scrabble minecraft"
)
SPORTS: Final = words(
    "yoga pilates karate judo aikido taekwondo boxing kickboxing ballet meditation calligraphy archery fencing"
    " gymnastics crossfit parkour capoeira pottery ceramics embroidery woodworking photography origami mindfulness"
    " weightlifting"
)
HAPPENINGS: Final = words(
    "concert festival conference parade wedding party workshop meetup class classes course show match exhibition"
    " exhibit fair rally protest march race marathon event ceremony retreat convention seminar lecture webinar hackathon"
    " tournament competition contest funeral gala fundraiser ball group reunion reading screening play opera gig recital"
    " premiere expo meeting camp dinner championship program auction audition networking drive walk march parade game"
)
GATHERINGS: Final = words(
    "class classes course courses workshop lessons program programme club team group gym choir band league society"
    " orchestra bootcamp academy seminar training camp school volunteering"
)
SCHOOLS: Final = words("school university college academy institute polytechnic conservatory seminary kindergarten")
PRIZES: Final = words(
    "prize award medal tournament contest competition championship title scholarship trophy certificate degree diploma"
    " promotion license licence race game match cup grant first second third lottery election internship endorsement"
    " residency belt regionals nationals marathon"
)
RACES: Final = words("marathon race 5k 10k half-marathon triathlon ultramarathon")
ACTIVITIES: Final = words(
    "swimming running painting writing dancing surfing cooking baking hiking cycling jogging meditating gardening gaming"
    " streaming blogging knitting crocheting drawing singing skating skiing climbing exercising journaling sewing coding"
    " volunteering rowing fencing boxing biking"
)
OUTINGS: Final = words(
    "camping hiking fishing skiing snowboarding surfing kayaking diving snorkeling swimming climbing sailing biking"
    " cycling backpacking bowling skydiving birdwatching clubbing sledding canoeing rafting stargazing"
)
SHOWS: Final = words("movie film play musical opera show concert exhibition documentary ballet performance")
BOOKS: Final = words("book books novel memoir biography series story stories article articles poem poems comic manga")
EXAMS: Final = words("exam exams test driving-test interview bar course")
BODY: Final = words("leg arm ankle wrist knee shoulder back hip finger toe foot hand rib collarbone elbow neck nose")
LOSSES: Final = words(
    "job dog cat mother father mom dad grandmother grandfather grandma grandpa wallet phone keys home house bag passport"
    " brother sister friend aunt uncle husband wife ring luggage game pet visa"
)
WORKS: Final = words(
    "mural painting paintings drawing picture portrait sketch book novel story stories poem poems song songs album"
    " screenplay script play article blog essay letter cake cakes cookies bread pie dessert desserts pizza pasta soup"
    " ice cream dinner lasagna sculpture bowl pot vase mug cup quilt scarf sweater hat dress shirt table chair shelf"
    " shed treehouse house robot app website game video film movie documentary podcast necklace bracelet card garden"
    " bench birdhouse model lamp jewelry costume piece pieces collage scrapbook logo poster dish recipe sushi curry"
    " muffins cupcakes meal sandcastle website collection design designs plate figurine stand trail sourdough loaf"
)
GIFTS: Final = words(
    "letter package award medal gift present scholarship diploma offer certificate book necklace postcard flowers"
    " invitation grant promotion degree admission ring email card check endorsement trophy"
)
BUSINESSES: Final = words(
    "shop store restaurant cafe café bakery studio company business clinic gym school bar salon gallery startup agency"
    " farm firm nonprofit charity foundation brewery hotel hostel bookshop bookstore workshop practice team lab club"
    " blog channel"
)
EVALUATIONS: Final = words(
    "great good nice bad amazing awesome awful terrible wonderful fantastic lovely beautiful huge big real true total"
    " complete such perfect best worst super fun cool sweet kind happy sad lucky proud little bit mess lot better worse"
    " incredible special important hard easy tough powerful genius idiot liar star hero angel treat joke shame pity"
    " pleasure problem issue pain challenge blessing gift dream failure success loser winner fool natural keeper mystery"
    " thing way kind sort part reason reminder matter time day place source journey must bummer blast handful testament"
    " long excellent useful interesting simple disaster nightmare piece game-changer thrill rockstar legend inspiration"
    " solid magical wild crazy unique different nice fine delicious valuable vital key excited guest person people"
    " classic must-visit must-see must-read hit masterpiece bop breeze delight darling sweetheart cutie gem lifesaver people-person jerk moron hoot clown"
)
VAGUE: Final = words(
    "it that this these those them they you him her us me something anything everything nothing someone anyone stuff"
    " things thing one ones some any all lots lot more much many what whatever how why when where who which whether if"
    " there here so such time chance idea call way fun sense progress sure part break moment peace help work each both"
    " having seeing being knowing how's hearing it's that's idea ideas everyone everybody another other"
    " feeling feedback results note support everyone pics pic picture pictures photo photos advice opportunity"
)
NOT_NAMES: Final = words(
    "i the a an this that these those my your our his her its their he she it we they you there here what who how why"
    " when where which and but or so if then now today yesterday tomorrow monday tuesday wednesday thursday friday"
    " saturday sunday january february march april may june july august september october november december hey hi hello"
    " oh wow yes no yeah yep nope ok okay thanks thank congrats sounds looks love great good nice cool awesome sorry"
    " please maybe perhaps well also just still even only really actually currently recently lately music art writing"
    " reading dance dancing painting life work home family friends everyone everybody someone nobody people kids nothing"
    " everything something one two three not never always sometimes usually often after before since while during last"
    " next every each some any all most both many few more another other in on at for with from by of to about let's"
    " let glad happy hope hopefully wish guess gotta gonna can could would should will may might must do does did have"
    " has had is are was were be being been got get seems feels as than though although because nature losing having"
    " practice volunteering helping learning cooking camping hiking god mom dad jesus btw lol haha omg ugh aww aw such"
    " talking seeing being doing going making taking basketball pottery yoga running swimming school college english"
    " remember note translate write fix imagine suppose pretend bye anyway anyways surely sure definitely absolutely"
    " totally plus its it's that's what's there's here's i'm i've i'd i'll you're they're we're self-care fashion"
    " mr mrs ms dr"
).union("whoever whatever whichever until unless once instead again ever".split())
