"""English cue words.

Data alone: no rule is decided here.
"""

from daemon.agents.models.cues import Cues, Verbs, Wording, counted, forms, nouns, phrased, valued, words

ENGLISH = Cues(
    language="en",
    known_by=words(
        "no longer the and is are was were be been to of for with on at by this that it its we you they"
        " he she i i'm i've it's don't not have has had will would should can do does did my our your"
        " their from about but what when there please need need's just as or if so up out all"
    ),
    signs="",
    abbreviations=words(
        "approx est ca e.g i.e min mins hr hrs no vs mr mrs jan feb apr jun jul aug sep sept oct nov dec incl"
    ),
    segment_words=words("but and however so because though otherwise"),
    negations=words(
        "nothing nobody not no never none without isnt isn't dont don't doesnt doesn't wont won't cant"
        " can't cannot havent haven't hasnt hasn't didnt didn't arent aren't shouldnt shouldn't wasnt"
        " wasn't aint ain't neither nor hardly non"
    ),
    past=words(
        "knew got went came was were had did took spent lasted ended yesterday ago already worked used"
        " been kept last"
    ),
    conditions=words("if whether unless maybe perhaps might could would've nice"),
    due=phrased(
        "deadline … : | due date … : | due date is | due date | due on | due by | due | deadline is |"
        " deadline | deadline moved to | deadline is now | no later than | not later than | at the"
        " latest by | by | before"
    ),
    latest=phrased("at the latest | latest"),
    day_leads=phrased("on the"),
    day_parts=words(""),
    until=phrased("until | till"),
    until_not_with=words(
        "contract runs lease away out off closed hold wait waiting blocked vacation holiday leave sick"
        " busy paused open valid here there free on-call stay staying lasts"
    ),
    due_not_after=words(
        "months day days week weeks night evening month hours minutes met seen standing stand close"
        " from between"
    ),
    due_fillers=words("is on by at this coming of for latest no later than the moved to now end"),
    within=phrased("within | within the next | in less than | due in | inside of"),
    ahead="in",
    short_weekdays=words("mon tue tues wed thu thur thurs fri sat sun"),
    short_weekdays_stand=True,
    day_not_before=words("next after in or of"),
    takes=phrased(
        "takes | take | will take | should take | would take | going to take | can take | to take |"
        " needs | this'll take | it'll take | that'll take | 'll take | will need | should need |"
        " estimate is | estimated at | estimated | estimate | est | effort | duration"
    ),
    about=phrased(
        "reckon | about | around | roughly | approximately | approx | circa | ca | up to | at most | ~"
    ),
    about_after=words(
        "it's its it is that's that this should be probably i think guess reckon say only just another"
        " a couple of hours"
    ),
    take_fillers=phrased(
        "me | us | you | about | around | roughly | approximately | approx | some | up to | at most |"
        " only | is | of | ca | like | at least | probably | another | ~"
    ),
    duration_not_with=words(
        "flight flights train bus drive delivery shipping ferry journey commute movie film trip parcel"
        " package"
    ),
    duration_not_after=words(
        "in for after within every since over last past next another during wait waited costs"
    ),
    duration_not_before=phrased(
        "left | are left | remaining | of it left | ago | late | later | away | from | drive | walk |"
        " flight | old | before | after | per | each | daily | weekly | a day | a week | a month |"
        " every | into | behind | ahead | early | earlier | notice"
    ),
    numbers={"forty-five": 45, "one and a half": 1.5, "two and a half": 2.5, "fifteen": 15},
    amounts=counted(
        {
            15: "a quarter of an hour | quarter of an hour | quarter hour",
            30: "half an hour | half hour | half a hour",
            45: "three quarters of an hour",
            90: "an hour and a half",
            120: "a couple of hours | couple of hours | a couple hours",
            240: "half a day | half day",
            480: "a whole day | a full day",
            960: "a couple of days | couple of days",
        }
    ),
    to=phrased("to | or"),
    and_a_half=phrased("and a half"),
    minutes=phrased("m | min | mins | minute | minutes"),
    hours=phrased("h | hr | hrs | hour | hours"),
    days=phrased("day | days | workday | workdays"),
    to_do=phrased(
        "todo | to do | to-do | todos | to dos | to-dos | need to | needs to | have to | must |"
        " remember to | next steps | next step | next up | steps | tasks | action items | actions |"
        " action points | still to do | remaining | still missing | still open | open points | don't"
        " forget | do not forget | remember | shopping | shopping list | to buy | buy | bring | pack |"
        " packing list | checklist | we need | i need | still need | needed | left to do | what's left"
    ),
    and_words=phrased("and | &"),
    finished=phrased(
        "done | finished | completed | complete | sorted | taken care of | ticked off | wrapped up |"
        " ready | ✓ | ✔ | ✅ | ☑"
    ),
    unfinished=words(
        "he'll she'll they'll i'll we'll it'll that'll you'll wish hope wrong almost nearly half"
        " halfway partly will should must need needs to-be being going start started begin except when"
        " once after until before hopefully soon todo want wants would ought half-way mostly someone"
        " get can"
    ),
    verbs=Verbs(
        last=False,
        forms=forms(
            "buy: bought | write: wrote written | pay: paid | send: sent | make: made | get: got |"
            " find: found | choose: chose chosen | take: took taken | ring: rang rung | bring: brought"
            " | sell: sold | tell: told | meet: met | build: built | read: read | hang: hung | draw:"
            " drew drawn | do: did done | give: gave given | speak: spoke spoken | put: put | set: set"
            " | cut: cut | submit: submitted | plan: planned | ship: shipped | drop: dropped | return:"
            " returned | hold: held | leave: left | think: thought | teach: taught | win: won | run:"
            " ran run"
        ),
        endings=(("e", ("ed",)), ("y", ("ied", "yed")), ("", ("ed",))),
        auxiliaries=words("is are was were been got has have i've we've all now already finally"),
        of_others=words("has"),
        contact=words("call ask ring phone email text tell meet contact message remind thank inform invite"),
        acts=words(
            "call ask ring phone email text buy book order send write pay check fix update review"
            " schedule prepare print clean find get make set install remove add test ship plan draft"
            " read sign cancel renew return pick bring collect confirm organise organize contact remind"
            " tell invite measure compare upload download cut sand paint move sort replace order cook"
            " wash finish submit arrange talk reply answer follow look try"
        ),
    ),
    blocked=phrased(
        "blocked by | blocked on | blocked until | blocked : | blocked because | waiting for | waiting"
        " on | stuck on this | stuck until | stuck because | can't continue until | cannot continue"
        " until | can't proceed until | cannot proceed until | held up by | can't start until | depends"
        " on a reply from"
    ),
    blocked_not_before=words("me us you"),
    blocked_not_with=words("kettle coffee tea bus train taxi tram dinner"),
    on_hold=phrased(
        "on hold | paused | pausing this | parked | parking this | shelved | put on ice | on ice | on"
        " the back burner"
    ),
    resumed=phrased(
        "unblocked | no longer blocked | not blocked any more | not blocked anymore | no longer waiting"
        " | can continue | back on track | off hold | no longer on hold | resumed | resuming"
    ),
    started=phrased(
        "i started | i've started | i have started | we started | we've started | we have started |"
        " started working on | started on | got started | i began | we began | i'm working on | i am"
        " working on | we're working on | working on it | working on this | started with"
    ),
    urgent=valued(
        P0="drop everything | emergency | critical",
        P1="urgent | urgently | asap | as soon as possible | high priority | top priority",
    ),
    urgent_not_before=words(
        "path paths section sections mass thinking review reviews acclaim care role room"
    ),
    urgent_not_after=words("less self more most"),
    priority=phrased("priority | prio"),
    low_priority=phrased("low priority | lowest priority | low prio"),
    rename=phrased(
        "rename it to | rename this to | rename the task to | rename this task to | rename to | retitle"
        " to | retitle it to | let's call it | let's call this | call this task | call the task"
    ),
    rename_quoted=phrased("call it | call this | title should be | new title | better title | title"),
    label=phrased("label | labels | tag | tags | under"),
    wording=Wording(
        says="The note says: “{quote}”",
        listed="Listed in the note.",
        names="The note names “{name}”.",
        evidence="The note of {day} says: “{quote}”",
        items="checklist {done}/{total}",
        due="due {due}",
        about="about {minutes} min",
        rejected="Rejected: {what}",
        blocked="waits: {why}",
        nouns=nouns("title | estimate | due date | priority | status | label | item"),
    ),
)
