"""German cue words.

Data alone: no rule is decided here.
"""

from daemon.agents.models.cues import Cues, Verbs, Wording, counted, forms, nouns, phrased, valued, words

GERMAN = Cues(
    language="de",
    known_by=words(
        "der die das den dem des ein eine einen einem einer und ist sind war hat habe haben hab nicht"
        " noch mit von für auf zu zum zur im am bei bis nach wir ich sie er es uns mich mir man auch"
        " aber oder wenn wird werden muss soll kann schon nur vor über aus wie was dass sich ja nein"
        " bitte etwa keine kein erst jetzt mal dann braucht gerade heute morgen bin"
    ),
    signs="ßäöü",
    abbreviations=words(
        "ca z.b bzw usw etc min std mind max nr str dr hr fr evtl ggf inkl exkl spät jan feb mär apr"
        " jun jul aug sep sept okt nov dez mo di mi do sa so vgl u.a d.h tel abt abs"
    ),
    segment_words=words("aber und jedoch doch weil denn sondern sonst danach"),
    negations=words("nicht nich net kein keine keinen keiner keinem nie niemals ohne weder kaum nix nichts"),
    past=words(
        "wusste wussten ging gingen kam kamen gab war waren hatte hatten wurde wurden dauerte gestern"
        " vorgestern letzte letzten letzter letztes letztem damals früher brauchte brauchten gedauert"
    ),
    conditions=words(
        "wenn falls sofern ob vielleicht eventuell evtl könnte könnten würde würden hätte wäre wär"
    ),
    due=phrased(
        "frist … : | abgabetermin … : | fällig am | fällig bis | fällig | fälligkeit | frist bis |"
        " frist | deadline | deadline ist | abgabe | abgabetermin | abgabefrist | stichtag | termin bis"
        " | spätestens | allerspätestens | vor | bis | bis zum | bis spätestens | bis spätestens zum |"
        " einzureichen bis | due | abzugeben bis | abgabe bis | muss bis"
    ),
    latest=phrased("spätestens | allerspätestens"),
    day_leads=phrased("am"),
    day_parts=words("abend abends morgen früh nachmittag vormittag mittag nacht"),
    until=phrased("bis | bis zum | bis einschließlich"),
    until_not_with=words(
        "vertrag mietvertrag bin urlaub krank weg geschlossen offen geöffnet gilt gültig unterwegs"
        " verreist dienstreise warten warte wartet blockiert pausiert verfügbar besetzt ferien abwesend"
        " kur gebucht läuft dauert bleibe bleiben vertretung elternzeit frei da sind zu hatten von"
    ),
    due_not_after=words(
        "monate monaten jahre jahren tag tage woche wochen abend nacht monat stunden minuten zwischen von"
    ),
    due_fillers=words(
        "ist am der zum den dem bis spätestens auf an diesen dieser kommenden einschließlich nun jetzt"
    ),
    within=phrased("innerhalb von | innerhalb der nächsten | binnen | in den nächsten | in weniger als"),
    ahead="in",
    short_weekdays=words("mo di mi do fr sa so"),
    short_weekdays_stand=True,
    day_not_before=words("oder in nach von drauf"),
    takes=phrased(
        "dauert | dauern | braucht | brauche | brauchen | benötigt | aufwand | zeitaufwand | schätzung"
        " | geschätzt | schätze | ich schätze | rechne mit | kostet mich | veranschlagt | dauer |"
        " aufwand von | zeitbedarf"
    ),
    about=phrased(
        "etwa | ungefähr | circa | ca | zirka | rund | grob | schätzungsweise | höchstens | ~ | knapp"
    ),
    about_after=words(
        "sind ist das wird es wohl sollte so ich denke glaube schätze sagen wir vielleicht noch nur"
    ),
    take_fillers=phrased(
        "mich | uns | dich | etwa | ungefähr | circa | ca | zirka | rund | wohl | so | nur | noch |"
        " bestimmt | ist | von | mindestens | höchstens | knapp | gut | sicher | max | vermutlich |"
        " wahrscheinlich | ~ | grob | dafür"
    ),
    duration_not_with=words(
        "flug fahrt zug bus lieferung versand anreise film fähre rückflug hinflug heimweg lieferzeit"
        " reise paket"
    ),
    duration_not_after=words(
        "in nach seit alle jede jeden vor während über letzten letzte nächsten innerhalb"
    ),
    duration_not_before=phrased(
        "übrig | bleiben | sind übrig | dran | her | später | zu spät | verspätung | entfernt | fahrt |"
        " fußweg | flug | alt | vor | nach | pro | täglich | wöchentlich | am tag | die woche | im"
        " monat | lang | vorher | nachher | früher | zu früh | je | gesessen"
    ),
    numbers={
        "anderthalb": 1.5,
        "eineinhalb": 1.5,
        "zweieinhalb": 2.5,
        "dreieinhalb": 3.5,
        "viereinhalb": 4.5,
        "fünfundvierzig": 45,
    },
    amounts=counted(
        {
            15: "eine viertelstunde | viertelstunde | ne viertelstunde",
            30: "eine halbe stunde | halbe stunde | ne halbe stunde",
            45: "eine dreiviertelstunde | dreiviertelstunde",
            60: "ne stunde",
            120: "ein paar stunden | paar stunden",
            240: "halber tag | halben tag | einen halben tag | ein halber tag",
            480: "einen ganzen tag | ein ganzer tag",
        }
    ),
    to=phrased("bis | oder"),
    and_a_half=(),
    minutes=phrased("m | min | minute | minuten"),
    hours=phrased("h | std | stunde | stunden"),
    days=phrased("tag | tage | tagen | pt | arbeitstag | arbeitstage"),
    to_do=phrased(
        "kaufen | zu kaufen | mitnehmen | todo | to do | to-do | todos | to-dos | noch zu erledigen |"
        " zu erledigen | zu tun | noch zu tun | noch offen | offen | offene punkte | nächste schritte |"
        " nächster schritt | nicht vergessen | aufgaben | muss noch | müssen noch | fehlt noch | fehlen"
        " noch | einkaufen | einkaufsliste | besorgen | noch zu machen | zu machen | noch zu besorgen |"
        " mitbringen | packliste | checkliste | wir brauchen | ich brauche | wir müssen | ich muss | zu"
        " klären | noch machen | ausstehend"
    ),
    and_words=phrased("und | sowie | &"),
    finished=phrased(
        "erledigt | fertig | fertiggestellt | abgeschlossen | abgehakt | geschafft | gemacht | done |"
        " durch | ✓ | ✔ | ✅ | ☑"
    ),
    unfinished=words(
        "falsche falscher falschen falsches fast beinahe halb hälfte wird werden muss müssen soll"
        " sollte sollten will wollen kann können noch bald teilweise angefangen begonnen bis bevor"
        " nachdem sobald hoffentlich demnächst müsste jemand außer würde würden zu"
    ),
    verbs=Verbs(
        last=True,
        forms=forms(
            "bringen: gebracht | nehmen: genommen | gehen: gegangen | ziehen: gezogen | schneiden:"
            " geschnitten | denken: gedacht | stehen: gestanden | essen: gegessen | abbringen:"
            " abgebracht | mitbringen: mitgebracht | mitnehmen: mitgenommen | aufnehmen: aufgenommen |"
            " vorbringen: vorgebracht | tun: getan | abnehmen: abgenommen | übernehmen: übernommen |"
            " vornehmen: vorgenommen | umziehen: umgezogen"
        ),
        endings=(),
        auxiliaries=words("hab habe haben hat ist sind wurde wurden schon bereits"),
        of_others=words("hat"),
        contact=words(
            "anrufen fragen kontaktieren treffen anschreiben informieren erinnern einladen danken"
            " benachrichtigen"
        ),
        acts=words(""),
        act_endings=phrased("en | eln | ern"),
        no_acts=r"(?:ab|an|auf|aus|ein|mit|vor|zu|nach|um|weg|her|hin|zuruck)?ge(?!hen|ben|stalt|nehm|nies|win).*",
    ),
    blocked=phrased(
        "blockiert durch | blockiert von | blockiert wegen | blockiert bis | blockiert : | ist"
        " blockiert | wartet auf | warte … auf | warten … auf | hängt an | hänge fest | hängen fest |"
        " hängt fest | komme nicht weiter | kommen nicht weiter | geht nicht weiter | hängt von der"
        " rückmeldung | kann erst weitermachen | blocked by"
    ),
    blocked_not_before=words("mich uns dich euch"),
    blocked_not_with=words("kaffee tee bus zug bahn taxi essen"),
    on_hold=phrased(
        "auf eis | pausiert | pausieren | liegt auf eis | on hold | zurückgestellt | vorerst gestoppt |"
        " ruht in der warteschleife"
    ),
    resumed=phrased(
        "nicht mehr blockiert | kann weitergehen | geht weiter | geht es weiter | geht's weiter |"
        " wieder aufgenommen | nicht mehr pausiert | weiter geht's"
    ),
    started=phrased(
        "hab … angefangen | habe … angefangen | haben … angefangen | habe … begonnen | hab … begonnen |"
        " haben … begonnen | arbeite … an | arbeiten … an | bin … dran | sind … dran | angefangen mit |"
        " begonnen mit | in arbeit | hab mit … angefangen | habe mit … angefangen | habe mit der …"
        " angefangen | hab mit der … angefangen"
    ),
    urgent=valued(
        P0="kritisch | notfall | alles stehen und liegen lassen",
        P1=(
            "dringend | eilt | eilig | asap | so schnell wie möglich | schnellstmöglich | höchste"
            " priorität | hohe priorität | umgehend | urgent | brandeilig"
        ),
    ),
    urgent_not_before=words("pfad pfade betrachtet hinterfragt gesehen"),
    urgent_not_after=words("weniger selbst mehr zu"),
    priority=phrased("priorität | prio | priority"),
    low_priority=phrased(
        "niedrige priorität | geringe priorität | niedrige prio | unwichtig | keine hohe priorität"
    ),
    rename=phrased(
        "umbenennen in | umbenennen zu | umbenennen auf | bitte umbenennen in | nennen wir es | heißt"
        " jetzt | neuer name"
    ),
    rename_quoted=phrased(
        "neuer titel | titel soll | titel sollte | besserer titel | titel | nenn es | nennen wir das"
    ),
    label=phrased("label | etikett | schlagwort | tag | kategorie"),
    wording=Wording(
        says="Die Notiz sagt: „{quote}“",
        listed="In der Notiz aufgezählt.",
        names="Die Notiz nennt „{name}“.",
        evidence="Die Notiz vom {day} sagt: „{quote}“",
        items="Checkliste {done}/{total}",
        due="fällig am {due}",
        about="etwa {minutes} Min.",
        rejected="Abgelehnt: {what}",
        blocked="wartet: {why}",
        nouns=nouns("Titel | Aufwand | Fälligkeit | Priorität | Status | Etikett | Punkt"),
    ),
)
