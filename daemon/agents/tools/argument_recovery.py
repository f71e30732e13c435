"""Recovery of the arguments of a call from what a model wrote.

Never repairs: text without a JSON object is refused, with the beginning of the text in the message.
"""

import json
import math
from typing import Any

from daemon.agents.tools.arguments import ArgumentFault, Arguments
from store.sentence import sentence

TEXT_CHARS_MAX = 64 * 1024
DEPTH_MAX = 12
_FENCE, _LANGUAGE = "```", "json"
_INT_BITS_MAX = 63


def recover_arguments(written_arguments: str | dict[str, Any]) -> Arguments:
    """Read arguments from plain JSON, from a fenced block, or from the first balanced object in the text.

    Raises ArgumentFault if there is no object, or if the journal could not store it.
    """
    arguments = written_arguments if isinstance(written_arguments, dict) else find_object(written_arguments)
    if arguments is None:
        text = str(written_arguments)[:80]
        raise ArgumentFault(
            sentence(
                "arguments-not-json-object", "arguments must be one JSON object, not {seen!r}", seen=text
            )
        )
    _check_plain(arguments, 0)
    return arguments


def find_object(text: str) -> dict[str, Any] | None:
    """Return the first JSON object in the places in which models write it; None if there is none.

    What is in it is not checked. Raises ArgumentFault for a text that is too long.
    """
    if len(text) > TEXT_CHARS_MAX:
        raise ArgumentFault(
            sentence(
                "arguments-too-long",
                "the arguments have {count} characters, the limit is {most}",
                count=len(text),
                most=TEXT_CHARS_MAX,
            )
        )
    # The whole text first: a title in plain JSON may itself contain a fence or a brace.
    for candidate in (text, _first_fenced_block(text), _first_balanced_object(text)):
        arguments = _parse_object(candidate)
        if arguments is not None:
            return arguments
    return None


def _parse_object(candidate: str) -> dict[str, Any] | None:
    """Parse one JSON object; None if the text is none.

    A line break within a string is allowed: servers that constrain answers by a grammar let models write it.
    """
    try:
        value = json.loads(candidate, strict=False)
        # Some servers write arguments as JSON within a JSON string.
        if isinstance(value, str):
            value = json.loads(value, strict=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _first_fenced_block(text: str) -> str:
    """Return what stands between the first two fences, but for the word `json`; empty if there are none."""
    _, _, rest = text.partition(_FENCE)
    block, end, _ = rest.partition(_FENCE)
    if not end:
        return ""
    return block[len(_LANGUAGE) :] if block[: len(_LANGUAGE)].lower() == _LANGUAGE else block


def _first_balanced_object(text: str) -> str:
    """Return the first object whose braces balance, braces within strings aside; empty if there is none."""
    start = text.find("{")
    depth, quoted, escaped = 0, False, False
    for index in range(max(start, 0), len(text)):
        sign = text[index]
        if escaped:
            escaped = False
        elif quoted:
            escaped, quoted = sign == "\\", sign != '"'
        elif sign == '"':
            quoted = True
        elif sign in "{}":
            depth += 1 if sign == "{" else -1
            if depth == 0:
                return text[start : index + 1]
    return ""


def _check_plain(value: object, depth: int) -> None:
    """Raise ArgumentFault for a value that the log cannot carry.

    Those are integers beyond 64 bits, NaN and infinities, text with half surrogates, and deep nesting.
    """
    if depth > DEPTH_MAX:
        raise ArgumentFault(
            sentence(
                "arguments-nested-too-deep",
                "the arguments are nested deeper than {most} levels",
                most=DEPTH_MAX,
            )
        )
    if isinstance(value, dict):
        for key, member in value.items():
            _check_plain(key, depth + 1)
            _check_plain(member, depth + 1)
    elif isinstance(value, list):
        for member in value:
            _check_plain(member, depth + 1)
    elif isinstance(value, str):
        _check_text(value)
    elif isinstance(value, float) and not math.isfinite(value):
        raise ArgumentFault(sentence("number-not-finite", "a number is not finite"))
    elif isinstance(value, int) and value.bit_length() > _INT_BITS_MAX:
        raise ArgumentFault(sentence("number-beyond-64-bits", "a number needs more than 64 bits"))


def _check_text(value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError as fault:
        raise ArgumentFault(sentence("text-not-unicode", "a text is not valid Unicode")) from fault
