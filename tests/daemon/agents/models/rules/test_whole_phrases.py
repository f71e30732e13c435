"""A phrase is read whole or not at all: what belongs to it and is not understood leaves nothing to propose.

Never one language only; every note is read on the same Wednesday.
"""

from hypothesis import given
from hypothesis import strategies as st

from daemon.dates.durations import parse_minutes
from daemon.dates.mentions import day_phrases_in, lengths_in
from tests.daemon.agents.models.rules.sample_notes import WEDNESDAY, read_values

LENGTHS = {
    "en": """
        takes 3 hours and 20 minutes = 200 | takes 3 hours, 20 minutes = 200 | takes 3h20min = 200
        takes 3 hrs. 20 min. = 200 | takes an hour and a quarter = 75 | takes two hours & ten minutes = 130
        takes an hour and three quarters = 105 | takes two and a half hours = 150 | takes 1 1/2 hours = 90
        takes 1½ hours = 90 | takes ¾ hour = 45 | takes .5h = 30 | takes 1:30 h = 90 | takes 1h30 = 90
        takes an hour and twenty-five minutes = 85 | takes a day and a half = 720 | takes 1 day 4 hours = 720
        takes 2 to 3 and a half hours = 210 | takes 2 hours to 3 hours = 180 | takes 1h-1h30 = 90
        takes 1 hour 30 if I hurry = 90 | takes 3 hours and 20 people come = 180
        takes 3 hrs. 20 people come = 180 | takes 3 hours. 20 people come = 180
        takes 3 hours 20 people come = | takes 2 hours or 3 = | takes an hour or two = | takes 2 hours/week =
        takes 2 days and 3 weeks = | takes 2 hours and 30 seconds = | takes 5 minutes 30 seconds =
        takes an hour and a bit = | takes an hour and a half day = | takes 30 min 2 h =
        takes 2 hours. More tomorrow = 120 | takes 2 hours. Less is fine = 120
        takes 2 h. Ten people come = 120 | takes 2 hours twenty people came = 120
        takes one hour thirty five = | takes one hour thirty for all = | takes 1 day. More tomorrow = 480
        takes 2 hrs. less =
        takes an hour less = | takes 2 hours twice = | takes an hour longer = | takes half an hour = 30
    """,
    "de": """
        Dauert 1 Std. 30 Min. = 90 | Dauert 3 Std. 20 Min. = 200 | Dauert 1 h. 15 min. = 75
        Dauert 3 Stunden und 20 Minuten = 200 | Dauert eine Stunde und eine Viertelstunde = 75
        Dauert zweieinhalb Stunden = 150 | Dauert eine dreiviertel Stunde = 45 | Dauert 2 bis 3 Stunden = 180
        Dauert eine Stunde und fünfundvierzig Minuten = 105 | Dauert 3 Std. 20 Leute kommen. = 180
        Dauert 3 Stunden 20 Leute = | Dauert 2 Stunden und 3 Wochen = | Dauert 2 Stunden und ein bisschen =
        Dauert zwei Stunden weniger zehn Minuten = | Dauert 2 Stunden 3 Mal = | Dauert anderthalb Stunden = 90
        Dauert drei Stunden länger = | Dauert 2 Stunden. Mehr geht nicht = 120 | Dauert 2 Std. mehr =
        Dauert 2 Stunden zwanzig Leute kommen = 120
    """,
    "es": """
        Lleva 3 horas y 20 minutos = 200 | Lleva una hora y cuarto = 75 | Lleva hora y cuarto = 75
        Lleva dos horas y media = 150 | Lleva 1 h. 30 min. = 90
        Lleva una hora y treinta y cinco minutos = 95
        Lleva una hora y tres cuartos = 105 | Lleva 3 horas y pico = | Lleva 3 horas 20 personas =
        Lleva 2 horas. Menos no se puede = 120 | Lleva una hora treinta y cinco =
        Lleva una hora treinta = | Lleva hora y media = 90 | Lleva una hora y media más o menos = 90
    """,
    "fr": """
        Prend 3 heures et 20 minutes = 200 | Prend une heure et quart = 75 | Prend 1 h. 30 min. = 90
        Prend une heure trois quarts = 105 | Dure 1 heure 30 pour tout = 90 | Prend deux heures et demie = 150
        Prend une heure et vingt-cinq minutes = 85 | Prend trois heures 20 personnes viennent =
        Prend deux heures moins le quart = | Prend 2 heures et quelques =
        Prend 2 heures. De plus, il pleut = 120 | Prend une heure trente pour tout =
        Prend une heure trente = | Prend une heure de plus = | Prend 2 heures chacun =
        Prend une heure et demie = 90
    """,
    "ro": """
        Durează 3 ore și 20 de minute = 200 | Durează o oră și un sfert = 75 | Durează 1 h. 30 min. = 90
        Durează o oră și treizeci și cinci de minute = 95 | Durează două ore jumate = 150
        Durează trei ore și 20 de colegi vin = 180 | Durează trei ore 20 de colegi vin =
        Durează 2 ore și ceva =
        Durează 2 ore. Mai mult nu se poate = 120
        Durează o oră treizeci = | Durează o oră în plus = | Durează o oră și jumătate = 90
    """,
}
DAYS = {
    "en": """
        Due by Monday week. = | It is due Monday week at the latest. = | due by Friday fortnight =
        The report is due a week on Monday. = | due by Monday in a week = | due on Monday after next =
        due in a week from Monday = | due by tomorrow week = | due by Monday = 2026-11-23
        It is due by the 3. March is busy. = | Due by the 20. 3 colleagues have paid. =
        due by 3 March = 2027-03-03 | due by Friday, not Thursday = 2026-11-20
        due Monday to Wednesday = | due by Monday at 9 or Tuesday = | due by Monday at 9 = 2026-11-23
        due 20 March, 2 days of work = 2027-03-20 | due Friday, 3 days of work = 2026-11-20
        due 20 March 2027, 3 days earlier than planned = 2027-03-20 | due Friday, 3 weeks from now =
        due by Friday, 3 days later = | due in 2 weeks, 3 days =
        due by Friday following the mail = 2026-11-20 | due by Friday, wait for Ann = 2026-11-20
        due in a week and a half = | due in 2 weeks and 3 days = | due by Friday three weeks from now =
        due by Friday the week after next = | due by 5 December / 6 December = | due by Friday the 13th =
        due by Friday the 20th = 2026-11-20 | due by Monday minus one day = | due by Monday at the earliest =
        due Thursday, no wait, Friday = | due by Friday next week = 2026-11-27 | not due on Monday =
    """,
    "de": """
        Bis Montag über acht Tage abgeben. = | Muss bis Montag in einer Woche fertig sein. =
        Bis Montag in zwei Wochen abgeben. = | Bis Montag der übernächsten Woche abgeben. =
        Bis zum 3. 20 Leute kommen. = 2026-12-03 | bis zum 20. 4 Leute haben bezahlt = 2026-11-20
        Muss bis zum 20. 4. fertig sein = 2027-04-20 | bis Montag abgeben = 2026-11-23
        bis zum 3. März abgeben = 2027-03-03
        Bis Montag - Mittwoch = | Abgabe Freitag, den 13. = | Bis Montag KW 49 = | Bis Montag im März =
        bis 20.3.2027, 3 Tage Arbeit = 2027-03-20 | bis Freitag plus Brot = 2026-11-20
        Bis Freitag, 3 Tage Arbeit = 2026-11-20 | Bis Freitag, 3 Wochen später = | Bis Freitag im Mai =
        Bis Montag drei Wochen später = | Abgabe in einer Woche und drei Tagen =
        Bis Montag früh um 9 = 2026-11-23
        Bis Montag der Woche drauf = | Bis Montag frühestens = | Bis Donnerstag, nein, Freitag =
    """,
    "fr": """
        À rendre lundi en huit. = | À rendre avant lundi en quinze. = | à rendre avant demain en huit =
        À rendre lundi en huit au plus tard. = | à rendre avant lundi dans huit jours =
        à rendre avant le 4. 7 personnes ont déjà payé = 2026-12-04 | à rendre avant le 3. mars est chargé =
        à rendre avant le 3 mars = 2027-03-03 | à rendre avant lundi = 2026-11-23
        À rendre avant la fin du mois prochain = | À rendre avant lundi de Pâques =
        À rendre avant vendredi saint =
        À rendre dans une semaine et demie = | À rendre avant le lundi suivant =
        À rendre avant lundi et mardi = | À rendre avant vendredi, 3 jours de travail = 2026-11-20
        À rendre avant vendredi plus de pain = 2026-11-20 | À rendre avant vendredi, 3 jours après =
        À rendre avant vendredi après-midi = 2026-11-20
        À rendre avant lundi de la semaine prochaine = 2026-11-23 | À rendre jeudi, non, vendredi =
    """,
    "es": """
        Hay que entregarlo antes del lunes que viene no, el otro. =
        entregar antes del 20. 3 amigos pagan = 2026-11-20
        entregar antes del lunes de dentro de dos semanas = | entregar antes del 3. Marzo está lleno =
        Hay que entregarlo antes del lunes. = 2026-11-23
        El plazo es el viernes 27 de noviembre, no el 20 = 2026-11-27
        Entregar antes del fin del mes que viene = | Entregar antes del viernes santo =
        Entregar en una semana y media =
        Entregar antes del viernes, 3 días de trabajo = 2026-11-20 | Entregar antes del viernes más dos =
        Entregar antes del viernes más pan = 2026-11-20 | Entregar antes del viernes, 3 días después =
        Entregar el lunes como pronto = | Entregar antes del lunes siguiente =
        Entregar antes del lunes - martes =
        Entregar antes del lunes, no el viernes = 2026-11-23 | Entregar antes del lunes a las 9 = 2026-11-23
    """,
    "ro": """
        De predat până luni peste o săptămână. = | De predat până lunea cealaltă. =
        De predat până luni în două săptămâni. = | De predat până pe 20. 4 colegi au plătit. = 2026-11-20
        De predat până pe 3. Martie e plin. = | De predat până luni. = 2026-11-23
        De predat până la sfârșitul lunii viitoare = | De predat până vinerea mare =
        De predat până luni viitoare = 2026-11-23 | De predat până vineri, 3 zile de lucru = 2026-11-20
        De predat până vineri fără Ola = 2026-11-20 | De predat până vineri în mai =
        De predat până vineri, 3 zile după = | De predat până vineri după masă = 2026-11-20
        De predat într-o săptămână și jumătate = | De predat până luni plus o zi =
        De predat până luni, nu vineri = 2026-11-23
    """,
}
LISTS = {
    "en": """
        Todo: book; get photos; fill in the form = ['book', 'get photos', 'fill in the form']
        todo: call Ola; it is due by Friday = ['call Ola']
        todo: call Ola; I did not hear back = ['call Ola']
        todo: salt and pepper; order toner = ['salt and pepper', 'order toner']
        todo: call Ola. The bill came; it was high. = ['call Ola']
        todo: call Ola; takes 2 hours = ['call Ola']
        todo: call Ola; order toner. Lena has the key. = ['call Ola', 'order toner']
    """,
    "de": """
        Zu erledigen: Ola anrufen; Rechnung schreiben; Toner bestellen = @3
        Zu erledigen: Ola anrufen; sie ist nett = ['Ola anrufen']
    """,
    "fr": """
        À faire : appeler Ola ; écrire la facture ; commander du toner = @3
        À faire : appeler Ola ; elle est gentille = ['appeler Ola']
    """,
    "es": """
        Pendiente: llamar a Ola; escribir la factura; pedir tóner = @3
        Pendiente: llamar a Ola; no contestó = ['llamar a Ola']
    """,
    "ro": """
        De făcut: sunat Ola; scris factura; comandat toner = @3
        De făcut: sunat Ola; nu răspunde = ['sunat Ola']
    """,
}
CONDITIONS = {
    "en": """
        If Mia joins, we have to commit by the end of April. = | Provided Mia agrees, due by Friday. =
        We must pay by Friday if Mia joins. = | due by Friday if possible = 2026-11-20
        I have to ask if it is due by Friday =
        If it rains, due by Friday. The report is due by Monday. = 2026-11-23
    """,
    "de": """
        Wenn Mia mitmacht, müssen wir bis Ende April zusagen. = | Bis Freitag zahlen, wenn Mia mitmacht. =
        Abgabe bis Freitag, wenn möglich = 2026-11-20 | Das Angebot zu 200 Euro steht bis Freitag. =
    """,
    "fr": """
        Si Mia vient, il faudrait confirmer avant fin avril. = | Dès que Mia répond, à rendre avant vendredi =
        À rendre avant vendredi, si possible = 2026-11-20
    """,
    "es": """
        Si Mia viene, hay que confirmar antes de fin de abril. = | Entregar antes del viernes si viene Mia =
        Entregar antes del viernes, si no perdemos la fianza = 2026-11-20
    """,
    "ro": """
        Dacă vine Mia, trebuie să confirmăm până la sfârșitul lui aprilie. =
        De predat până vineri dacă vine Mia =
        Camera ar fi 200 de lei pe noapte până pe 14 martie. = | Plătit 200 de lei până vineri = 2026-11-20
    """,
}
PROMISES = {
    "en": {
        "Ola: I'll send the photos by Friday\nme: great": None,
        "Ola: I need the photos by Friday\nme: ok": "2026-11-20",
        "Ola: we must send the photos by Friday\nme: ok": "2026-11-20",
    },
    "de": {
        "Ola: Ich schicke die Fotos bis Freitag\nich: super": None,
        "Ola: bitte schick die Fotos bis Freitag\nich: ok": "2026-11-20",
    },
    "fr": {
        "Ola : je t'envoie les photos avant vendredi\nmoi : super": None,
        "Ola : à rendre vendredi\nmoi : ok": "2026-11-20",
    },
    "es": {
        "Ola: te mando las fotos antes del viernes\nyo: genial": None,
        "Ola: hay que entregarlo antes del viernes\nyo: vale": "2026-11-20",
    },
    "ro": {
        "Ola: îți trimit pozele până vineri\neu: super": None,
        "Ola: trebuie predat până vineri\neu: ok": "2026-11-20",
    },
}
ITEMS = {
    "en": """
        - torch (got it) = | - torch already packed = | - torch done = | - torch ✓ = | - get it done = @1
        - [ ] buy the done deal = @1 | - torch (not yet packed) = @1
        My brother thinks I have to call the vet. =
    """,
    "de": """
        - Lampe (erledigt) = | - Lampe schon gepackt = | - Lampe (noch nicht erledigt) = @1
        Mein Bruder meint, ich muss den Arzt anrufen = | Ich meine, ich muss den Arzt anrufen = @1
        Zu erledigen: Ola fragen, ob sie kommt, Brot kaufen = ['Ola fragen, ob sie kommt', 'Brot kaufen']
    """,
    "fr": """
        - lampe (c'est fait) = | - lampe déjà emballée = | - lampe fait = | - lampe (pas encore fait) = @1
        Mon frère trouve que je dois appeler le médecin. = | Je pense que je dois appeler le médecin = @1
    """,
    "es": """
        - linterna (ya está) = | - linterna ya comprada = | - linterna (aún no está) = @1
        Mi hermana piensa que tengo que llamar al médico = | Creo que tengo que llamar al médico = @1
    """,
    "ro": """
        - lanternă (gata) = | - lanternă deja cumpărată = | - lanternă (încă nu e gata) = @1
        Sora mea e de părere că trebuie să sun la medic = | Cred că trebuie să sun la medic = @1
    """,
}
ASKED = {
    ("en", "I have to ask Ola if she comes, pay the bill and buy bread."): [
        "ask Ola if she comes",
        "pay the bill",
        "buy bread",
    ],
    ("de", "Ich muss Ola fragen, ob sie kommt, die Rechnung bezahlen und Brot kaufen."): [
        "Ola fragen, ob sie kommt",
        "die Rechnung bezahlen",
        "Brot kaufen",
    ],
    ("fr", "Je dois demander à Ola si elle vient, payer la facture et acheter du pain."): [
        "demander à Ola si elle vient",
        "payer la facture",
        "acheter du pain",
    ],
    ("es", "Tengo que preguntar a Ola si viene, pagar la factura y comprar pan."): [
        "preguntar a Ola si viene",
        "pagar la factura",
        "comprar pan",
    ],
    ("ro", "Trebuie să o întreb pe Ola dacă vine, să plătesc factura și să cumpăr pâine."): [
        "o întreb pe Ola dacă vine",
        "plătesc factura",
        "cumpăr pâine",
    ],
}
TITLES = {
    "en": "rename to Fair please = Fair | rename to Pretty please cake = Pretty please cake",
    "de": "Umbenennen in Straßenfest bitte = Straßenfest | Umbenennen in Straßenfest, danke! = Straßenfest",
    "fr": "renommer en Fête de rue s'il te plaît = Fête de rue | renommer en Merci = Merci",
    "es": "renombrar a Fiesta mayor por favor = Fiesta mayor | renombrar a Fiesta, gracias = Fiesta",
    "ro": "redenumește în Petrecerea te rog = Petrecerea | redenumește în Petrecerea, mulțumesc = Petrecerea",
}
# What a text mentions: its days, and its lengths in minutes.
MENTIONS = {
    ("en", "See Tom Monday week, not on Friday"): (["2026-11-20"], []),
    ("en", "a week on Monday, or the first Tuesday of March"): ([], []),
    ("en", "20 March 2027, takes 90 minutes"): (["2027-03-20"], [90]),
    ("en", "takes 3 hours 20 people come, 1½ h"): ([], [90]),
    ("en", "an hour and a bit"): ([], []),
    ("en", "20 minutes and a call"): ([], [20]),
    # A weekday, and a date that is another day: neither is meant for certain.
    ("en", "on Friday, 3/17, as agreed"): ([], []),
    ("de", "am Freitag, 19.11. ist Abgabe, nicht Freitag, 20.11."): (["2026-11-20"], []),
    ("de", "am Montag, 2.5 Stunden"): (["2026-11-23"], [150]),
    ("es", "el viernes, 19/11"): ([], []),
    ("fr", "le vendredi 19/11"): ([], []),
    ("ro", "vineri 19.11"): ([], []),
    ("en", "Friday; 3/17 is later"): (["2026-11-20", "2027-03-17"], []),
    ("en", "2 weeks and 3 days"): ([], []),
    ("en", "1 week 2 hours, and then it rains"): (["2026-11-25"], []),
    ("en", "one month and 2 days"): ([], []),
    ("en", "30 seconds and 2 minutes, then it took 40 minutes"): ([], [40]),
    ("de", "2 Wochen und 3 Tage"): ([], []),
    ("es", "2 semanas y 3 días"): ([], []),
    ("fr", "2 semaines et 3 jours"): ([], []),
    ("ro", "2 săptămâni și 3 zile"): ([], []),
    ("en", "1 hour 30 minutes and 2 hours"): ([], []),
    ("en", "1 hour 30 and 2 hours, 1h30m 2h"): ([], []),
    ("de", "1 Std. 30 Min. und 2 Stunden"): ([], []),
    ("es", "1 hora 30 minutos y 2 horas"): ([], []),
    ("fr", "1 heure 30 minutes et 2 heures"): ([], []),
    ("ro", "1 oră 30 de minute și 2 ore"): ([], []),
    ("en", "2 hours. More tomorrow"): (["2026-11-19"], [120]),
    ("en", "2 hours twenty people came"): ([], [120]),
    ("fr", "une heure trente pour tout"): ([], []),
    ("en", "Friday plus 3 days"): ([], [1440]),
    ("en", "2026-03-20 plus 3 days, Monday after 2 days"): ([], [1440, 960]),
    ("en", "Friday past 3 days, Monday after the 23rd, Friday from tomorrow"): (["2026-11-19"], [1440]),
    ("en", "in two weeks after the call, a week from the exam"): ([], []),
    ("en", "the last Friday of May, Monday (May), Monday in May"): ([], []),
    ("en", "Friday may be late"): (["2026-11-20"], []),
    ("en", "deadline: 20.03.2026, wait for mail"): (["2026-03-20"], []),
    ("en", "2026-03-20 from Ann"): (["2026-03-20"], []),
    ("en", "due 2026-03-20, from 3 people"): (["2026-03-20"], []),
    ("en", "pay on 2026-03-20, 3 days earlier than planned"): (["2026-03-20"], [1440]),
    ("en", "tomorrow from 3 pm"): (["2026-11-19"], []),
    ("en", "get it Friday from the shop"): (["2026-11-20"], []),
    ("en", "Friday last call"): (["2026-11-20"], []),
    ("en", "Friday after work"): (["2026-11-20"], []),
    ("en", "Pay Friday, following the mail"): (["2026-11-20"], []),
    ("en", "Friday at 9, wait for Ann"): (["2026-11-20"], []),
    ("en", "Thursday, wait, Friday"): (["2026-11-20"], []),
    ("de", "Freitag plus 3 Tage, Montag minus 2"): ([], [1440]),
    ("de", "am letzten Freitag im Mai, Freitag (Mai)"): ([], []),
    ("de", "bis Freitag plus Brot"): (["2026-11-20"], []),
    ("de", "20.3.2026 plus Brot, 2026-03-20 plus 2 Wochen"): (["2026-03-20"], []),
    ("fr", "vendredi plus 3 jours, lundi moins deux"): ([], [1440]),
    ("fr", "le dernier vendredi de mai, vendredi en mai"): ([], []),
    ("fr", "vendredi plus de pain"): (["2026-11-20"], []),
    ("es", "viernes más 3 días, lunes menos dos"): ([], [1440]),
    ("es", "viernes más pan, lunes desde casa"): (["2026-11-20", "2026-11-23"], []),
    ("ro", "vineri plus 3 zile, luni fără două"): ([], [1440]),
    ("ro", "ultima vineri din mai, vineri (mai)"): ([], []),
    ("ro", "vineri fără Ola, luni mai vorbim, joi peste drum"): (
        ["2026-11-20", "2026-11-23", "2026-11-19"],
        [],
    ),
    ("de", "1 Std. 30 Min. am Freitag, dann Montag in einer Woche"): (["2026-11-20"], [90]),
    ("fr", "lundi en huit ; mardi"): (["2026-11-24"], []),
    ("fr", "une heure et demie"): ([], [90]),
    ("es", "hora y media, el lunes de la otra semana"): ([], [90]),
    ("ro", "o oră și jumătate, lunea cealaltă"): ([], [90]),
    ("en", "by the end of next month, early next week, mid next week; in a week or two"): ([], []),
    ("en", "in one to two weeks; in 1-2 weeks; half a week; an hour or two; Friday 27."): ([], []),
    ("en", "takes half a day; 1.5 hours"): ([], [240, 90]),
    ("en", "by the end of Friday; on Friday, 27 November"): (["2026-11-20", "2026-11-27"], []),
    ("de", "Ende nächster Woche; Mitte des nächsten Monats; in ein bis zwei Wochen; Freitag 27!"): ([], []),
    ("de", "am Freitag, 27.11.; einen halben Tag; 1.5 Stunden"): (["2026-11-27"], [240, 90]),
    ("fr", "fin de semaine prochaine ; début de mois prochain ; un vendredi sur deux ; vendredi 27."): (
        [],
        [],
    ),
    ("fr", "le vendredi 27 novembre ; une demi-journée ; d'ici une à deux semaines"): (["2026-11-27"], [240]),
    ("es", "a finales de la próxima semana; en una o dos semanas; un viernes de cada dos"): ([], []),
    ("es", "el viernes 27; el viernes 27 de noviembre; media jornada"): (["2026-11-27"], [240]),
    ("ro", "într-o săptămână sau două; o dată la două vineri; pe vineri 27."): ([], []),
    ("en", "1.5 to 2 days; 1.5 – 2 h; 1.5 GB; 1.5 working days; 2.5-3 weeks"): ([], [960, 120]),
    ("de", "1.5 bis 2 Stunden; 1.5 volle Stunden"): ([], [120]),
    ("es", "1.5 a 2 horas; 1.5 GB"): ([], [120]),
    ("fr", "1.5 à 2 heures; 1.5 kg; le 27/11 à 14 heures; 27.11 à 9 h"): (
        ["2026-11-27", "2026-11-27"],
        [120, 840, 540],
    ),
    ("ro", "1.5 până la 2 ore; 1.5 km"): ([], [120]),
    ("en", "the first half of next week; the rest of next week; most of next month; close of next week"): (
        [],
        [],
    ),
    ("de", "zu Beginn der nächsten Woche; im Laufe der nächsten Woche; Schluss nächster Woche"): ([], []),
    ("de", "in der zweiten Hälfte des nächsten Monats"): ([], []),
    ("es", "la segunda mitad del próximo mes; la primera quincena del próximo mes"): ([], []),
    ("es", "a inicios del próximo mes; para la mitad de la próxima semana"): ([], []),
    ("fr", "la seconde moitié du mois prochain; la première quinzaine du mois prochain"): ([], []),
    ("fr", "dans le courant du mois prochain; le dernier jour du mois prochain"): ([], []),
    ("ro", "pe vineri, 27 noiembrie; jumătate de zi"): (["2026-11-27"], [240]),
}
TAKES = {"en": "takes", "de": "Dauert", "es": "Lleva", "fr": "Prend", "ro": "Durează"}
HOURS = {"en": "hours and", "de": "Std.", "es": "horas y", "fr": "h", "ro": "ore și"}


