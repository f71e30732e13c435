"""Romanian cue words.

Data alone: no rule is decided here.
"""

from daemon.agents.models.cues import Cues, Verbs, Wording, counted, forms, nouns, phrased, valued, words

ROMANIAN = Cues(
    language="ro",
    known_by=words(
        "și si este e sunt nu cu la de pe din pentru că să sa în in un o al ai am a au mai este fost"
        " era până pana dacă daca când cand ce care îmi imi mi-a mi ne îl il le lui lor dar sau cel cea"
        " trebuie vrea azi mâine ieri după dupa fără fara acum foarte încă inca noi eu el ea ei te rog"
        " cam atunci"
    ),
    signs="ășțîşţ",
    abbreviations=words(
        "aprox cca ca etc min nr dl dna dr str ian feb mar apr iun iul aug sep sept oct nov noi dec tel"
        " max ex"
    ),
    segment_words=words("dar și si însă deoarece fiindcă altfel iar"),
    negations=words("nu n-am n-a n-au niciodată fără nici nimic nimeni nu-i"),
    past=words(
        "știa știau venea ținut era erau fusese ieri alaltăieri trecut trecută trecute durat avea aveam fost"
    ),
    conditions=words("dacă daca poate eventual oare ar-fi posibil bine"),
    due=phrased(
        "trebuie predat | trebuie predată | trebuie trimis | termen … : | termen limită … : | termen |"
        " termen limită | termenul este | termenul e | termen până | scadent | scadent pe | scadentă |"
        " scadență | scadența | data limită | deadline | deadline-ul este | deadline-ul e | deadline e"
        " | deadline este | cel târziu | înainte de | până | până la | până pe | până cel târziu | de"
        " predat | de predat până | predat până | pentru"
    ),
    latest=phrased("cel târziu | neapărat"),
    day_leads=phrased("pe data de | în data de"),
    day_parts=words(""),
    until=phrased("până | până la | până pe"),
    until_not_with=words(
        "contractul contract concediu vacanță plecat plecată bolnav bolnavă închis închisă deschis"
        " deschisă valabil valabilă aștept așteptăm așteaptă blocat blocați pauză sunt suntem ocupat"
        " liber disponibil stoc delegație lipsesc absent stau stăm"
    ),
    due_not_after=words(
        "lună ani rezervată zi zile săptămână săptămâni seara noaptea între bilete rezervat întâlnire"
        " programare masă"
    ),
    due_fillers=words("este e pe la data de până cel târziu maxim în ziua acum luna"),
    within=phrased("în termen de | în cel mult | în mai puțin de | în maxim | în următoarele"),
    ahead="peste",
    short_weekdays=words("mar mie vin sam dum"),
    short_weekdays_stand=False,
    day_not_before=words("sau ori peste"),
    takes=phrased(
        "durează | dura | dureze | va dura | ia | va lua | ne ia | îmi ia | o să ia | estimez |"
        " estimare | estimat | estimarea | durata | durată | efort | necesită | am nevoie de | timp"
        " estimat"
    ),
    about=phrased("cam | aproximativ | aprox | în jur de | vreo | circa | cca | ~ | cel mult | maxim"),
    about_after=words("sunt e este cred că zic eu ar asta încă doar"),
    take_fillers=phrased(
        "cam | aproximativ | aprox | în jur de | vreo | circa | cca | doar | cel puțin | cel mult |"
        " maxim | probabil | de | aproape | ~ | e | este"
    ),
    duration_not_with=words(
        "zborul zbor trenul tren autobuzul livrarea livrare călătoria drumul drum filmul ședința"
        " coletul feribotul comanda"
    ),
    duration_not_after=words("în peste după de-acum fiecare acum timp ultimele următoarele de"),
    duration_not_before=phrased(
        "mai târziu | întârziere | în urmă | pe zi | pe săptămână | pe lună | de mers | cu mașina | de"
        " zbor | zilnic | înainte | după | distanță"
    ),
    numbers={"patruzeci și cinci": 45},
    amounts=counted(
        {
            15: "un sfert de oră",
            30: "o jumătate de oră | jumătate de oră | o jumate de oră | jumate de oră",
            45: "trei sferturi de oră",
            90: "o oră și jumătate | o oră jumate | o oră și jumate",
            120: "câteva ore | vreo două ore",
            240: "jumătate de zi | o jumătate de zi",
            480: "o zi întreagă",
        }
    ),
    to=phrased("la | sau | până la"),
    and_a_half=phrased("și jumătate | si jumatate | jumate"),
    minutes=phrased("m | min | minut | minute | de minute"),
    hours=phrased("h | oră | ore | de ore"),
    days=phrased("zi | zile | de zile"),
    to_do=phrased(
        "todo | to do | to-do | de făcut | mai am de făcut | mai e de făcut | rămâne de făcut | de nu"
        " uitat | nu uita | de cumpărat | de luat | trebuie | mai trebuie | pașii următori | următorii"
        " pași | pasul următor | sarcini | lista de cumpărături | cumpărături | lipsesc | mai lipsesc |"
        " de rezolvat | de adus | de împachetat | avem nevoie de | acțiuni"
    ),
    and_words=phrased("și | &"),
    finished=phrased(
        "gata | terminat | terminată | am terminat | făcut | făcută | finalizat | finalizată | încheiat"
        " | încheiată | rezolvat | rezolvată | done | ✓ | ✔ | ✅ | ☑"
    ),
    unfinished=words(
        "greșit greșită greșită aproape jumătate va vor trebuie ar încă când cand după înainte până"
        " urmează începe început curând să sa de-făcut mai vreau vrea pot poate parțial cineva"
    ),
    verbs=Verbs(
        last=False,
        forms=forms(
            "scrie: scris scrisă | cere: cerut cerută cerute | face: făcut făcută | trimite: trimis"
            " trimisă | du: dus dusă | ia: luat luată | vinde: vândut | pune: pus pusă | deschide:"
            " deschis | închide: închis | alege: ales aleasă | verifică: verificat | cheamă: chemat |"
            " întreabă: întrebat | șterge: șters | spală: spălat | vezi: văzut | primește: primit |"
            " tipărește: tipărit | citește: citit | mergi: mers | spune: spus | înscrie: înscris |"
            " caută: căutat | adu: adus | montează: montat | repară: reparat reparată | plătește:"
            " plătit plătită"
        ),
        endings=(
            ("ează", ("at", "ată", "ate", "ați")),
            ("oiește", ("oit", "oită", "oite")),
            ("ește", ("it", "ită", "ite", "iți")),
            ("ă", ("at", "ată", "ate", "ați")),
            ("e", ("ut", "ută", "ute")),
            ("at", ("at", "ată", "ate")),
            ("it", ("it", "ită", "ite")),
        ),
        auxiliaries=words("am a au e este sunt fost"),
        of_others=words("a au"),
        contact=words("sună suna întreabă cheamă anunță contactează invită"),
        acts=words(
            "sună cumpără trimite scrie verifică rezervă plătește întreabă caută pregătește comandă"
            " cere adu ia repară actualizează instalează programează închide deschide spală udă"
            " confirmă anunță tipărește printează citește montează curăță organizează contactează"
            " invită semnează anulează reînnoiește compară măsoară"
        ),
    ),
    blocked=phrased(
        "blocked by | blocat de | blocată de | blocați de | blocat până | blocați până | blocat : | e"
        " blocat | este blocat | aștept | așteptăm | se așteaptă | așteptând | în așteptarea | nu pot"
        " continua până | nu putem continua până"
    ),
    blocked_not_before=words("mă ne te vă"),
    blocked_not_with=words("cafea cafeaua ceaiul apa autobuzul trenul taxiul"),
    on_hold=phrased(
        "pe pauză | în așteptare | în pauză | suspendat | suspendată | amânat pe termen nelimitat |"
        " înghețat | on hold"
    ),
    resumed=phrased(
        "nu mai e blocat | nu mai este blocat | deblocat | putem continua | pot continua | am reluat | reluăm"
    ),
    started=phrased(
        "am început | am inceput | lucrez la | lucrăm la | m-am apucat de | ne-am apucat de | în lucru"
    ),
    urgent=valued(
        P0="critic | critică | urgență maximă | lasă totul",
        P1=(
            "urgent | urgentă | de urgență | cât mai repede | cât mai curând | asap | cât se poate de"
            " repede | prioritate mare | prioritate maximă | prioritate ridicată"
        ),
    ),
    urgent_not_before=words("literar"),
    urgent_not_after=words("mai puțin"),
    priority=phrased("prioritate | prioritatea | prio"),
    low_priority=phrased("prioritate mică | prioritate scăzută | prioritate redusă"),
    rename=phrased(
        "redenumește în | redenumește sarcina în | redenumit în | redenumirea în | schimbă titlul în |"
        " îi zicem | redenumeste in"
    ),
    rename_quoted=phrased("titlu nou | titlul nou | titlul | titlu"),
    label=phrased("etichetă | eticheta | label | tag"),
    wording=Wording(
        says="Notița spune: „{quote}”",
        listed="Enumerat în notiță.",
        names="Notița numește „{name}”.",
        evidence="Notița din {day} spune: „{quote}”",
        items="listă {done}/{total}",
        due="scadent la {due}",
        about="cam {minutes} min",
        rejected="Respins: {what}",
        blocked="așteaptă: {why}",
        nouns=nouns("titlu | estimare | scadență | prioritate | stare | etichetă | punct"),
    ),
)
