"""Permissions on the page: shown verbatim, and decided by plain forms on what was shown.

Never uses a permission: that is the agent's.
"""

import html
import json
import re
from typing import Any

import pytest

from daemon.agents.asks import ask_requests, ask_views
from daemon.agents.asks.ask_requests import NewAsk
from daemon.agents.asks.ask_views import AskDetails
from daemon.agents.person import external_agents
from daemon.agents.person.presence_edits import set_presence
from daemon.refusal import Refused
from store.transaction import Transaction
from syncproto.ids import id_to_text
from tests.daemon.web.conftest import Page
from tests.support.fleet import DAY_MS

PATH = "/permissions"


async def ask(page: Page, *, guarded: bool = False, **more: Any) -> str:
    """Ask as Claude; `guarded` asks need another device from now on."""

    def use(tx: Transaction) -> str:
        try:
            agent = external_agents.find_any_agent(tx, "Claude")
        except Refused:
            agent = external_agents.add_external_agent(tx, "Claude", "none")
        if guarded:
            set_presence(tx, agent, "all", "other_device", has_other_devices=True)
        fields: dict[str, Any] = {
            "agent": "Claude",
            "name": "send_mail",
            "args": {"to": "ana@example.org"},
            "title": "Mail Ana",
            "key": "mail 1",
            "not_after": tx.now_ms() + DAY_MS,
        }
        return id_to_text(ask_requests.make_ask(tx, agent, NewAsk(**(fields | more))))

    return await page.store.write(use)


async def details(page: Page) -> AskDetails:
    (listed,) = await page.store.read(
        lambda snapshot: ask_views.list_asks(snapshot, page.now_ms(), waiting=False)
    )
    return listed


def button(text: str, verdict: str) -> str:
    """Return what a button of the only ask on a page sends."""
    values = re.findall(
        rf'name="decide" value="({verdict}:[0-9a-f]{{32}}:[0-9a-f]{{64}})[":]', main_part(text)
    )
    (value,) = dict.fromkeys(values)
    return str(value)


def main_part(text: str) -> str:
    return text.partition("<main")[2].partition("</main>")[0]


@pytest.mark.parametrize("path", ["/inbox", PATH])
@pytest.mark.parametrize(
    ("verdict", "state", "words"),
    [
        ("confirmed", "permitted", "Permitted, once"),
        ("rejected", "refused", "Refused"),
        ("deferred", "deferred", "Deferred"),
    ],
)
async def test_a_person_decides_on_what_is_shown_and_takes_it_back(
    page: Page, path: str, verdict: str, state: str, words: str
) -> None:
    await ask(page, why="She waits.")
    text = (await page.ask(path)).text
    assert '{"to": "ana@example.org"}' in html.unescape(text)
    assert "She waits." in text
    answer = await page.ask(path, {"decide": button(text, verdict)})
    assert (answer.status, words in answer.text) == (200, True)
    assert (await details(page)).state == state
    assert ("Mail Ana" in main_part(answer.text)) == (verdict == "deferred")
    (shown,) = re.findall(r'name="shown" value="([^"]+)"', answer.text.partition('id="outcome"')[2])
    assert "Open again" in (await page.ask(path, {"decide": "reopened", "shown": shown})).text
    assert (await details(page)).state == "pending"


