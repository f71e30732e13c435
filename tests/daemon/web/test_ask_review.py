"""Asks in the details of a review: changed first, refused with what was typed, and a rule to write.

Never runs a script: tests/e2e/page/test_page_permissions.py does.
"""

import html
import json
import re
from collections.abc import AsyncIterator
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from daemon.journal.human_input import HumanInput
from daemon.web.decide import review_routes
from daemon.web.inbox import rule_routes
from tests.daemon.web.conftest import Page
from tests.daemon.web.test_permissions import ask, button, details, main_part

MAIL = {
    "cc": ["bo@example.org"],
    "marked": "tab\there \u202egnp",
    "text": "Hello Ana,\nsee you",
    "to": "ana@example.org",
}


class DetailsPage(Page):
    """A page with the rooms of reviews and of standing rules."""

    def more_routes(self) -> list[web.RouteDef]:
        human_input = HumanInput(self.now_ms, UTC, "en")
        return [
            *review_routes.routes(self.services, human_input),
            *rule_routes.routes(self.services, human_input),
        ]


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[DetailsPage]:
    page = DetailsPage(tmp_path)
    await page.start()
    await page.sign_in()
    yield page
    await page.stop()
    page.store.close()


async def opened(page: Page, **more: Any) -> tuple[str, str]:
    """Ask, and return the path of the details that the card links to, and what is shown there."""
    await ask(page, **{"args": MAIL, **more})
    (path,) = re.findall(r'href="(/reviews/[0-9a-f]{32})#i-', (await page.ask("/inbox")).text)
    answer = await page.ask(path)
    assert answer.status == 200
    return path, answer.text


def typed_fields(text: str) -> dict[str, str]:
    """Return the fields of arguments as a browser sends them if nothing is typed."""
    pairs = re.findall(r'<textarea name="(ask\.\d+)"[^>]*>\n(.*?)</textarea>', text, re.DOTALL)
    return {name: html.unescape(value).replace("\n", "\r\n") for name, value in pairs}


async def test_what_was_not_touched_is_permitted_as_it_was_asked(page: DetailsPage) -> None:
    path, text = await opened(page)
    form = {"edit": "yes", "decide": button(text, "confirmed"), **typed_fields(text)}
    assert len(typed_fields(text)) == len(MAIL)
    assert "Permitted, once" in (await page.ask(path, form)).text
    decided = await details(page)
    assert decided.verdict is not None
    assert (decided.args, decided.verdict.edited) == (MAIL, False)


async def test_what_a_person_changed_is_what_is_granted(page: DetailsPage) -> None:
    path, text = await opened(page)
    fields = typed_fields(text)
    assert "\\u202egnp" in fields["ask.1"]
    fields |= {
        "ask.0": "[]",
        "ask.1": fields["ask.1"].replace("here", "there"),
        "ask.2": "Dear Ana,\r\n\r\nsee you",
    }
    answer = await page.ask(path, {"edit": "yes", "decide": button(text, "confirmed"), **fields})
    assert answer.status == 200
    decided = await details(page)
    assert decided.args == MAIL | {"cc": [], "marked": "tab\tthere \u202egnp", "text": "Dear Ana,\n\nsee you"}
    assert decided.asked_args == MAIL


async def test_a_refused_change_keeps_what_was_typed_and_says_what_is_wrong(page: DetailsPage) -> None:
    path, text = await opened(page, options=["now", "later"])
    fields = typed_fields(text) | {"ask.0": "bo@example.org", "ask.2": "<b>Dear\r\nAna"}
    form = {
        "edit": "yes",
        "decide": button(text, "confirmed"),
        "option": "later",
        "reason": "two\r\nlines",
        **fields,
    }
    answer = await page.ask(path, form)
    assert (answer.status, (await details(page)).state) == (409, "pending")
    assert "cc: &#39;bo@example.org&#39; is no JSON" in answer.text
    assert typed_fields(answer.text) == fields
    assert "two\nlines</textarea>" in answer.text
    too_long = await page.ask(path, form | {"ask.0": "[]", "ask.2": "x" * 20_000})
    assert (too_long.status, "args of an ask" in too_long.text) == (409, True)
    assert "x" * 20_000 in too_long.text


async def test_a_refusal_needs_no_argument_that_can_be_read(page: DetailsPage) -> None:
    path, text = await opened(page)
    form = {"edit": "yes", "decide": button(text, "rejected"), "ask.0": "{", "reason": "Not now"}
    assert (await page.ask(path, form)).status == 200
    decided = await details(page)
    assert decided.verdict is not None
    assert (decided.state, decided.verdict.reason) == ("refused", "Not now")


@pytest.mark.parametrize(
    ("guarded", "words"),
    [
        (False, "a verdict on any of your devices counts"),
        (True, "a verdict counts only if it comes from another device than "),
    ],
)
async def test_what_a_verdict_needs_is_said_in_whole_words(
    page: DetailsPage, guarded: bool, words: str
) -> None:
    _path, text = await opened(page, guarded=guarded)
    assert words in main_part(text)
    assert ("Permit once" in main_part(text)) != guarded


async def test_a_rule_can_be_begun_from_an_ask(page: DetailsPage) -> None:
    _path, text = await opened(page)
    (link,) = re.findall(r'href="(/rules\?[^"#]+)#add"', text)
    shown = (await page.ask(html.unescape(link))).text
    assert re.search(r'<details id="add" open>', shown)
    assert 'value="send_mail"' in shown
    assert "bo@example.org" in shown
    assert "No rule is in effect" in shown
    assert re.search(r"selected>Claude", shown)


async def test_what_was_typed_is_kept_if_the_ask_was_decided_meanwhile(page: DetailsPage) -> None:
    path, text = await opened(page)
    await page.ask("/inbox", {"decide": button(text, "rejected")})
    form = {
        "edit": "yes",
        "decide": button(text, "rejected"),
        **typed_fields(text),
        "ask.3": "bo@example.org",
        "reason": "Ask Bo",
    }
    # Another tab shows the form still.
    stale = await page.ask(path, form | {"decide": f"{button(text, 'confirmed')[:-4]}0000"})
    assert stale.status == 409
    assert "What you typed:" in stale.text
    assert "bo@example.org" in stale.text.partition('id="outcome"')[2]
    assert "Ask Bo" in stale.text.partition('id="outcome"')[2]


async def test_a_rule_that_is_begun_from_an_ask_in_a_folder_counts_there_alone(page: DetailsPage):
    args = {"command": "make install", "cwd": "/home/ana/<b>"}
    name = await ask(page, name="Bash", args=args)
    text = (await page.ask("/permissions")).text
    assert "Always for this folder until …" in text
    form = (await page.ask(f"/rules?ask={name}")).text
    assert "counts in /home/ana/&lt;b&gt; alone" in form
    exact = html.unescape(form.partition('name="exact"')[2].partition(">")[2].partition("</textarea>")[0])
    assert json.loads(exact) == args
