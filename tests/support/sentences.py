"""What a person reads of the sentences in an answer.

Never asks a daemon.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from daemon.words.dates import full_time_words
from daemon.words.sentences import answer_words

_TIME: Final = re.compile(r"\d{4}-\d{2}-\d{2}T[\d:.]+Z")


def words_by_id(answer: Mapping[str, Any], *names: str) -> list[str]:
    """Return the words of sentences of an answer, from their ids alone: the English texts are taken away."""
    return [answer_words({**answer, name: ""}, name) for name in names]


def with_local_times(text: str) -> str:
    """Return an English text of the daemon with its times as a person reads them."""
    return _TIME.sub(lambda match: full_time_words(match[0]), text)
