"""What a server's refusal means: whether to ask again, and the line that says it to a person.

Never repeats a server's own words beyond one short code: they may echo a note or the key.
"""

import re
from typing import Any, NamedTuple

import msgspec

from daemon.agents.models.interface import AnswerFault, ModelFault, ModelMisconfigured, ModelUnavailable
from daemon.agents.models.openai_endpoint import Redactor

WORDS_MAX = 4000
_CODE = re.compile(r"[a-z][a-z0-9_.-]{2,47}")
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
)
_NO_QUOTA = ("insufficient_quota", "billing", "credit balance")


class Overflow(AnswerFault):
    """The request is longer than the model can read."""


class NotTaken(AnswerFault):
    """The server cannot read what it was sent, or not in the form that it was sent in."""


class Refusal(NamedTuple):
    """Why there is no answer, and whether the same request may be sent again."""

    fault: ModelFault
    may_retry: bool


def refusal(status: int, body: bytes, redactor: Redactor) -> Refusal:
    """Judge an answer whose status is not 200."""
    error = _error(body)
    words = " ".join(str(error.get(key, "")) for key in ("code", "type", "message"))[:WORDS_MAX].lower()
    seen = ", ".join([str(status), *_codes(error, redactor)])
    if status >= 400 and any(sign in words for sign in _TOO_LONG):
        return Refusal(Overflow(f"the request is too long for the model ({seen})"), may_retry=False)
    if status == 429 and any(sign in words for sign in _NO_QUOTA):
        empty = ModelMisconfigured(f"the account at the server has no quota left ({seen})")
        return Refusal(empty, may_retry=False)
    if status in _NOT_TAKEN or (status >= 500 and any(sign in words for sign in _INVALID)):
        fault = NotTaken(f"the server cannot take what it was sent; see model.mode ({seen})")
        return Refusal(fault, may_retry=False)
    if status in _AGAIN or status >= 500:
        return Refusal(ModelUnavailable(f"the server is busy or failing ({seen})"), may_retry=True)
    return Refusal(ModelMisconfigured(f"{_advice(status)} ({seen})"), may_retry=False)


def _advice(status: int) -> str:
    if status < 400:
        return "the server redirects, which is not followed: set model.base_url to where it leads"
    if status in {401, 403}:
        return "the server refused the key: see PLACET_MODEL_KEY and model.key_file"
    if status == 404:
        return "the server knows no such model or address: see model.name and model.base_url"
    return "the server refused the request: see model.name and model.mode"


def _error(body: bytes) -> dict[str, Any]:
    """Read the error in the forms that servers give it; empty where there is none."""
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return {"message": body[:WORDS_MAX].decode(errors="replace")}
    inner = found.get("error", found) if isinstance(found, dict) else found
    return inner if isinstance(inner, dict) else {"message": str(inner)[:WORDS_MAX]}


def _codes(error: dict[str, Any], redactor: Redactor) -> list[str]:
    """Return the first of the server's codes that is a plain token, if any."""
    tokens = [str(error.get(key, "")) for key in ("code", "type")]
    return [token for token in tokens if _CODE.fullmatch(token) and redactor.text(token) == token][:1]
