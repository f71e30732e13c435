"""A form that is sent after the session ended: nothing is done, and what was typed can be copied.

Never says what the forms do while there is a session: each room is tested for that.
"""

import asyncio
import html
import io
import re

import pytest

from daemon.connections import ConnectionLimits
from daemon.web.forms import FORM_BYTES_MAX
from tests.daemon.web.conftest import Page, PageAnswer, Serve
from tests.support.patience import LIMIT_S

HOSTILE = '</textarea><script>alert("x")</script>'
NOWHERE = "/tasks/" + "0" * 32
FORMS = [
    (NOWHERE, {"do": "note", "note": HOSTILE}, {"New note": HOSTILE}),
    (
        NOWHERE,
        {
            "do": "edit",
            "base": "{}",
            "title": "New",
            "shown_title": "Old",
            "due": "",
            "shown_due": "2026-01-01",
        }
        | {"labels": "a\r\nb", "shown_labels": "a\r\nb", "estimate_minutes": "2 h", "priority": "P1"},
        {"Title": "New", "Length": "2 h"},
    ),
    ("/tasks/new", {"line": "Buy stamps tomorrow"}, {"New task": "Buy stamps tomorrow"}),
    (
        "/reviews/" + "0" * 32,
        {
            "edit": "yes",
            "decide": "confirmed:x",
            "arg.dueDate": "friday",
            "ask.0": "a\r\n\tb",
            "reason": "so",
        },
        {"due": "friday", "Argument 1": "a\n\tb", "Why": "so"},
    ),
    (NOWHERE, {"do": "note", "note": " \r\n"}, {}),
    ("/inbox", {"decide": "confirmed", "shown": "x"}, {}),
    (
        "/pair",
        {"secret": "123-456-789", "assertions": "[]", "credential": "x", "arg.": "x", "ask.x": "y"},
        {},
    ),
]


def copied(answer: PageAnswer) -> dict[str, str]:
    """Return what can be copied from an answer, by the words for the field."""
    pairs = re.findall(
        r"<label>([^<]*) <textarea readonly[^>]*>\n(.*?)</textarea></label>", answer.text, re.DOTALL
    )
    return {label: html.unescape(text) for label, text in pairs}


@pytest.mark.parametrize(("path", "form", "typed"), FORMS)
@pytest.mark.parametrize("token", ["", "ended"])
async def test_what_was_typed_before_the_session_ended_can_be_copied(
    unknown_page: Page, path: str, form: dict[str, str], typed: dict[str, str], token: str
):
    unknown_page.token = token
    before = await unknown_page.commits()
    answer = await unknown_page.ask(path, form)
    assert (answer.status, copied(answer)) == (401, typed)
    assert "Nothing was done. Sign in, then send it again." in answer.text
    assert ("What you typed was not written" in answer.text) == bool(typed)
    assert "<script>" not in answer.text
    assert "123-456-789" not in answer.text
    assert await unknown_page.commits() == before


async def test_another_site_is_never_given_what_it_sent(unknown_page: Page):
    form = {"do": "note", "note": "words of a stranger"}
    foreign: list[dict[str, str | None]] = [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": None, "Origin": "http://evil.example"},
        {"Host": "evil.example"},
    ]
    for headers in foreign:
        answer = await unknown_page.ask(NOWHERE, form, headers=headers)
        assert (answer.status, "words of a stranger" in answer.text) == (403, False)


@pytest.mark.parametrize(
    ("media", "body"),
    [
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="note"\r\n\r\nwords',
        ),
        ("application/json", b'{"note": "words"}'),
        ("application/x-www-form-urlencoded", b"note=\xff"),
        ("application/x-www-form-urlencoded", b"note=" + b"x" * FORM_BYTES_MAX),
        ("application/x-www-form-urlencoded", b"&".join([b"note=words"] * 10_000)),
    ],
)
async def test_a_body_that_no_form_sends_is_not_repeated(unknown_page: Page, media: str, body: bytes):
    headers: dict[str, str | None] = {"Content-Type": media, "Origin": unknown_page.origin}
    answer = await unknown_page.ask(NOWHERE, io.BytesIO(body), headers=headers)
    assert (answer.status, copied(answer)) == (401, {})
    assert "Nothing was done" in answer.text


async def test_a_look_without_a_session_is_told_nothing_of_a_form(unknown_page: Page):
    answer = await unknown_page.ask(f"{NOWHERE}?note=words")
    assert (answer.status, copied(answer), "Nothing was done" in answer.text) == (401, {}, False)


async def test_a_body_of_a_stranger_that_does_not_come_is_refused(serve: Serve):
    async with serve(ConnectionLimits(body_s=0.05)) as page:
        reader, writer = await asyncio.open_connection("127.0.0.1", page.port)
        lines = ["POST / HTTP/1.1", f"Host: {page.host}", f"Origin: {page.origin}", "Content-Length: 100"]
        lines += ["Content-Type: application/x-www-form-urlencoded", "", "note="]
        writer.write("\r\n".join(lines).encode())
        async with asyncio.timeout(LIMIT_S):
            assert b" 408 " in await reader.readline()
        writer.close()
