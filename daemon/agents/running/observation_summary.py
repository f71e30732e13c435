"""What is told of the observations that a run is not given any more: their days, and their frequent words.

Never asks a model, and never says what they mean: it counts.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache

from daemon.agents.context.run_inputs import RunInputs
from daemon.agents.models.rules.embedded_model import RulesModel
from daemon.agents.models.rules.lexicon.plain_text import to_plain
from daemon.agents.models.rules.lexicon.tables import cue_tables
from daemon.agents.tools.model_interface import ObservationsSummary, ObservationView

FREQUENT_WORDS_MAX = 8
WORD_CHARS_MAX = 30
_WORD_CHARS_MIN = 3
_FREQUENT_FROM = 2
_TEXT_CHARS_READ = 2_000
_LETTERS = re.compile(r"[^\W\d_]+")


def reads_observations(model_name: str) -> bool:
    """Report whether a model reads what its agent noted: from one that does not, nothing is kept."""
    return model_name != RulesModel.name


def with_observations_summary(inputs: RunInputs) -> RunInputs:
    """Return what a run begins with, and in short what it is not given of its agent's observations.

    Costs as much as there are observations: call it for a model that reads them.
    """
    summary = summary_of(inputs.untold_observations, inputs.context.now)
    return replace(inputs, context=replace(inputs.context, observations_summary=summary))


def summary_of(views: Sequence[ObservationView], now: datetime) -> ObservationsSummary | None:
    """Return the days of observations and the words that several of them have; None if there are none.

    The order of the observations does not matter. A word counts once for each. What a clock that was ahead
    stamped is of today.
    """
    if not views:
        return None
    days = [min(view.at, now).date() for view in views]
    counts = Counter(word for view in views for word in _content_words(view.text))
    frequent = sorted((-count, word) for word, count in counts.items() if count >= _FREQUENT_FROM)
    words = tuple((word, -less) for less, word in frequent[:FREQUENT_WORDS_MAX])
    return ObservationsSummary(min(days), max(days), words)


def _content_words(text: str) -> set[str]:
    """Return the words of a text, letters alone; one that is too long to be a word is none."""
    lower = unicodedata.normalize("NFC", text[:_TEXT_CHARS_READ]).lower()
    return {
        word
        for word in _LETTERS.findall(lower)
        if _WORD_CHARS_MIN <= len(word) <= WORD_CHARS_MAX
        and word.isalpha()
        and to_plain(word) not in _function_words()
    }


@cache
def _function_words() -> frozenset[str]:
    return frozenset().union(*(table.function_words for table in cue_tables().values()))
