"""The routes of standing rules: which there are, writing one, revoking one.

Never changes anything on a GET. A form that is refused is shown again with what was typed.
"""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from aiohttp import web
from multidict import MultiDictProxy

from daemon.agents.asks import ask_views
from daemon.agents.person import agent_timers, external_agents, standing_rules
from daemon.agents.person.standing_rules import USES_A_DAY_MAX, NewStandingRule
from daemon.agents.tools.actions import ACTION_CHARS_MAX
from daemon.journal.human_input import HumanInput
from daemon.refusal import Refused, usage_error
from daemon.timestamps import iso_utc
from daemon.web.decide.ask_rows import visible_json
from daemon.web.decide.asked_parts import FOLDERS
from daemon.web.forms import read_form, refuse_form
from daemon.web.inbox.rule_rows import rule_row
from daemon.web.page_answer import page_answer
from daemon.web.refusals import refusal_words, shortfall_words
from daemon.web.services import PageServices
from store.sentence import sentence
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import id_from_text

PATH: Final = "/rules"
FIELDS: Final = ("agent", "name", "exact", "begins", "until", "uses")
EXACT_CHARS_MAX: Final = 4000
_BEGUN_FOR_MS: Final = 7 * 86_400_000
_BEGUN_USES: Final = "10"
"""What the form suggests; a person says how long and how often."""
_DIGITS_MAX: Final = 4
_ID_CHARS: Final = 32
_HEX: Final = frozenset("0123456789abcdef")


def routes(services: PageServices, human_input: HumanInput) -> list[web.RouteDef]:
    """Return the routes of this room. `human_input` reads the times that people type."""
    room = _Rules(services, human_input)
    return [web.get(PATH, room.show), web.post(PATH, room.act)]


class _Rules:
    def __init__(self, services: PageServices, human_input: HumanInput) -> None:
        self._services = services
        self._typed = human_input

    async def show(self, request: web.Request) -> web.Response:
        """Show the rules; a link may name the ask for which to begin one. Nothing is written by that."""
        begun = await self._begin(request.query.get("ask", ""))
        return await self._page(whole=request.query.get("all") == "yes", typed=begun)

    async def _begin(self, name: str) -> dict[str, str]:
        """Return the form of a rule that permits what an ask asks for; empty if there is no such ask."""
        if len(name) != _ID_CHARS or not set(name) <= _HEX:
            return {}
        now_ms = self._services.now_ms()

        def read(snapshot: Snapshot) -> dict[str, str]:
            waiting = ask_views.list_asks(snapshot, now_ms, waiting=True)
            ask = next((ask for ask in waiting if ask.ask_id == name), None)
            if ask is None:
                return {}
            exact = visible_json(ask.asked_args)
            return {
                "agent": ask.agent_id,
                "name": ask.name,
                # What is longer than a person reads would be permitted unread.
                "exact": exact if len(exact) <= EXACT_CHARS_MAX else "",
                "folder": _folder_in(ask.asked_args),
                "until": iso_utc(now_ms + _BEGUN_FOR_MS)[:10],
                "uses": _BEGUN_USES,
            }

        return await self._services.store.read(read)

    async def act(self, request: web.Request) -> web.Response:
        """Write or revoke a rule, and show them all; what is refused is said."""
        form = await read_form(request)
        deed, fault = form.get("do", ""), shortfall_words(self._services)
        if deed not in ("add", "revoke"):
            raise refuse_form()
        if not fault:
            try:
                change = self._add if deed == "add" else _revoke
                await self._services.store.write(lambda tx: change(tx, form))
            except Refused as refused:
                fault = refusal_words(refused)
            else:
                return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": PATH})
        return await self._page(fault=fault, typed=form if deed == "add" else {})

    def _add(self, tx: Transaction, form: MultiDictProxy[str]) -> None:
        until, name = form.get("until", ""), form.get("name", "").strip()
        if len(name) > ACTION_CHARS_MAX:
            raise usage_error(
                sentence(
                    "rule-name-long", "an action's name has {most} characters at most", most=ACTION_CHARS_MAX
                )
            )
        request = NewStandingRule(
            agent=form.get("agent", ""),
            name=name,
            exact=_arguments(form.get("exact", "")),
            begins=_beginnings(form.get("begins", "")),
            until=until,
            uses_a_day=_number(form.get("uses", "")),
        )
        agent = external_agents.find_any_agent(tx, request.agent)
        until_ms = agent_timers.future_ms(until, self._typed, tx.now_ms())
        standing_rules.make_rule(tx, agent, request, until_ms)

    async def _page(self, *, fault: str = "", typed: Any = None, whole: bool = False) -> web.Response:
        now_ms, after = self._services.now_ms(), self._services.store.feed_end

        def read(snapshot: Snapshot) -> Any:
            rules = standing_rules.list_rules(snapshot, now_ms, every=whole)
            agents = external_agents.list_external_agents(snapshot, now_ms)
            return rules, [(agent.id, agent.name) for agent in agents if agent.lifecycle == "active"]

        rules, agents = await self._services.store.read(read)
        return await page_answer(
            self._services,
            "inbox/rules.html",
            HTTPStatus.CONFLICT if fault else HTTPStatus.OK,
            room="inbox",
            after=after,
            rows=[rule_row(rule, now_ms / 1000) for rule in rules],
            agents=agents,
            whole=whole,
            uses_max=USES_A_DAY_MAX,
            typed={name: (typed or {}).get(name, "") for name in FIELDS},
            is_begun=bool(typed),
            folder=(typed or {}).get("folder", ""),
            fault=fault,
        )


def _folder_in(args: Mapping[str, Any]) -> str:
    """Return the folder that arguments name; "" for none."""
    return next((str(args[name]) for name in FOLDERS if isinstance(args.get(name), str)), "")


def _revoke(tx: Transaction, form: MultiDictProxy[str]) -> None:
    rule = form.get("rule", "")
    if len(rule) != _ID_CHARS or not set(rule) <= _HEX:
        raise refuse_form()
    standing_rules.revoke_rule(tx, id_from_text(rule))


def _arguments(text: str) -> dict[str, Any]:
    """Return the arguments that must be exactly so, which a person types as JSON; none for nothing."""
    if not text.strip():
        return {}
    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        raise usage_error(
            sentence("rule-arguments-json", "the arguments are no JSON object"),
            sentence("such-as-example", "such as {example}", example='{"to": "ana@example.org"}'),
        )
    return arguments


def _beginnings(text: str) -> dict[str, str]:
    """Return the beginnings of arguments, NAME=TEXT on a line each."""
    pairs: dict[str, str] = {}
    for line in filter(str.strip, text.splitlines()):
        name, sign, value = line.partition("=")
        if not name.strip() or not sign or name.strip() in pairs:
            raise usage_error(
                sentence("rule-beginning", "{line!r} is not NAME=TEXT with a name of its own", line=line[:80])
            )
        pairs[name.strip()] = value
    return pairs


def _number(words: str) -> int:
    plain = words.strip()
    if not (plain.isascii() and plain.isdecimal() and len(plain) < _DIGITS_MAX):
        raise usage_error(sentence("limit-no-number", "{words!r} is no whole number", words=words[:40]))
    if not 1 <= int(plain) <= USES_A_DAY_MAX:
        raise usage_error(
            sentence("rule-uses", "a rule is used 1 to {most} times a day", most=USES_A_DAY_MAX)
        )
    return int(plain)
