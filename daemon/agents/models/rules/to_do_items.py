"""Things to do: lines of lists, and what follows "todo:" in a sentence.

Never reads a list as things to do if its heading says otherwise: who was there, what speaks for it.
"""

import re
from functools import lru_cache

from daemon.agents.models.rules.clauses import Clause, ListLine, words_in
from daemon.agents.models.rules.lexicon.cue_table import CueTable
from daemon.agents.models.rules.lexicon.plain_text import alternation, phrase_pattern, to_plain
from daemon.agents.models.rules.lexicon.word_lists import Phrases
from daemon.agents.tools.arguments import TITLE_CHARS_MAX

TO_DO_CHARS_MAX = 160  # what is longer is prose
ACT_CHARS_MIN = 4
MEMBER_WORDS_MAX = 8
HEAD_WORDS_MAX = 8
BARE_MEMBERS_MIN = 3
INFINITIVE_LANGUAGES = frozenset({"fr", "es"})
_LINK = re.compile(r"\S+://\S+$")
_LIST_SIGN = re.compile(r":|\s[-–—]\s")
_HEAD = re.compile(r"\W*(?P<head>[^:]{2,60}?)\s*(?::|\s[-–—])\s+(?P<rest>\S.*)$")
_SMALL = frozenset(
    {"a", "an", "some", "for", "with", "up", "out", "off", "new", "two", "about", "to", "more"}
)
_NO_OWNERS = frozenset({"what", "today", "tomorrow", "week", "it", "that", "here", "let", "tonight", "there"})
_FACT = re.compile(r"[^:]{1,40}:\s*[\d€$£]")


def is_to_do_line(line: ListLine, cues: CueTable) -> bool:
    """Return whether a list line is something to do: by its box, by its heading, or if it has no heading."""
    title = to_plain(line.title)
    if not words_in(title) or len(title) > TO_DO_CHARS_MAX:
        return False
    if line.box:
        return True
    if _is_dropped(words_in(title), cues):
        return False
    if title.endswith("?") or _LINK.match(title) or _FACT.match(title) or _is_statement(line.title, cues):
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


def _is_dropped(words: list[str], cues: CueTable) -> bool:
    """Return whether a line says that nobody has to do it any more.

    Romanian begins its duties with participles, so that only the end of a line tells there.
    """
    ends = words[-1:] if cues.language == "ro" else (words[0], words[-1])
    return len(words) > 1 and not cues.role.heads.dropped.isdisjoint(ends)


def _is_statement(title: str, cues: CueTable) -> bool:
    """Return whether a line says something of what it names, and neither side of its colon is an act."""
    named, sign, rest = title.partition(": ")
    return bool(sign) and not (is_act(named, cues) or is_act(rest, cues))


def _ends_done(title: str, cues: CueTable) -> bool:
    """Return whether a list line says at its end that it is done: "torch (got it)"."""
    words = words_in(title)
    if _possession_end(cues).search(title) and words[0] not in cues.verbs.imperatives:
        return True
    if not (cues.negations | cues.done.unfinished).isdisjoint(words):
        return False
    is_bare = len(words) > 1 and (words[-1] in cues.done.bare or words[-2] in cues.done.already)
    is_bare = is_bare or _is_already_settled(words, cues)
    return _done_end(cues).search(title) is not None or (is_bare and words[0] not in cues.verbs.imperatives)


def _is_already_settled(words: list[str], cues: CueTable) -> bool:
    """Return whether "already" or its like is followed by a word that says where a thing is."""
    places = [index for index, word in enumerate(words) if index and word in cues.done.already]
    return bool(places) and not cues.role.heads.settled.isdisjoint(words[places[-1] + 1 :])


@lru_cache(maxsize=16)
def _possession_end(cues: CueTable) -> re.Pattern[str]:
    """Compile what says at the end of a line that a thing is there, the longer phrases without a sign too."""
    phrases = cues.role.heads.possession
    longer = alternation(phrase for phrase in phrases if " " in phrase)
    return re.compile(rf"(?:[(,:–—]\s*|\s-\s+)(?:{alternation(phrases)})[\s.!)]*$|\s(?:{longer})[\s.!]*$")


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
    cue = rf"(?P<cue>{alternation(cues.to_do.cues)})"
    dashed = rf"^\W*(?P<dashed>{alternation(cues.to_do.cues)})\s+[-–—]"
    lead = rf"(?:(?<![\w'-]){cue}\s*:|{dashed})\s*(?P<rest>\S.*)$"
    also = alternation(cues.to_do.and_words)
    between = rf"\s*(?:,(?!\d)|;|\s\+\s)\s*(?:(?:{also})\s+)?|\s+(?:{also})\s+"
    return re.compile(lead), re.compile(between)


def listed_titles(clause: Clause, cues: CueTable) -> list[str]:
    """Read "todo: a" and "need to: a, b and c" as the titles that are listed."""
    leading, _ = _list_patterns(cues)
    is_list = not clause.is_question and _LIST_SIGN.search(clause.plain_text) is not None
    lead = leading.search(clause.plain_text) if is_list else None
    if lead is None:
        return headed_titles(clause, cues) if is_list else bare_titles(clause, cues)
    if (cues.negations | cues.past_words).intersection(words_in(clause.plain_text[: lead.start()])):
        return []
    return _members(clause, lead.start("rest"), cues)


