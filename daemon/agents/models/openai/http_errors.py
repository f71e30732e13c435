"""What a server's refusal means: whether to ask again, and one line about it for a person.

Never repeats a server's own words except one short code: they may echo a note or the key.
"""

import re
from typing import Any, NamedTuple

import msgspec

from daemon.agents.models.openai.endpoint import KeyRedactor
from daemon.agents.tools.model_interface import AnswerFault, ModelFault, ModelMisconfigured, ModelUnavailable
from store.sentence import Sentence, sentence

ERROR_CHARS_MAX = 4000
_CODE = re.compile(r"[a-z][a-z0-9_.-]{2,47}")
_NAME = re.compile(r"[a-z][a-z_]{2,40}")
_NOT_THERE = frozenset({404, 410})
_AGAIN = frozenset({408, 409, 429})
_NOT_TAKEN = frozenset({400, 405, 413, 415, 422, 501})
_TOO_LONG = (
    "context_length_exceeded",
    "exceed_context_size",
    "context length",
    "context window",
    "context size",
    "prompt is too long",
    "too many tokens",
)
_INVALID = (
    "validation",
    "invalid_request",
    "literal_error",
    "value_error",
    "type_error",
    "pydantic",
    "schema",
    "requires --jinja",
    "does not support tools",
)
_NO_QUOTA = (
    "insufficient_quota",
    "billing",
    "credit balance",
    "insufficient balance",
    "insufficient credit",
    "more credits",
    "payment required",
)
_PAYMENT_REQUIRED = 402
_QUOTA_STATUSES = frozenset({400, 403, 429})
"""What servers refuse with for want of money, beside the status that means it."""


class PromptTooLong(AnswerFault):
    """The request is longer than the model can read."""


class RequestNotUnderstood(AnswerFault):
    """The server cannot read what it was sent, or not in the form that it was sent in.

    `parameters` are the words of its refusal that may be names of parameters.
    """

    parameters: frozenset[str] = frozenset()


class ServerRefusal(NamedTuple):
    """Why there is no answer, and whether the same request may be sent again."""

    fault: ModelFault
    may_retry: bool


def classify_refusal(status: int, body: bytes, redactor: KeyRedactor) -> ServerRefusal:
    """Judge an answer whose status is not 200."""
    error = _error(body)
    words = " ".join(str(error.get(key, "")) for key in ("code", "type", "message"))[:ERROR_CHARS_MAX].lower()
    codes = ", ".join([str(status), *_codes(error, redactor)])
    if status >= 400 and any(sign in words for sign in _TOO_LONG):
        return ServerRefusal(
            PromptTooLong(
                sentence(
                    "model-request-too-long", "the request is too long for the model ({codes})", codes=codes
                )
            ),
            may_retry=False,
        )
    lacks_money = status in _QUOTA_STATUSES and any(sign in words for sign in _NO_QUOTA)
    if status == _PAYMENT_REQUIRED or lacks_money:
        empty = sentence(
            "model-no-quota",
            "the account at the server has no credit left: pay in there, or set another model ({codes})",
            codes=codes,
        )
        return ServerRefusal(ModelMisconfigured(empty), may_retry=False)
    if status in _NOT_TAKEN or (status >= 500 and any(sign in words for sign in _INVALID)):
        not_taken = sentence(
            "model-request-not-taken",
            "the server cannot take what it was sent; see model.mode ({codes})",
            codes=codes,
        )
        fault = RequestNotUnderstood(not_taken)
        fault.parameters = _parameters(error)
        return ServerRefusal(fault, may_retry=False)
    if status in _AGAIN or status >= 500:
        busy = sentence("model-server-busy", "the server is busy or failing ({codes})", codes=codes)
        return ServerRefusal(ModelUnavailable(busy), may_retry=True)
    return ServerRefusal(ModelMisconfigured(_advice(status, codes)), may_retry=False)


def _advice(status: int, codes: str) -> Sentence:
    if status < 400:
        return sentence(
            "model-server-redirects",
            "the server redirects, which is not followed: set model.base_url to where it leads ({codes})",
            codes=codes,
        )
    if status in {401, 403}:
        return sentence(
            "model-key-refused",
            "the server refused the key: see PLACET_MODEL_KEY and model.key_file ({codes})",
            codes=codes,
        )
    if status in _NOT_THERE:
        return sentence(
            "model-unknown",
            "the server knows no such model or address: see model.name and model.base_url ({codes})",
            codes=codes,
        )
    return sentence(
        "model-request-refused",
        "the server refused the request: see model.name and model.mode ({codes})",
        codes=codes,
    )


def _error(body: bytes) -> dict[str, Any]:
    """Return the error, in any of the shapes that servers give it; empty if there is none."""
    try:
        text = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {"message": body[:ERROR_CHARS_MAX].decode(errors="replace")}
    # Gemini answers with a list that has the error in it.
    outer = text[0] if isinstance(text, list) and text else text
    inner = outer.get("error", outer) if isinstance(outer, dict) else outer
    return inner if isinstance(inner, dict) else {"message": str(inner)[:ERROR_CHARS_MAX]}


def _parameters(error: dict[str, Any]) -> frozenset[str]:
    """Return the words of an error that look like names: its `param`, its places, and its message."""
    places = str([error.get(key, "") for key in ("param", "message", "detail")])[:ERROR_CHARS_MAX]
    return frozenset(_NAME.findall(places))


def status_within(body: bytes) -> int | None:
    """Return the status of an error that a server answers with as if all were well; None if there is none."""
    if b'"error"' not in body[:ERROR_CHARS_MAX]:
        return None
    try:
        text = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(text, dict) or not text.get("error") or text.get("choices"):
        return None
    code = _error(body).get("code", _error(body).get("status"))
    return code if isinstance(code, int) and 300 <= code < 600 else 502


def _codes(error: dict[str, Any], redactor: KeyRedactor) -> list[str]:
    """Return the first of the server's codes that is a plain token, if any."""
    tokens = [str(error.get(key, "")) for key in ("code", "type")]
    return [token for token in tokens if _CODE.fullmatch(token) and redactor.redact_text(token) == token][:1]
