"""A form of a review card that was sent: which items were on the screen, and what the person wants of them.

Never decides on an item that the form does not name with the hash of its arguments.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast, get_args

import msgspec
from aiohttp import web
from multidict import MultiDictProxy

from daemon.agents.deciding.decision_result import DecisionOutcome, DecisionResult
from daemon.agents.deciding.verdict_requests import RequestedVerdict, VerdictRequest, decide_shown_items
from daemon.agents.person import passkeys
from daemon.cli.translation import _, ngettext
from daemon.cli.wording.sentences import answer_words
from daemon.web.passkey_forms import PasskeyRequest, passkey_request, proof_of
from daemon.web.services import PageServices
from syncproto.ids import EntityId, id_from_text

ITEMS_MAX: Final = 5000
REASON_CHARS_MAX: Final = 2000
_VERDICTS: Final = frozenset(get_args(RequestedVerdict))
_SHOWN: Final = re.compile(r"([0-9a-f]{32}):([0-9a-f]{64})")
_GOOD: Final = frozenset({DecisionOutcome.APPLIED, DecisionOutcome.ALREADY})
TAKEN_BACK_BY: Final = "reopened"

ShownItem = tuple[EntityId, bytes]


@dataclass(frozen=True, slots=True)
class Refusal:
    """An item that was not decided, with the reason; `shown` repeats it if forcing would help."""

    message: str
    shown: str
    can_force: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a form: a line for the toast, what an undo would take back, and what was refused.

    `passkey` is what the browser has to be asked for before the rest is decided; None if nothing.
    """

    verdict: str
    words: str
    undoable: list[str]
    refusals: list[Refusal]
    passkey: PasskeyRequest | None = None


async def decide_form(
    services: PageServices, form: MultiDictProxy[str], host: str, edit: dict[str, Any] | None = None
) -> Outcome:
    """Decide what a form asks for. One that the page does not send is refused with status 400.

    A button sends `decide=VERDICT:ID:HASH`, or `decide=VERDICT` for all items in `shown`. `reason` is the
    person's words; `force` applies what is stale. `edit` are arguments in place of those of the one item.
    `host` is that of the page: passkeys are made for one.
    """
    verdict, _colon, single = form.get("decide", "").partition(":")
    texts = [single] if single else form.getall("shown", [])
    if verdict not in _VERDICTS or not 0 < len(texts) <= ITEMS_MAX:
        raise web.HTTPBadRequest(text="a form that this page does not send\n")
    items = [_item_of_text(text) for text in dict.fromkeys(texts)]
    shortfall = services.floor.shortfall()
    if shortfall is not None:
        words = answer_words(
            {"message": shortfall.text, "message_id": shortfall.id, "message_params": shortfall.params},
            "message",
        )
        return Outcome(verdict, "", [], [Refusal(words, "", can_force=False)])
    keys = await services.store.read(passkeys.list_passkeys)
    request = VerdictRequest(
        verdict=cast(RequestedVerdict, verdict),
        via="web",
        reason_min=services.reason_min,
        reason=form.get("reason", "").strip()[:REASON_CHARS_MAX] or None,
        force=bool(single) and form.get("force") == "yes",
        edit=edit if single else None,
        proof=proof_of(form, keys, host),
    )
    results = await decide_shown_items(services.store, items, request)
    outcome = _outcome(verdict, list(dict.fromkeys(texts)), results)
    challenges = [challenge for result in results for challenge in result.challenges]
    if not challenges:
        return outcome
    words = next(_message(result) for result in results if result.challenges)
    return replace(outcome, passkey=passkey_request(words, challenges, keys, host, form))


def _item_of_text(text: str) -> ShownItem:
    match = _SHOWN.fullmatch(text)
    if match is None:
        raise web.HTTPBadRequest(text="a form that this page does not send\n")
    return id_from_text(match[1]), bytes.fromhex(match[2])


def _outcome(verdict: str, texts: Sequence[str], results: Sequence[DecisionResult]) -> Outcome:
    pairs = list(zip(texts, results, strict=True))
    done = [text for text, result in pairs if result.result in _GOOD]
    undoable = [text for text, result in pairs if result.result is DecisionOutcome.APPLIED]
    refusals = [
        Refusal(_message(result), text, result.can_force)
        for text, result in pairs
        if result.result not in _GOOD and not result.challenges
    ]
    single = _message(results[0]) if len(results) == 1 and done else ""
    words = _done_words(verdict, len(done), single) if done else ""
    return Outcome(verdict, words, undoable if verdict != TAKEN_BACK_BY else [], refusals)


def _message(result: DecisionResult) -> str:
    return answer_words(msgspec.to_builtins(result), "message")


def _done_words(verdict: str, count: int, message: str) -> str:
    """Say what was done; of one confirmation, what it changed."""
    match verdict:
        case "confirmed" if message:
            return _("Confirmed: {change}").format(change=message)
        case "confirmed":
            return ngettext("{count} change confirmed", "{count} changes confirmed", count).format(
                count=count
            )
        case "rejected":
            return ngettext("{count} change rejected", "{count} changes rejected", count).format(count=count)
        case "deferred":
            return ngettext("{count} change deferred", "{count} changes deferred", count).format(count=count)
    return ngettext("{count} change waits again", "{count} changes wait again", count).format(count=count)
