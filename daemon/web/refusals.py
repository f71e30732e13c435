"""What the page says if a use case refuses, or if the disk is too full to write.

Never writes: a form that was refused has changed nothing.
"""

from daemon.cli.wording.sentences import answer_words
from daemon.refusal import Refused
from daemon.web.services import PageServices
from store.sentence import Sentence, sentence_fields


def refusal_words(refused: Refused) -> str:
    """Say what was seen, and what to do, in the language of the person."""
    parts = [sentence for sentence in (refused.sentence, refused.hint_sentence) if sentence is not None]
    return "; ".join(map(sentence_text, parts))


def shortfall_words(services: PageServices) -> str:
    """Say why nothing can be written; "" if there is room."""
    shortfall = services.floor.shortfall()
    return "" if shortfall is None else sentence_text(shortfall)


def sentence_text(sentence: Sentence) -> str:
    """Return a sentence of the daemon in the language of the person."""
    return answer_words(sentence_fields("message", sentence), "message")
