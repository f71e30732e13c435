"""Things to do: lines of lists, and what follows "todo:" in a sentence.

Never reads a list as things to do if its heading says otherwise: who was there, what speaks for it.
"""

import re
from functools import lru_cache

from daemon.agents.models.rules.clauses import Clause, ListLine, words_in
from daemon.agents.models.rules.lexicon.cue_table import CueTable
from daemon.agents.models.rules.lexicon.plain_text import alternation, phrase_pattern, to_plain
from daemon.agents.tools.arguments import TITLE_CHARS_MAX

TO_DO_CHARS_MAX = 160  # what is longer is prose
ACT_CHARS_MIN = 4
MEMBER_WORDS_MAX = 8
_LINK = re.compile(r"\S+://\S+$")
_FACT = re.compile(r"[^:]{1,40}:\s*[\d€$£]")


def is_to_do_line(line: ListLine, cues: CueTable) -> bool:
    """Return whether a list line is something to do: by its box, by its heading, or if it has no heading."""
    title = to_plain(line.title)
    if not words_in(title) or len(title) > TO_DO_CHARS_MAX:
        return False
    if line.box:
        return True
    if title.endswith("?") or _LINK.match(title) or _FACT.match(title):
        return False
    finished = phrase_pattern(cues.done.cues).match(title) is not None
    if (
        finished
        or _ends_done(title, cues)
        or cues.past_words.intersection(words_in(title)[:1])
        or _denies(line.heading, cues)
    ):
        return False
    return not line.heading or _heads(line.heading, cues) or _is_an_act(line, cues)


def _ends_done(title: str, cues: CueTable) -> bool:
    """Return whether a list line says at its end that it is done: "torch (got it)"."""
    words = words_in(title)
    if not (cues.negations | cues.done.unfinished).isdisjoint(words):
        return False
    is_bare = len(words) > 1 and (words[-1] in cues.done.bare or words[-2] in cues.done.already)
    return _done_end(cues).search(title) is not None or (is_bare and words[0] not in cues.verbs.imperatives)


@lru_cache(maxsize=16)
def _done_end(cues: CueTable) -> re.Pattern[str]:
    phrases = alternation((*cues.done.behind_items, *cues.done.cues))
    return re.compile(rf"(?:[(,:–—]\s*|\s-\s+)(?:{phrases})[\s.!)]*$|[✓✔✅☑]\ufe0f?\s*$")


def _denies(heading: str, cues: CueTable) -> bool:
    """Return whether a heading denies the lines under it: "Not needed:", "Done:", "Steps to reproduce"."""
    if phrase_pattern(cues.to_do.reproduction).search(to_plain(heading)):
        return True
    if not heading.endswith(":"):
        return False
    led = _before_cue(to_plain(heading), cues)
    return is_done_heading(heading, cues) or not (cues.negations | cues.past_words).isdisjoint(led)


def is_done_heading(heading: str, cues: CueTable) -> bool:
    """Return whether a heading says only that the lines under it are done."""
    plain = to_plain(heading)
    return plain.endswith(":") and phrase_pattern(cues.done.cues).fullmatch(plain.rstrip(" :")) is not None


def _before_cue(text: str, cues: CueTable) -> list[str]:
    cue = phrase_pattern(cues.to_do.cues).search(text)
    return words_in(text if cue is None else text[: cue.start()])


def _is_an_act(line: ListLine, cues: CueTable) -> bool:
    """Return whether a line asks for something by its verb, whatever its heading is."""
    texts, verbs = words_in(to_plain(line.title)), cues.verbs
    verb = texts[-1] if verbs.is_last else texts[0]
    if len(texts) < 2 or (verbs.is_last and line.title.split()[-1][:1].isupper()):
        return False
    if verb in verbs.imperatives:
        return True
    looks_so = len(verb) >= ACT_CHARS_MIN and verb.endswith(verbs.imperative_endings)
    return looks_so and re.fullmatch(verbs.not_imperative, verb) is None


def _heads(heading: str, cues: CueTable) -> bool:
    """Return whether a heading announces things to do."""
    plain = to_plain(heading)
    cue = phrase_pattern(cues.to_do.cues).search(plain)
    return cue is not None and (cues.negations | cues.past_words).isdisjoint(words_in(plain[: cue.start()]))


@lru_cache(maxsize=16)
def _list_patterns(cues: CueTable) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Compile the lead of a list within a line, and the separators of its members."""
    lead = rf"(?<![\w'-])(?P<cue>{alternation(cues.to_do.cues)})\s*:\s*(?P<rest>\S.*)$"
    also = alternation(cues.to_do.and_words)
    between = rf"\s*(?:,(?!\d)|;)\s*(?:(?:{also})\s+)?|\s+(?:{also})\s+"
    return re.compile(lead), re.compile(between)


def listed_titles(clause: Clause, cues: CueTable) -> list[str]:
    """Read "todo: a" and "need to: a, b and c" as the titles that are listed."""
    leading, between = _list_patterns(cues)
    lead = None if clause.is_question or ":" not in clause.plain_text else leading.search(clause.plain_text)
    if lead is None:
        return []
    if (cues.negations | cues.past_words).intersection(words_in(clause.plain_text[: lead.start()])):
        return []
    start, end = lead.start("rest"), len(clause.plain_text.rstrip(" .!;"))
    titles, position = [], start
    for gap in _gaps(between, clause.plain_text, start, end):
        # "Ask Ola, whether she comes" is one act.
        if not cues.duty.asked.isdisjoint(words_in(clause.plain_text[gap[1] : end])[:1]):
            continue
        titles.append(clause.text[position : gap[0]])
        position = gap[1]
    titles.append(clause.text[position:end])
    return [title.strip() for title in titles if words_in(to_plain(title)) and len(title) <= TO_DO_CHARS_MAX]


def listed_member(clause: Clause) -> str:
    """Return a clause as one member of a list, without the signs that end it."""
    return clause.text.rstrip(" .!;")


def is_list_member(clause: Clause, cues: CueTable) -> bool:
    """Return whether a clause may be a member of a list that goes on, and no sentence of its own."""
    words = words_in(clause.plain_text)
    sentence_words = cues.negations | cues.past_words | cues.conditions
    return (
        bool(words)
        and len(words) <= MEMBER_WORDS_MAX
        and not clause.is_question
        and ":" not in clause.text
        and words[0] not in cues.duty.pronouns
        and sentence_words.isdisjoint(words)
    )


def _gaps(between: re.Pattern[str], bare: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the gaps between members. Without a comma, "salt and pepper" is one thing."""
    gaps = [match.span() for match in between.finditer(bare, start, end)]
    return gaps if any(sign in bare[start:end] for sign in ",;") else []


def journal_title(title: str) -> str:
    """Return a title cut to what the journal accepts."""
    return title[:TITLE_CHARS_MAX].strip()
