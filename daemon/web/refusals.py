"""What the page says if a use case refuses, or if the disk is too full to write.

Never writes: a form that was refused has changed nothing.
"""

import re
from typing import Final

from daemon.refusal import Refused
from daemon.web.services import PageServices
from daemon.words.sentences import answer_words
from daemon.words.translation import _, gettext_noop
from store.sentence import Sentence, sentence_fields

_ON_PAGE: Final = {
    "proposal-was-rejected": gettext_noop(
        "it was rejected or taken back: take that decision back first, below Decisions"
    ),
    "question-was-answered": gettext_noop(
        "the question is decided already: take that decision back first, below Decisions"
    ),
    "proposal-was-retracted": gettext_noop("the agent took it back"),
}
"""What the page says in place of sentences that name options of commands, by their ids."""
_COMMAND_AT_END: Final = re.compile(r"\s?: placet [a-z][^:;]*$")
_OPTION: Final = re.compile(r"(?<!\S)[`(]*--[a-z]")


def refusal_words(refused: Refused) -> str:
    """Say what was seen, and what to do, in the language of the person."""
    hint = "" if refused.hint_sentence is None else sentence_text(refused.hint_sentence)
    # What an option of a command would do, a person here does by another form.
    parts = [sentence_text(refused.sentence), "" if _OPTION.search(hint) else hint]
    return "; ".join(filter(None, parts))


def shortfall_words(services: PageServices) -> str:
    """Say why nothing can be written; "" if there is room."""
    shortfall = services.floor.shortfall()
    return "" if shortfall is None else sentence_text(shortfall)


def sentence_text(sentence: Sentence) -> str:
    """Return a sentence of the daemon in the language of the person."""
    return page_words(sentence.id, answer_words(sentence_fields("message", sentence), "message"))


def page_words(id_: str, words: str) -> str:
    """Return a sentence of the daemon, by its id and in words, without the command that it ends with."""
    return _(_ON_PAGE[id_]) if id_ in _ON_PAGE else _COMMAND_AT_END.sub("", words)