def wrong_readings(kind: str, table: dict[str, str], at_least: int = 11) -> list[str]:
    """Return each note of a table that is not read as it says: "note = value", parted by "|" or lines."""
    cases = [
        (language, case.strip().rpartition("="))
        for language, cases in table.items()
        for line in cases.splitlines()
        for case in line.split("|")
        if case.strip()
    ]
    assert len(cases) >= at_least
    read = [
        (language, note.strip(), wanted.strip(), read_values(note, language))
        for language, (note, _, wanted) in cases
    ]
    return [
        f"{note!r} ({language}): {got}"
        for language, note, wanted, got in read
        if wanted not in (str(got.get(kind, "")), f"@{len(got.get(kind, ''))}")
    ]


def test_a_length_is_read_with_all_its_units_or_not_at_all():
    assert wrong_readings("minutes", LENGTHS) == []


def test_a_day_is_read_with_all_that_moves_it_or_not_at_all():
    assert wrong_readings("due", DAYS) == []


def test_a_mention_is_the_whole_of_a_day_or_length():
    wrong: dict[str, object] = {}
    for (language, text), wanted in MENTIONS.items():
        phrases = day_phrases_in(text, WEDNESDAY.date(), language)
        got = ([str(day) for _, days in phrases for day in sorted(days)], list(lengths_in(text)))
        wrong |= {} if got == wanted else {text: got}
    assert wrong == {}


def test_a_condition_and_an_offer_set_no_deadline():
    assert wrong_readings("due", CONDITIONS) == []


def test_what_another_speaker_promises_is_not_due():
    wrong = [
        (note, read_values(note, language))
        for language, cases in PROMISES.items()
        for note, wanted in cases.items()
        if read_values(note, language).get("due") != wanted
    ]
    assert wrong == []


def test_what_is_done_or_advised_is_no_item():
    assert wrong_readings("items", ITEMS) == []


def test_what_is_asked_belongs_to_its_act():
    read = {(language, note): read_values(note, language).get("items") for language, note in ASKED}
    assert read == ASKED


def test_courtesy_is_no_part_of_a_name():
    assert wrong_readings("title", TITLES, at_least=9) == []


def test_a_list_that_semicolons_part_is_read_to_its_end():
    assert wrong_readings("items", LISTS) == []


@given(st.sampled_from(sorted(TAKES)), st.integers(1, 23), st.integers(1, 59))
def test_a_note_reads_a_length_as_one_that_is_typed(language: str, hours: int, minutes: int):
    length = f"{hours} {HOURS[language]} {minutes} min"
    assert read_values(f"{TAKES[language]} {length}.", language)["minutes"] == str(parse_minutes(length))
