"""Signing in: a secret opens the page once, within five minutes; no script reads the session."""

import asyncio
from pathlib import Path

from daemon.browser_access import COOKIE
from tests.daemon.web.conftest import PROXIED, Page
from tests.support.patience import LIMIT_S


async def test_the_cookie_is_for_this_page_alone(unknown_page: Page):
    cookie = (await unknown_page.sign_in())[COOKIE]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"], cookie["domain"]) == (
        True,
        "Strict",
        "/",
        "",
    )
    assert not cookie["secure"]
    proxied = await unknown_page.sign_in({"Host": PROXIED, "Origin": f"https://{PROXIED}"})
    assert proxied[COOKIE]["secure"]


async def test_a_secret_opens_the_page_once(unknown_page: Page):
    secret = unknown_page.access.issue_secret().text
    assert [(await unknown_page.ask("/in", {"secret": secret})).status for _ in range(2)] == [303, 403]


async def test_a_wrong_or_old_secret_opens_nothing(unknown_page: Page):
    secret = unknown_page.access.issue_secret().text
    unknown_page.monotonic_s += 301
    for text in (secret, "", "x" * 32, "é\u202e"):
        answer = await unknown_page.ask("/in", {"secret": text})
        assert answer.status == 403
        assert "Set-Cookie" not in answer.headers
    assert unknown_page.access.sessions() == []


async def test_signing_out_ends_the_session(page: Page):
    token = page.token
    answer = await page.ask("/out", {})
    assert (answer.status, answer.headers["Location"]) == (303, "/in")
    page.token = token
    assert (await page.ask("/inbox")).status == 401


async def test_sessions_and_the_address_outlast_a_restart(tmp_path: Path):
    page = Page(tmp_path)
    await page.start()
    await page.sign_in()
    host = page.host
    await page.stop()
    page.access.take_over(())
    await page.start()
    assert page.host == host
    assert (await page.ask("/inbox")).status == 200
    stored = (tmp_path / "page.json").read_text()
    assert page.token not in stored
    assert (tmp_path / "page.json").stat().st_mode & 0o777 == 0o600
    page.access.end_all_sessions()
    assert (await page.ask("/inbox")).status == 401
    await page.stop()
    page.store.close()


async def test_a_browser_whose_name_is_no_text_signs_in_and_is_kept(tmp_path: Path):
    page = Page(tmp_path)
    await page.start()
    body = f"secret={page.access.issue_secret().text}".encode()
    lines = [
        b"POST /in HTTP/1.1",
        f"Host: {page.host}".encode(),
        f"Origin: {page.origin}".encode(),
        b"User-Agent: Brow\xffser",
        b"Content-Type: application/x-www-form-urlencoded",
        b"Content-Length: %d" % len(body),
        b"Connection: close",
    ]
    reader, writer = await asyncio.open_connection("127.0.0.1", page.port)
    writer.write(b"\r\n".join([*lines, b"", body]))
    async with asyncio.timeout(LIMIT_S):
        assert (await reader.read()).startswith(b"HTTP/1.1 303 ")
    writer.close()
    await page.stop()
    await page.start()
    assert [session.browser for session in page.access.sessions()] == ["Brow?ser"]
    await page.stop()
    page.store.close()