def bare_titles(clause: Clause, cues: CueTable) -> list[str]:
    """Read "call Ola, pay the bill, buy bread" as acts, if a clause is nothing but these.

    Only French and Spanish have an ending of acts alone; elsewhere it takes three, in English of known verbs.
    """
    if clause.is_others or clause.is_question or "," not in clause.plain_text:
        return []
    words = words_in(clause.plain_text)
    sentence_words = cues.negations | cues.past_words | cues.conditions | cues.verbs.auxiliaries
    is_sentence = not (sentence_words | cues.duty.pronouns).isdisjoint(words)
    if is_sentence or phrase_pattern(_duty_cues(cues)).search(clause.plain_text):
        return []
    members = _members(clause, 0, cues)
    is_english = cues.language == "en"
    verbs = cues.verbs.imperatives | cues.duty.verbs | cues.verbs.forms.keys()
    knows_verbs = not is_english or all(words_in(to_plain(member))[0] in verbs for member in members)
    is_long = len(members) >= (2 if cues.language in INFINITIVE_LANGUAGES else BARE_MEMBERS_MIN)
    return members if is_long and knows_verbs and all(is_act(member, cues) for member in members) else []


@lru_cache(maxsize=16)
def _duty_cues(cues: CueTable) -> Phrases:
    return tuple(cue for form in cues.duty.forms for cue in form.cues)


def headed_titles(clause: Clause, cues: CueTable) -> list[str]:
    """Read "on my plate: call Ola, pay the bill", if the head is the writer's and all members are acts."""
    head = _HEAD.match(clause.plain_text)
    words = words_in(head["head"]) if head and not clause.is_others else []
    heads = cues.role.heads
    if head is None or not 1 <= len(words) <= HEAD_WORDS_MAX or heads.own.isdisjoint(words):
        return []
    if words[0] not in heads.own | heads.leads | cues.function_words | cues.duty.openers or _names_another(
        words, cues
    ):
        return []
    if not (heads.others | cues.negations | cues.past_words).isdisjoint(words):
        return []
    members = _members(clause, head.start("rest"), cues)
    goes_on = clause.text.endswith(";")
    is_list = len(members) > 1 or (goes_on and bool(members))
    return members if is_list and all(is_act(member, cues) for member in members) else []


def _names_another(words: list[str], cues: CueTable) -> bool:
    """Return whether a head says whose list it is: "Tom's jobs"."""
    owners = (word.removesuffix("'s") for word in words if word.endswith("'s"))
    return cues.language == "en" and any(owner not in _NO_OWNERS for owner in owners)


def is_act(title: str, cues: CueTable) -> bool:
    """Return whether a title says what to do, by its verb; what only looks so counts in a list of acts."""
    words = words_in(to_plain(title))
    if not 2 <= len(words) <= MEMBER_WORDS_MAX + 2:
        return False
    if cues.verbs.is_last:
        last = title.strip(" .!").split()[-1]
        is_participle = re.fullmatch(cues.verbs.not_imperative, to_plain(last)) is not None
        return (
            last[:1].islower()
            and to_plain(last).endswith(cues.verbs.imperative_endings)
            and not is_participle
        )
    verb = next((word for word in words if word not in cues.duty.clitics), "").split("-")[0]
    if verb in cues.function_words or verb[:1].isdigit():
        return False
    if verb in cues.verbs.imperatives or verb in cues.duty.verbs or verb in cues.verbs.forms:
        return True
    endings = tuple(ending for form in cues.duty.forms for ending in form.endings if len(ending) > 1)
    if cues.language == "ro":
        endings = ("at", "it", "ut", "us", "ns", "rs", "es", "os", "is", "as", "rt", "pt")
    looks_so = bool(endings) and verb.endswith(endings) and len(verb) >= ACT_CHARS_MIN - 1
    return looks_so or (cues.language == "en" and words[1] in cues.role.day.determiners | _SMALL)


def _members(clause: Clause, start: int, cues: CueTable) -> list[str]:
    """Return the members of a list that begins at a place in a clause."""
    between = _list_patterns(cues)[1]
    end = len(clause.plain_text.rstrip(" .!;"))
    titles, position = [], start
    for gap in _gaps(between, clause.plain_text, start, end):
        # "Ask Ola, whether she comes" is one act.
        if not cues.duty.asked.isdisjoint(words_in(clause.plain_text[gap[1] : end])[:1]):
            continue
        titles.append(clause.text[position : gap[0]])
        position = gap[1]
    titles.append(clause.text[position:end])
    if cues.language == "ro" and all(title.strip().startswith("de ") for title in titles):
        titles = [title.strip().removeprefix("de ") for title in titles]  # "de luat pâine" is "luat pâine"
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
    return gaps if any(sign in bare[start:end] for sign in ",;+") else []


def journal_title(title: str) -> str:
    """Return a title cut to what the journal accepts."""
    return title[:TITLE_CHARS_MAX].strip()
