"""What others say, or are said, to do themselves: "Tom will bring the ladder by Friday".

Never takes for a promise what somebody wants, what must be done, or what the writer does.
"""

from daemon.agents.models.rules.clauses import Clause, words_in
from daemon.agents.models.rules.lexicon.cue_table import CueTable
from daemon.agents.models.rules.lexicon.plain_text import phrase_pattern, to_plain

SUBJECT_WORDS_MAX = 3
_FUTURE_CHARS_MIN = 5


def is_promise_of_another(clause: Clause, cues: CueTable) -> bool:
    """Return whether a clause says what others will do themselves: its day and its length are theirs."""
    return _is_spoken_promise(clause, cues) if clause.is_others else _is_reported_promise(clause, cues)


def _is_spoken_promise(clause: Clause, cues: CueTable) -> bool:
    words = words_in(clause.plain_text)
    promises = phrase_pattern(cues.speech.promises).search(clause.plain_text)
    says = promises is not None or not cues.speech.speaker.isdisjoint(words)
    return says and cues.speech.wants.isdisjoint(words)


def _is_reported_promise(clause: Clause, cues: CueTable) -> bool:
    """Return whether a person is the subject, and the verb behind it says what that person does."""
    roles, cue_promises = cues.role.day, cues.role.promised
    words = words_in(clause.unquoted)
    if not roles.writer.isdisjoint(words) or phrase_pattern(roles.must).search(clause.unquoted):
        return False
    return any(
        _is_person(clause, words[:count], cues) and _is_act_of(words[count:], clause, cues)
        for count in range(1, min(SUBJECT_WORDS_MAX, len(words)) + 1)
        if cue_promises.not_acts.isdisjoint(words[count : count + 2])
    )


def _is_person(clause: Clause, subject: list[str], cues: CueTable) -> bool:
    """Return whether words name a person: by a name alone, or by a word such as "sister" at their end."""
    roles, cue_promises = cues.role.day, cues.role.promised
    if len(subject) > 1 or subject[0] in cue_promises.third_persons | roles.people:
        is_led = len(subject) == 1 or subject[0] in roles.determiners
        persons = (roles.people - cues.duty.pronouns) | cue_promises.third_persons
        return is_led and subject[-1] in persons
    asides = (to_plain(word) for phrase in cues.duty.adverbs for word in phrase.split())
    no_names = cues.function_words | cues.duty.openers | roles.determiners | cues.duty.pronouns
    return clause.text[:1].isupper() and subject[0] not in no_names and subject[0] not in asides


def _is_act_of(words: list[str], clause: Clause, cues: CueTable) -> bool:
    """Return whether words begin with what somebody does or will do."""
    cue_promises = cues.role.promised
    if not words:
        return False
    if phrase_pattern(cue_promises.acts).match(" ".join(words)):
        return True
    if words[0] in cue_promises.wishes:
        # "Ute will die Liste bis Montag" wants it done, and with an infinitive she does it herself.
        is_infinitive = (
            words[-1].endswith(cues.verbs.imperative_endings)
            and clause.text[: len(clause.text.rstrip(" .!"))].split()[-1][:1].islower()
        )
        return is_infinitive and words[-1] not in cue_promises.not_acts
    endings = tuple(map(to_plain, cue_promises.future_endings))
    return len(words[0]) >= _FUTURE_CHARS_MIN and words[0].endswith(endings)
