"""The words by which people say days and spans of time, one table a language.

Data alone: no rule is decided here. Everything is written as `daemon.journal.when` folds it: small
letters, no accents.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Final

MINUTE: Final = "minute"
DAY: Final = "day"
MONTH: Final = "month"

Unit = tuple[str, int]
"""What is counted, and how many of it: a fortnight is fourteen days."""


@dataclass(frozen=True, slots=True, eq=False)
class Tongue:
    """One language. Rules are patterns with {n}, {unit}, {weekday}, {month}, {day} and {year} in them."""

    language: str
    examples: str
    days: Mapping[str, int]
    weekdays: Mapping[str, int]
    months: Mapping[str, int]
    units: Mapping[str, Unit]
    numbers: Mapping[str, int]
    rules: Mapping[str, tuple[str, ...]]
    now: frozenset[str]
    at: str
    """What leads a time of the day in."""
    on: str
    """What leads a day in figures in."""
    weeks_in_days: Mapping[int, int]
    """Days that, said in words, are also an idiom for whole weeks."""
    month_first: bool = False
    """Whether some of those who speak it write the month before the day."""


def _numbered(written: str, first: int = 1) -> dict[str, int]:
    """Number words from `first` on; those joined by a bar are the same one."""
    return {word: at for at, words in enumerate(written.split(), first) for word in words.split("|")}


def _units(**written: str) -> dict[str, Unit]:
    sizes: dict[str, Unit] = {
        "minute": (MINUTE, 1),
        "hour": (MINUTE, 60),
        "day": (DAY, 1),
        "week": (DAY, 7),
        "fortnight": (DAY, 14),
        "month": (MONTH, 1),
        "year": (MONTH, 12),
    }
    return {word: sizes[name] for name, words in written.items() for word in words.split("|")}


def _days(written: Mapping[int, str]) -> dict[str, int]:
    return {phrase: offset for offset, phrases in written.items() for phrase in phrases.split("|")}


def _merged(*tables: Mapping[str, int]) -> dict[str, int]:
    return reduce(lambda all_, table: {**all_, **table}, tables, {})


ENGLISH: Final = Tongue(
    language="en",
    examples="tomorrow, friday, in 2 weeks, 15 March",
    days=_days(
        {
            0: "today|eod|end of day|end of the day|by end of day|tonight|this evening|by today",
            1: "tomorrow|tmrw|tomorrow morning|tomorrow evening|by tomorrow",
            2: "day after tomorrow|the day after tomorrow",
            -1: "yesterday",
            -2: "day before yesterday|the day before yesterday",
        }
    ),
    weekdays=_numbered(
        "monday|mon tuesday|tue|tues wednesday|wed thursday|thu|thur|thurs friday|fri"
        " saturday|sat sunday|sun",
        0,
    ),
    months=_numbered(
        "january|jan february|feb march|mar april|apr may june|jun july|jul august|aug"
        " september|sep|sept october|oct november|nov december|dec"
    ),
    units=_units(
        minute="minute|minutes|min|mins",
        hour="hour|hours|h|hr|hrs",
        day="day|days|d",
        week="week|weeks|w|wk|wks",
        fortnight="fortnight|fortnights",
        month="month|months",
        year="year|years|y",
    ),
    numbers=_merged(
        _numbered(
            "one|a|an two three four five six seven eight nine ten eleven twelve thirteen"
            " fourteen fifteen sixteen seventeen eighteen nineteen twenty"
        ),
        {"a couple of": 2, "thirty": 30, "forty": 40, "sixty": 60, "ninety": 90},
    ),
    rules={
        "ahead": ("in {n} {unit}", "{n} {unit} from (?:now|today)"),
        "back": ("{n} {unit} ago",),
        "next": ("(?:the )?(?:next|coming) {unit}",),
        "last": ("(?:the )?last {unit}",),
        "coming": ("(?:on |by |this coming |(?:the )?coming )?{weekday}",),
        "this": ("this {weekday}",),
        "either": ("(?:on |by )?next {weekday}",),
        "following": ("(?:on )?{weekday} (?:of )?next week", "next week (?:on )?{weekday}"),
        "past": ("(?:on )?last {weekday}",),
        "week_end": ("(?:by )?(?:the )?end of (?:the |this )?week", "eow"),
        "month_end": ("(?:by |at )?(?:the )?end of (?:the |this )?month", "eom"),
        "year_end": ("(?:by |at )?(?:the )?end of (?:the |this )?year", "eoy"),
        "end_of": ("(?:by |at )?(?:the )?end of {month}",),
        "nth": ("(?:on |by )?(?:the )?{day}(?:st|nd|rd|th)",),
        "date": (
            "(?:on |by )?(?:the )?{day}(?:st|nd|rd|th)? (?:of )?{month}{year}",
            "(?:on |by )?{month} (?:the )?{day}(?:st|nd|rd|th)?{year}",
        ),
    },
    now=frozenset({"now", "right now"}),
    at="at|@",
    on="on the|on|by the|by|the",
    weeks_in_days={},
    month_first=True,
)

_NEXT_DE: Final = "(?:nachste|naechste)[nrsm]?"

GERMAN: Final = Tongue(
    language="de",
    examples="morgen, Freitag, in 2 Wochen, 15. März",
    days=_days(
        {
            0: "heute|heute abend|bis heute",
            1: "morgen|morgen fruh|morgen frueh|morgen abend|bis morgen",
            2: "ubermorgen|uebermorgen",
            -1: "gestern",
            -2: "vorgestern",
        }
    ),
    weekdays=_numbered(
        "montag|mo dienstag|di mittwoch|mi donnerstag|do freitag|fr samstag|sonnabend|sa sonntag|so", 0
    ),
    months=_numbered(
        "januar|janner|jaenner|jan februar|feber|feb marz|maerz|mrz|mar april|apr mai juni|jun juli|jul"
        " august|aug september|sep|sept oktober|okt november|nov dezember|dez"
    ),
    units=_units(
        minute="minute|minuten|min",
        hour="stunde|stunden|std|h",
        day="tag|tage|tagen",
        week="woche|wochen",
        month="monat|monate|monaten|monats",
        year="jahr|jahre|jahren|jahres",
    ),
    numbers=_merged(
        _numbered(
            "ein|eine|einer|einem|einen zwei drei vier funf|fuenf sechs sieben acht neun zehn elf"
            " zwolf|zwoelf dreizehn vierzehn funfzehn|fuenfzehn sechzehn siebzehn achtzehn neunzehn zwanzig"
        ),
        {"dreissig": 30, "vierzig": 40, "sechzig": 60, "neunzig": 90},
    ),
    rules={
        "ahead": ("(?:heute )?in {n} {unit}",),
        "back": ("vor {n} {unit}",),
        "next": (f"(?:{_NEXT_DE}|kommende[nrsm]?) {{unit}}",),
        "last": ("(?:letzte|vorige|vergangene)[nrsm]? {unit}",),
        "coming": ("(?:am |bis |(?:am )?kommende[nrm]? )?{weekday}",),
        "this": ("(?:an )?diese[nrm] {weekday}",),
        "either": (f"(?:am |bis )?{_NEXT_DE} {{weekday}}",),
        "following": (
            f"{_NEXT_DE} woche (?:am )?{{weekday}}",
            f"(?:am )?{{weekday}} (?:in der )?{_NEXT_DE} woche",
        ),
        "past": ("(?:am )?(?:letzte|vorige|vergangene)[nrm] {weekday}",),
        "week_end": ("(?:bis )?ende (?:der|dieser) woche", "(?:bis )?wochenende"),
        "month_end": ("(?:bis |zum )?ende (?:des|dieses) monats", "(?:bis |zum )?monatsende", "ende monat"),
        "year_end": ("(?:bis |zum )?ende (?:des|dieses) jahres", "(?:bis |zum )?jahresende"),
        "end_of": ("(?:bis )?ende {month}",),
        "nth": (r"(?:am |bis (?:zum )?|den |der )?{day}\.", "(?:am |bis zum |den ){day}"),
        "date": (r"(?:am |bis (?:zum )?|den |der )?{day}\.? ?{month}{year}", r"{month} {day}\.?{year}"),
    },
    now=frozenset({"jetzt"}),
    at="um|gegen",
    on="am|bis zum|bis|den|zum|der",
    weeks_in_days={8: 7},
)

SPANISH: Final = Tongue(
    language="es",
    examples="mañana, el viernes, en 2 semanas, 15 de marzo",
    days=_days(
        {
            0: "hoy|esta noche|para hoy",
            1: "manana|manana por la manana|manana por la tarde|para manana",
            2: "pasado manana",
            -1: "ayer",
            -2: "anteayer|antes de ayer",
        }
    ),
    weekdays=_numbered("lunes|lun martes miercoles|mie jueves|jue viernes|vie sabado|sab domingo|dom", 0),
    months=_numbered(
        "enero|ene febrero|feb marzo|mar abril|abr mayo|may junio|jun julio|jul agosto|ago"
        " septiembre|setiembre|sep|sept octubre|oct noviembre|nov diciembre|dic"
    ),
    units=_units(
        minute="minuto|minutos|min",
        hour="hora|horas|h",
        day="dia|dias",
        week="semana|semanas",
        month="mes|meses",
        year="ano|anos",
    ),
    numbers=_merged(
        _numbered(
            "un|una|uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince"
            " dieciseis diecisiete dieciocho diecinueve veinte"
        ),
        {"treinta": 30, "cuarenta": 40, "sesenta": 60, "noventa": 90},
    ),
    rules={
        "ahead": ("(?:en|dentro de|de aqui a) {n} {unit}",),
        "back": ("hace {n} {unit}",),
        "next": ("(?:el |la )?proxim[oa] {unit}", "(?:el |la )?{unit} (?:que viene|proxim[oa]|siguiente)"),
        "last": ("(?:el |la )?{unit} (?:pasad[oa]|anterior)", "(?:el |la )?ultim[oa] {unit}"),
        "coming": (
            "(?:el |para el )?(?:proximo )?{weekday}",
            "(?:el |para el )?{weekday} (?:que viene|proximo)",
        ),
        "this": ("este {weekday}",),
        "either": (),
        "following": (
            "(?:el )?{weekday} de la (?:proxima semana|semana que viene|semana proxima)",
            "la (?:proxima semana|semana que viene|semana proxima) el {weekday}",
        ),
        "past": ("(?:el )?{weekday} pasado", "(?:el )?pasado {weekday}"),
        "week_end": ("(?:a |para el )?(?:fin|final) de (?:la )?semana", "fin de semana"),
        "month_end": ("(?:a |al |para )?(?:el )?(?:fin|fines|final|finales) de(?:l)? (?:este )?mes",),
        "year_end": ("(?:a |al |para )?(?:el )?(?:fin|fines|final|finales) de(?:l)? (?:este )?ano",),
        "end_of": ("(?:a |al |para )?(?:el )?(?:fin|fines|final|finales) de {month}",),
        "nth": ("(?:el |para el )(?:dia )?{day}",),
        "date": (
            "(?:el |para el )?(?:dia )?{day}o? (?:de )?{month}(?: del?)?{year}",
            "(?:el )?{month} {day}{year}",
        ),
    },
    now=frozenset({"ahora", "ahora mismo"}),
    at="a las|a la|las",
    on="para el|el|dia|el dia",
    weeks_in_days={8: 7, 15: 14},
)

FRENCH: Final = Tongue(
    language="fr",
    examples="demain, vendredi, dans 2 semaines, 15 mars",
    days=_days(
        {
            0: "aujourd'hui|aujourdhui|ce soir|d'ici ce soir",
            1: "demain|demain matin|demain soir|pour demain|d'ici demain",
            2: "apres-demain|apres demain",
            -1: "hier",
            -2: "avant-hier|avant hier",
        }
    ),
    weekdays=_numbered("lundi|lun mardi mercredi|mer jeudi|jeu vendredi|ven samedi|sam dimanche|dim", 0),
    months=_numbered(
        "janvier|janv|jan fevrier|fevr|fev mars avril|avr mai juin juillet|juil aout"
        " septembre|sept|sep octobre|oct novembre|nov decembre|dec"
    ),
    units=_units(
        minute="minute|minutes|min",
        hour="heure|heures|h",
        day="jour|jours|j",
        week="semaine|semaines",
        month="mois",
        year="an|ans|annee|annees",
    ),
    numbers=_merged(
        _numbered(
            "un|une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize"
            " dix-sept dix-huit dix-neuf vingt"
        ),
        {"trente": 30, "quarante": 40, "soixante": 60, "quatre-vingt-dix": 90},
    ),
    rules={
        "ahead": ("(?:dans|d'ici) {n} {unit}",),
        "back": ("il y a {n} {unit}",),
        "next": (
            "(?:la |le |l')?{unit} prochaine?",
            "(?:la |le )?prochaine? {unit}",
            "(?:la |le |l'){unit} qui vient",
        ),
        "last": ("(?:la |le |l')?{unit} (?:derniere?|passee?)",),
        "coming": ("(?:le |ce |pour )?{weekday} qui vient", "(?:le |pour |pour le |d'ici )?{weekday}"),
        "this": ("ce {weekday}",),
        "either": ("(?:le )?{weekday} prochain", "le prochain {weekday}"),
        "following": (
            "(?:le )?{weekday} (?:de )?la semaine prochaine",
            "la semaine prochaine,? (?:le )?{weekday}",
        ),
        "past": ("(?:le )?{weekday} dernier",),
        "week_end": ("(?:a |en |d'ici )?(?:la )?fin de (?:la )?semaine",),
        "month_end": ("(?:a |en |d'ici )?(?:la )?fin (?:du|de ce) mois", "fin de mois"),
        "year_end": ("(?:a |en |d'ici )?(?:la )?fin (?:de l'annee|d'annee)",),
        "end_of": ("(?:a |en |d'ici )?(?:la )?fin {month}",),
        "nth": ("(?:le |pour le ){day}(?:er)?",),
        "date": ("(?:le |pour le |d'ici le )?{day}(?:er)? {month}{year}", "{month} {day}{year}"),
    },
    now=frozenset({"maintenant"}),
    at="a|vers",
    on="pour le|d'ici le|le",
    weeks_in_days={8: 7, 15: 14},
)

ROMANIAN: Final = Tongue(
    language="ro",
    examples="mâine, vineri, peste 2 săptămâni, 15 martie",
    days=_days(
        {
            0: "azi|astazi|diseara|deseara|in seara asta|pana azi",
            1: "maine|miine|maine dimineata|maine seara|pana maine",
            2: "poimaine|poimiine",
            -1: "ieri",
            -2: "alaltaieri",
        }
    ),
    weekdays=_numbered(
        "luni|lunea|lun marti|martea miercuri|miercurea|mie joi|joia vineri|vinerea|vin"
        " sambata|simbata|sam duminica|dum",
        0,
    ),
    months=_numbered(
        "ianuarie|ian februarie|feb martie|mar aprilie|apr mai iunie|iun iulie|iul august|aug"
        " septembrie|sept|sep octombrie|oct noiembrie|nov|noi decembrie|dec"
    ),
    units=_units(
        minute="minut|minute|minutul|min",
        hour="ora|ore|h",
        day="zi|zile",
        week="saptamana|saptamani|saptamina|saptamini",
        month="luna|luni",
        year="an|ani|anul",
    ),
    numbers=_merged(
        _numbered(
            "un|o|una doi|doua trei patru cinci sase sapte opt noua zece unsprezece|unspe"
            " doisprezece|douasprezece treisprezece paisprezece cincisprezece saisprezece saptesprezece"
            " optsprezece nouasprezece douazeci"
        ),
        {"treizeci": 30, "patruzeci": 40, "saizeci": 60, "nouazeci": 90},
    ),
    rules={
        "ahead": ("(?:peste|in) {n} (?:de )?{unit}", "intr-{n} {unit}"),
        "back": ("acum {n} (?:de )?{unit}", "{n} (?:de )?{unit} in urma"),
        "next": ("{unit} viito(?:are|r)", "{unit} care vine"),
        "last": ("{unit} (?:trecuta?|trecut)",),
        "coming": ("(?:pe |pana )?{weekday}", "(?:pe )?{weekday} care vine"),
        "this": ("(?:pe )?{weekday} (?:asta|aceasta)",),
        "either": (),
        "following": (
            "(?:pe )?{weekday} viitoare",
            "(?:pe )?{weekday} saptam[ai]na viitoare",
            "saptam[ai]na viitoare,? (?:pe )?{weekday}",
        ),
        "past": ("(?:pe )?{weekday} trecuta",),
        "week_end": ("(?:la |pana la )?(?:sfarsitul|finalul) saptam[ai]nii",),
        "month_end": ("(?:la |pana la )?(?:sfarsitul|finalul) lunii",),
        "year_end": ("(?:la |pana la )?(?:sfarsitul|finalul) anului",),
        "end_of": ("(?:la |pana la )?(?:sfarsitul|finalul) lu(?:i|nii) {month}",),
        "nth": ("(?:pe|pe data de|in data de|pana pe) {day}",),
        "date": ("(?:pe |pe data de |in data de |pana pe )?{day} {month}{year}", "{month} {day}{year}"),
    },
    now=frozenset({"acum"}),
    at="la ora|la|ora",
    on="pe data de|in data de|pana pe|pe",
    weeks_in_days={},
)

TONGUES: Final[Mapping[str, Tongue]] = {
    tongue.language: tongue for tongue in (ENGLISH, GERMAN, SPANISH, FRENCH, ROMANIAN)
}