async def test_asks_and_proposals_are_one_list_and_what_runs_out_first_is_in_front(page: Page) -> None:
    await page.propose(("update_task_estimate", {"minutes": 120}))
    await ask(page, title="Later", key="1", not_after=page.now_ms() + 3 * DAY_MS)
    await ask(page, title="Soon", key="2", not_after=page.now_ms() + DAY_MS // 2)
    shown = await page.ask("/inbox")
    assert "3 things wait for you" in shown.text
    titles = re.findall(r"<h2[^>]*>(?:<a[^>]*>)?<bdi>([^<]+)", main_part(shown.text))
    assert titles == ["Soon", "Later", "Task of run"]
    await page.ask(
        "/inbox",
        {"decide": button((await page.ask("/inbox?agent=Claude")).text.partition("Later")[0], "deferred")},
    )
    titles = re.findall(r"<h2[^>]*>(?:<a[^>]*>)?<bdi>([^<]+)", main_part((await page.ask("/inbox")).text))
    assert titles == ["Later", "Task of run", "Soon"]


async def test_filters_of_the_inbox_are_about_asks_too(page: Page) -> None:
    await page.propose(("update_task_estimate", {"minutes": 120}))
    await ask(page)
    for query, titles in (
        ("?agent=Claude", ["Mail Ana"]),
        ("?kind=asks", ["Mail Ana"]),
        ("?kind=dates", ["Task of run"]),
        ("?label=x", []),
    ):
        text = main_part((await page.ask(f"/inbox{query}")).text)
        assert re.findall(r"<h2[^>]*>(?:<a[^>]*>)?<bdi>([^<]+)", text) == titles


async def test_the_choice_and_the_reason_go_along(page: Page) -> None:
    await ask(page, options=["now", "later"])
    text = (await page.ask(PATH)).text
    await page.ask(PATH, {"decide": button(text, "confirmed"), "option": "later", "reason": "Quickly"})
    decided = await details(page)
    assert decided.verdict is not None
    assert (decided.state, decided.option, decided.verdict.reason) == ("permitted", "later", "Quickly")


async def test_what_was_not_shown_is_not_permitted(page: Page) -> None:
    name = await ask(page, options=["now"])
    shown = button((await page.ask(PATH)).text, "confirmed")
    answer = await page.ask(PATH, {"decide": f"confirmed:{name}:{'0' * 64}"})
    assert (answer.status, "refusal" in answer.text) == (409, True)
    unknown = await page.ask(PATH, {"decide": shown.replace(name, "0" * 32)})
    assert unknown.status == 409
    lacking = await page.ask(PATH, {"decide": shown, "reason": "Quickly"})
    words = re.search(r'<p[^>]*role="alert".*?</p>', lacking.text, re.DOTALL)
    assert words is not None
    assert (lacking.status, "has to choose one of" in words[0], "&#39;now&#39;; choose one" in words[0]) == (
        409,
        True,
        True,
    )
    assert "placet" not in words[0]
    option = await page.ask(PATH, {"decide": shown, "option": "other"})
    assert (option.status, "does not offer" in option.text) == (409, True)
    assert (await details(page)).state == "pending"


@pytest.mark.parametrize("decide", ["", "undone", "confirmed", "confirmed:x:ZZ", "used"])
async def test_a_form_that_the_page_does_not_send_is_refused(page: Page, decide: str) -> None:
    name = await ask(page)
    sent = f"{decide}:{name}:{'0' * 64}" if decide == "used" else decide
    assert (await page.ask(PATH, {"decide": sent})).status == 400


async def test_a_long_argument_is_folded_and_nothing_of_it_is_missing(page: Page) -> None:
    mail = {"text": "word " * 900 + "the end", "to": "ana@example.org", "ids": list(range(300))}
    await ask(page, args=mail)
    text = main_part((await page.ask(PATH)).text)
    exact = text.partition('<details class="exact">')[2]
    blocks = re.findall(r"<pre><bdi>(.*?)</bdi></pre>", exact, re.DOTALL)
    assert json.loads(html.unescape("".join(blocks))) == mail
    # Each argument has its beginning in sight.
    in_sight = re.sub(r"<details.*?</details>", "", text, flags=re.DOTALL)
    assert all(words in in_sight for words in ("Recipient", "ids", "word word", "[0, 1, 2"))


async def test_a_command_stands_before_what_is_said_of_it_and_nothing_hides_it(page: Page) -> None:
    lie = "Lists the files. " * 900
    args = {"description": lie, "command": "rm -rf ~\n\u202esl", "path": "/etc/passwd", "odd <b>": 1}
    await ask(page, name="Bash", args=args)
    text = html.unescape(main_part((await page.ask(PATH)).text))
    in_order = ("rm -rf ~", "File", "/etc/passwd", "odd <b>", "Lists the files")
    places = [text.index(words) for words in in_order]
    assert places == sorted(places)
    assert places[-1] < text.index("Exactly what is sent")
    assert "\u202e" not in text
    assert lie not in text.partition("Exactly")[0].partition("more characters")[0]


async def test_many_lines_push_no_argument_out_of_sight(page: Page) -> None:
    await ask(page, args={"command": "true\n" * 3000, "to": "ana@example.org"})
    text = main_part((await page.ask(PATH)).text)
    in_sight = re.sub(r"<details.*?</details>", "", text, flags=re.DOTALL)
    assert in_sight.count("true") <= 60
    assert "ana@example.org" in in_sight


async def test_alternatives_are_buttons_and_a_press_permits_one(page: Page) -> None:
    await ask(page, options=["now: <b>", "later"])
    text = main_part((await page.ask(PATH)).text)
    values = re.findall(r'name="decide" value="(confirmed:[^"]+)"', text)
    assert [html.unescape(value).split(":", 3)[3] for value in values] == ["now: <b>", "later"]
    answer = await page.ask(PATH, {"decide": html.unescape(values[0])})
    assert "Permitted, once" in answer.text
    assert ((await details(page)).state, (await details(page)).option) == ("permitted", "now: <b>")


async def test_a_verdict_that_would_not_count_here_is_not_offered(page: Page) -> None:
    await ask(page)
    await ask(page, key="2", title="Guarded", guarded=True)
    text = main_part((await page.ask(PATH)).text)
    assert "Decide on another device: Claude works on this one" in text
    assert text.count("Permit once") == 1


async def test_what_became_of_an_ask_elsewhere_is_told(page: Page) -> None:
    name = await ask(page)
    decide = button((await page.ask(PATH)).text, "rejected")
    await page.ask("/inbox", {"decide": decide, "reason": "No"})
    answer_words = html.unescape((await page.ask(f"/items/{name}")).text)
    assert re.search(r"refused on .*, just now: Mail Ana", answer_words)


async def test_hostile_arguments_are_shown_as_they_are_and_harmlessly(page: Page) -> None:
    await ask(page, args={"x": "<script>\u202e\x1b[31m"}, title="<b>x", why="<img>")
    text = (await page.ask(PATH)).text
    assert not re.search(r"<script>|<b>|<img>|\u202e|\x1b", text.partition("<main")[2])
    assert "<script>" in html.unescape(text.partition("<main")[2])
