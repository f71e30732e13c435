"""The commands on the page, against a real daemon: an address that signs in, and sessions that end."""

import urllib.error
import urllib.parse
import urllib.request

import pytest

from tests.support.devices import MakeDevice

pytestmark = pytest.mark.e2e


def sign_in(address: str) -> int:
    """Sign in as a browser does; return the status of the page after it."""
    origin, _, secret = address.partition("/in#")
    port = origin.rpartition(":")[2]
    headers = {
        "Host": origin.partition("://")[2],
        "Sec-Fetch-Site": "same-origin",
        "User-Agent": "Tests",
    }
    body = urllib.parse.urlencode({"secret": secret}).encode()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    request = urllib.request.Request(f"http://127.0.0.1:{port}/in", body, headers)
    try:
        with opener.open(request) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code


def test_the_page_is_served_unless_it_is_turned_off(device: MakeDevice):
    assert device("phone").do("web", "--print")["address"]
    result = device("laptop", PLACET_WEB_ENABLED="false").run("web", "--print")
    assert result.status == 1
    assert "web.enabled" in result.err


def test_an_address_signs_in_once_and_its_session_is_listed_and_ended(device: MakeDevice):
    laptop = device("laptop", PLACET_WEB_ENABLED="true", PLACET_WEB_HOSTS="laptop.example.net")
    printed = laptop.do("web", "--print")
    assert printed["addresses"] == [
        printed["address"],
        f"https://laptop.example.net/in#{printed['secret']}",
    ]
    assert [sign_in(printed["address"]) for _ in range(2)] == [200, 403]
    (session,) = laptop.do("web", "sessions")
    assert session["browser"] == "Tests"
    assert [ended["id"] for ended in laptop.do("web", "end", session["id"][:6])] == [session["id"]]
    assert laptop.run("web", "end", session["id"]).status == 4
    assert laptop.do("web", "sessions") == []
    assert laptop.do("web", "end", "--all") == []
    assert laptop.run("web", "end").status == 2


def test_without_a_desktop_the_address_is_printed(device: MakeDevice):
    laptop = device("laptop", PLACET_WEB_ENABLED="true", DISPLAY="", WAYLAND_DISPLAY="")
    result = laptop.run("web")
    assert result.status == 0
    assert ".localhost:" in result.out.splitlines()[0]
    assert result.out.splitlines()[0].partition("#")[2] in result.out.splitlines()[1]
