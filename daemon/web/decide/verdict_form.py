"""A form of a card that was sent: which items and asks were on the screen, and what the person wants of them.

Never decides on one that the form does not name with the hash of its arguments.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast, get_args

import msgspec
from aiohttp import web
from multidict import MultiDictProxy

from daemon.agents.deciding.decision_result import DecisionOutcome, DecisionResult
from daemon.agents.deciding.verdict_requests import RequestedVerdict, VerdictRequest
from daemon.agents.person import passkeys
from daemon.agents.person.shown_verdicts import decide_shown
from daemon.refusal import Refused
from daemon.web.passkey_forms import PasskeyRequest, passkey_request, proof_of
from daemon.web.refusals import page_words, refusal_words, shortfall_words
from daemon.web.services import PageServices
from daemon.words.sentences import answer_words
from daemon.words.translation import _, ngettext
from syncproto.ids import EntityId, id_from_text

ITEMS_MAX: Final = 5000
REASON_CHARS_MAX: Final = 2000
_VERDICTS: Final = frozenset(get_args(RequestedVerdict))
_SHOWN: Final = re.compile(r"([0-9a-f]{32}):([0-9a-f]{64})")
_SHOWN_CHARS: Final = 97
_GOOD: Final = frozenset({DecisionOutcome.APPLIED, DecisionOutcome.ALREADY})
TAKEN_BACK_BY: Final = "reopened"
_ON_ASKS: Final = "ask-"
"""How the ids of sentences on asks begin."""

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

    `passkey` is what the browser has to be asked for before the rest is decided; None if nothing. `typed` is
    what the person wrote, if something was refused and the page shows it nowhere else.
    """

    verdict: str
    words: str
    undoable: list[str]
    refusals: list[Refusal]
    passkey: PasskeyRequest | None = None
    typed: tuple[str, ...] = ()


async def decide_form(
    services: PageServices, form: MultiDictProxy[str], host: str, edit: dict[str, Any] | None = None
) -> Outcome:
    """Decide what a form asks for. One that the page does not send is refused with status 400.

    A button sends `decide=VERDICT:ID:HASH`, or `decide=VERDICT` for all items in `shown`; one that chooses on
    an ask sends `:CHOICE` behind it. `reason` is the person's words; `force` applies what is stale. `edit`
    are arguments in place of those of the one item. `host` is that of the page: passkeys are made for one.
    """
    verdict, _colon, decided = form.get("decide", "").partition(":")
    single, option = decided[:_SHOWN_CHARS], decided[_SHOWN_CHARS + 1 :] or form.get("option")
    if decided[_SHOWN_CHARS : _SHOWN_CHARS + 1] not in ("", ":"):
        raise web.HTTPBadRequest(text="a form that this page does not send\n")
    texts = [single] if single else form.getall("shown", [])
    if verdict not in _VERDICTS or not 0 < len(texts) <= ITEMS_MAX:
        raise web.HTTPBadRequest(text="a form that this page does not send\n")
    items = [_item_of_text(text) for text in dict.fromkeys(texts)]
    fault = shortfall_words(services)
    if fault:
        return refused_outcome(verdict, fault)
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
    try:
        chosen = option if single else None
        results = await decide_shown(services.store, items, request, services.now_ms(), chosen)
    except Refused as refused:
        return refused_outcome(verdict, refusal_words(refused))
    outcome = _outcome(verdict, list(dict.fromkeys(texts)), results)
    if outcome.refusals and request.reason and "edit" not in form:
        outcome = replace(outcome, typed=(request.reason,))
    challenges = [challenge for result in results for challenge in result.challenges]
    if not challenges:
        return outcome
    words = next(_message(result) for result in results if result.challenges)
    return replace(outcome, passkey=passkey_request(words, challenges, keys, host, form))


def refused_outcome(verdict: str, words: str) -> Outcome:
    """Return that nothing was done, and why."""
    return Outcome(verdict, "", [], [Refusal(words, "", can_force=False)])


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
    words = _done_words(verdict, len(done), results[0] if len(results) == 1 else None) if done else ""
    return Outcome(verdict, words, undoable if verdict != TAKEN_BACK_BY else [], refusals)


def _message(result: DecisionResult) -> str:
    return page_words(result.message_id, answer_words(msgspec.to_builtins(result), "message"))


def _done_words(verdict: str, count: int, single: DecisionResult | None) -> str:
    """Say what was done; of one confirmation, what it changed, and of an ask, how it stands."""
    message = "" if single is None else _message(single)
    if single is not None and single.message_id.startswith(_ON_ASKS):
        return f"{message[:1].upper()}{message[1:]}"
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
