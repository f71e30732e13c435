"""The hour that somebody names beside a day, or without one.

Never decides which hour several readings mean: `grammar` refuses those.
"""

from datetime import time

from daemon.dates.date_language import date_language, known_language
from daemon.dates.grammar import CHARS_MAX, ISO_DATE, NOTHING, names_a_time, split_day_and_clock
from daemon.dates.spelling import normalized_words


def means_nothing(words: str) -> bool:
    """Report whether words take a value away: "none", or nothing."""
    return normalized_words(words[:CHARS_MAX]) in NOTHING


def names_an_hour(words: str, language: str) -> bool:
    """Report whether words say more than a day: "friday 14:00", "at 2 pm", "in 2 hours"."""
    text = words.strip()
    if len(text) > CHARS_MAX or ISO_DATE.fullmatch(text):
        return False
    return bool(ISO_DATE.match(text)) or names_a_time(normalized_words(text), language)


def clock_alone(words: str, language: str) -> time | None:
    """Read an hour without a day, "14:00" or "at 2 pm"; None for anything else."""
    text = normalized_words(words[:CHARS_MAX])
    spoken = date_language(known_language(language))
    clocks = {clock for day, clock in split_day_and_clock(text, spoken) if not day}
    return clocks.pop() if len(clocks) == 1 else None
