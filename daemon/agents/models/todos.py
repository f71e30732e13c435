"""Things to do: lines of lists, and what follows "todo:" in a sentence.

Never takes a list for things to do that its heading says is none: who was there, what speaks for it.
"""

import re
from functools import lru_cache

from daemon.agents.models.cues import Cues
from daemon.agents.models.plain import alternatives, phrases, plain
from daemon.agents.models.segments import Clause, ListLine, words
from daemon.agents.tools import TITLE_CHARS_MAX

TO_DO_CHARS_MAX = 160  # what is longer is prose
ACT_CHARS_MIN = 4
_LINK = re.compile(r"\S+://\S+$")
_FACT = re.compile(r"[^:]{1,40}:\s*[\d€$£]")


def is_to_do(line: ListLine, cues: Cues) -> bool:
    """Say whether a list line is something to do: by its box, its heading, or as all that the note says."""
    title = plain(line.title)
    if not words(title) or len(title) > TO_DO_CHARS_MAX:
        return False
    if line.box:
        return True
    if title.endswith("?") or _LINK.match(title) or _FACT.match(title):
        return False
    finished = phrases(cues.finished).match(title) is not None
    if finished or cues.past.intersection(words(title)[:1]) or _denies(line.heading, cues):
        return False
    return not line.heading or _heads(line.heading, cues) or _is_an_act(line, cues)


def _denies(heading: str, cues: Cues) -> bool:
    """Say whether a heading takes the lines under it back: "Not needed:", "Done:"."""
    if not heading.endswith(":"):
        return False
    led = _before_cue(plain(heading), cues)
    return is_done_heading(heading, cues) or not (cues.negations | cues.past).isdisjoint(led)


def is_done_heading(heading: str, cues: Cues) -> bool:
    """Say whether a heading says no more than that what follows is done."""
    said = plain(heading)
    return said.endswith(":") and phrases(cues.finished).fullmatch(said.rstrip(" :")) is not None


def _before_cue(said: str, cues: Cues) -> list[str]:
    cue = phrases(cues.to_do).search(said)
    return words(said if cue is None else said[: cue.start()])


def _is_an_act(line: ListLine, cues: Cues) -> bool:
    """Say whether a line asks for something by its verb, under whatever heading."""
    said, verbs = words(plain(line.title)), cues.verbs
    verb = said[-1] if verbs.last else said[0]
    if len(said) < 2 or (verbs.last and line.title.split()[-1][:1].isupper()):
        return False
    if verb in verbs.acts:
        return True
    looks_so = len(verb) >= ACT_CHARS_MIN and verb.endswith(verbs.act_endings)
    return looks_so and re.fullmatch(verbs.no_acts, verb) is None


def _heads(heading: str, cues: Cues) -> bool:
    """Say whether a heading says that things to do follow."""
    said = plain(heading)
    cue = phrases(cues.to_do).search(said)
    return cue is not None and (cues.negations | cues.past).isdisjoint(words(said[: cue.start()]))


@lru_cache(maxsize=16)
def _listing(cues: Cues) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Compile the lead of a list in a line, and what stands between its members."""
    lead = rf"(?<![\w'-])(?P<cue>{alternatives(cues.to_do)})\s*:\s*(?P<rest>\S.*)$"
    also = alternatives(cues.and_words)
    between = rf"\s*(?:,(?!\d)|;)\s*(?:(?:{also})\s+)?|\s+(?:{also})\s+"
    return re.compile(lead), re.compile(between)


def listed(clause: Clause, cues: Cues) -> list[str]:
    """Read "todo: a" and "need to: a, b and c" as the titles that are listed."""
    leading, between = _listing(cues)
    lead = None if clause.asks or ":" not in clause.bare else leading.search(clause.bare)
    if lead is None or (cues.negations | cues.past).intersection(words(clause.bare[: lead.start()])):
        return []
    start, end = lead.start("rest"), len(clause.bare.rstrip(" .!;"))
    titles, at = [], start
    for gap in _gaps(between, clause.bare, start, end):
        titles.append(clause.text[at : gap[0]])
        at = gap[1]
    titles.append(clause.text[at:end])
    return [title.strip() for title in titles if words(plain(title)) and len(title) <= TO_DO_CHARS_MAX]


def _gaps(between: re.Pattern[str], bare: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return where members meet; "salt and pepper" is one thing unless a comma says that they are several."""
    found = [match.span() for match in between.finditer(bare, start, end)]
    return found if any(sign in bare[start:end] for sign in ",;") else []


def shortened(title: str) -> str:
    """Return a title that the journal takes."""
    return title[:TITLE_CHARS_MAX].strip()
