"""Answers of a model from which nothing follows: why, and what a person can do about it.

Never takes silence for an answer, and never repeats a word of one.
"""

import json
import re
from typing import Any, Final

from daemon.agents.tools.model_interface import AnswerFault, ModelTurn
from daemon.agents.tools.table import TOOLS
from store.sentence import Sentence, sentence

CUT_OFF: Final = frozenset({"length", "max_tokens", "model_length"})
DECLINED: Final = frozenset({"content_filter", "safety", "recitation", "prohibited_content", "refusal"})
BROKEN_OFF: Final = frozenset({"error", "abort", "cancelled"})
"""Why servers say that an answer ended, in small letters, if it did not end well."""
NOT_THE_MODEL: Final = frozenset({"user", "system", "developer", "tool", "function"})
"""Who has not answered if a message is from one of these."""

_TAG = r"(?:think|thinking|thought|reasoning|seed:think)"
_OPENED = re.compile(rf"<{_TAG}>|\[THINK\]|◁think▷|<\|channel\|>analysis", re.IGNORECASE)
_CLOSED = re.compile(
    rf"</{_TAG}>|\[/THINK\]|◁/think▷|<\|channel\|>(?:final|commentary)(?:<\|message\|>)?", re.IGNORECASE
)
_MARKUP = re.compile(
    r"<\|?/?(?:tool|function|invoke|python_tag|plugin|action)|<[｜|]tool|\[TOOL_CALLS?\]|<arg_key>"
    r"|to=functions|```tool_c|\b(?:" + "|".join(map(re.escape, TOOLS)) + r")\b"
)


class NothingCalled(AnswerFault):
    """An answer without any call. `turn` is what it had besides; `in_words` if the model merely spoke."""

    def __init__(self, words: Sentence, turn: ModelTurn, *, in_words: bool) -> None:
        super().__init__(words)
        self.turn = turn
        self.in_words = in_words


def spoken_text(text: str) -> str:
    """Return what a model said, without what it thought aloud; a thought without an end takes all the rest.

    The end of a thought may stand without its beginning, which some templates put into the request.
    """
    # An answer that is JSON as a whole may name such a tag in a text.
    if _is_json(text):
        return text
    ends = list(_CLOSED.finditer(text))
    rest = text[ends[-1].end() :] if ends else text
    opened = _OPENED.search(rest)
    return rest if opened is None else rest[: opened.start()]


def _is_json(text: str) -> bool:
    if text.lstrip()[:1] not in ("{", "["):
        return False
    try:
        json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def require_model_message(choice: dict[str, Any], message: dict[str, Any]) -> str:
    """Return, in small letters, why an answer ended. Raises AnswerFault if it is no answer of the model's."""
    ended = str(choice.get("finish_reason") or "").lower()
    if ended in DECLINED or message.get("refusal"):
        raise AnswerFault(sentence("model-declined", "the model declined to answer"))
    if ended in BROKEN_OFF or choice.get("error"):
        raise AnswerFault(
            sentence("model-answer-broken-off", "the server broke the model's answer off with an error")
        )
    if message.get("role") in NOT_THE_MODEL:
        raise AnswerFault(
            sentence("model-answer-not-models", "the server sent back a message that is not the model's")
        )
    return ended


def nothing_called(turn: ModelTurn, content: str, ended: str, *, by_tools: bool) -> NothingCalled:
    """Return why nothing follows from an answer with these words, and what a person can do about it."""
    spoken = spoken_text(content)
    in_words = False
    if ended in CUT_OFF:
        words = sentence(
            "model-answer-cut-off",
            "the model's answer was cut off before it was complete; see model.max_output_tokens",
        )
    elif content.strip() and not spoken.strip():
        words = sentence(
            "model-thought-only",
            "the model only thought aloud and gave no answer; see model.max_output_tokens,"
            " or turn its thinking off",
        )
    elif not spoken.strip():
        words = sentence("model-answer-empty", "the model's answer is empty")
    elif by_tools and _MARKUP.search(spoken):
        words = sentence(
            "model-calls-unparsed",
            "the server left the model's calls as text: start it with --jinja (llama.cpp) or with"
            " --enable-auto-tool-choice and --tool-call-parser (vLLM), or set model.mode to actions",
        )
    elif by_tools:
        in_words = True
        words = sentence(
            "model-called-no-tool", "the model answered in words and called no tool; see model.mode"
        )
    else:
        words = sentence(
            "model-form-ignored",
            "the answer is not in the form that was asked for: the server ignores response_format;"
            " see model.mode",
        )
    return NothingCalled(words, turn, in_words=in_words)
