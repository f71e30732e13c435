"""The boundary of the page: hosts, origins, sessions, headers.

Never repeats what a room of the page is tested for.
"""

from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import pytest

from daemon.browser_access import COOKIE
from daemon.web.gate import COOKIE_MAX_AGE_S, HEADERS
from store.file.errors import damaged_database
from tests.daemon.web.conftest import CHANGES, PROXIED, Page

FOREIGN_HOSTS = [
    "localhost",
    "127.0.0.1:{port}",
    "localhost:{port}",
    "evil.example",
    "other.localhost:{port}",
    "{host}.evil.example",
]
PATHS = ["/inbox", "/in", "/live", "/items/" + "0" * 32, "/nothing", "/healthz"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("host", FOREIGN_HOSTS)
async def test_a_host_that_is_not_the_pages_own_is_refused(page: Page, host: str, path: str):
    answer = await page.ask(path, headers={"Host": host.format(port=page.port, host=page.host)})
    assert answer.status == 403
    assert "not served under this name" in answer.text


async def test_a_host_of_the_settings_is_served(page: Page):
    assert (await page.ask("/inbox", headers={"Host": PROXIED})).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "", "Origin": "http://evil.example"},
        {"Sec-Fetch-Site": None, "Origin": "http://evil.example"},
        {"Sec-Fetch-Site": None, "Origin": "null"},
        {"Sec-Fetch-Site": None, "Origin": f"https://{PROXIED}"},
        {"Sec-Fetch-Site": None, "Origin": None},
    ],
)
async def test_only_the_page_itself_may_write(page: Page, headers: dict[str, str | None]):
    (item,) = await page.propose(CHANGES[0])
    button = (await page.ask("/inbox")).forms()[f"confirmed {item}"]
    before = await page.commits()
    answer = await page.ask("/inbox", {"decide": button}, headers=headers)
    assert answer.status == 403
    assert await page.commits() == before


async def test_an_old_browser_is_held_to_its_origin(page: Page):
    (item,) = await page.propose(CHANGES[0])
    button = (await page.ask("/inbox")).forms()[f"confirmed {item}"]
    answer = await page.ask("/inbox", {"decide": button}, headers={"Sec-Fetch-Site": None})
    assert answer.status == 200
    assert await page.status_of(item) == "confirmed"


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_reading_changes_nothing(page: Page, method: str):
    (item,) = await page.propose(*CHANGES[:1])
    button = (await page.ask("/inbox")).forms()[f"confirmed {item}"]
    before = await page.commits()
    for path in ("/inbox", f"/inbox?decide={button}", f"/items/{item}", "/out", "/in"):
        await page.ask(path, method=method)
    assert await page.commits() == before
    assert len(page.access.sessions()) == 1


@pytest.mark.parametrize("path", ["/inbox", "/live", "/items/" + "0" * 32, "/nothing"])
@pytest.mark.parametrize("token", ["", "wrong"])
async def test_a_browser_without_a_session_sees_nothing(unknown_page: Page, path: str, token: str):
    await unknown_page.propose(*CHANGES)
    unknown_page.token = token
    answer = await unknown_page.ask(path)
    assert answer.status == 401
    assert "You are signed out" in answer.text
    assert "Task of run" not in answer.text


@pytest.mark.parametrize("path", ["/inside", "/healthz/more"])
async def test_a_path_that_begins_like_an_open_one_is_not_open(unknown_page: Page, path: str):
    assert (await unknown_page.ask(path)).status == 401


@pytest.mark.parametrize("path", ["/inbox", "/in"])
@pytest.mark.parametrize(
    ("media", "body"),
    [
        ("multipart/form-data; boundary=x", b"--x\r\nnonsense"),
        ("multipart/form-data", b"--x--"),
        ("application/x-www-form-urlencoded; charset=nonsense", b"decide=%ff"),
        ("application/x-www-form-urlencoded", b"decide=\xff"),
        ("application/x-www-form-urlencoded", b"&".join([b"shown=1"] * 10_000)),
        ("application/json", b"{}"),
        ("", b"decide=confirmed"),
    ],
)
async def test_a_body_that_no_form_sends_is_refused_and_not_logged(
    page: Page, path: str, media: str, body: bytes, capfd: pytest.CaptureFixture[str]
):
    answer = await page.ask(path, body, headers={"Content-Type": media, "Origin": page.origin})
    assert answer.status == 400
    assert "bug" not in "".join(capfd.readouterr())


async def test_the_cookie_lasts_from_the_last_use_on(page: Page):
    shown = SimpleCookie((await page.ask("/inbox")).headers["Set-Cookie"])[COOKIE]
    assert (shown.value, shown["max-age"]) == (page.token, str(COOKIE_MAX_AGE_S))
    signed_out = SimpleCookie((await page.ask("/out", {})).headers["Set-Cookie"])[COOKIE]
    assert (signed_out.value, signed_out["max-age"]) == ("", "0")


@pytest.mark.parametrize("path", [*PATHS[:2], *PATHS[3:]])
async def test_every_answer_has_the_headers(page: Page, path: str):
    variants: list[dict[str, str | None]] = [{}, {"Host": "evil.example"}, {"Cookie": None}]
    for headers in variants:
        answer = await page.ask(path, headers=headers)
        assert {name: answer.headers.get(name) for name in HEADERS} == dict(HEADERS)


async def test_a_bug_is_answered_without_its_words(page: Page, monkeypatch: pytest.MonkeyPatch):
    def fail(*_words: object, **_values: object) -> str:
        raise RuntimeError("private words")

    monkeypatch.setattr(type(page.services.renderer), "render", fail)
    answer = await page.ask("/inbox")
    assert (answer.status, "private" in answer.text) == (500, False)
    assert answer.headers["Content-Security-Policy"] == HEADERS["Content-Security-Policy"]


async def test_a_page_that_meets_a_damaged_database_answers_503_with_what_to_do(page: Page):
    await page.sign_in()
    assert (await page.ask("/inbox")).status == 200
    store: Any = page.store
    reason = damaged_database(Path("placet.db"), "page 7")
    store._store.damage = reason
    refused = await page.ask("/board", {"status": "DONE", "task": "Call Ana", "base": "{}"})
    well = await page.ask("/healthz")

    def read(*_: object) -> None:
        raise reason

    store._store.read = read
    shown = await page.ask("/inbox")
    for answer in (refused, well, shown):
        assert answer.status == 503
        assert "placet.db is damaged: page 7" in answer.text
        assert "restore a backup" in answer.text
    assert "nothing is written to it" in refused.text
