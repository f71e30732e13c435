"""Names of people's things in the paths of requests, as commands and the door for programs send them.

Never asks for one route at a time: what a character breaks is listed for all of them.
"""

import asyncio
import http.client
import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from daemon.cli.api.client import percent_encode
from daemon.journal.fields.validation import as_line
from tests.daemon.control.test_whole import Device

UNSEEN = [
    *map(chr, range(0x20)),
    *map(chr, range(0x7F, 0xA1)),
    *"\xad\u200b\u200e\u202e\u2066\u2028\ufeff\u0301",
]
SIGNS = [chr(code) for code in range(0x20, 0x7F) if not chr(code).isalnum()]
WHOLE = ["{", "}", "\0", "/", "\\", "..", ".", "...", "../a", "a//b", "%2F", "%zz", "{ref}", "?a=b", "all"]
PEOPLE = ["\U0001f469\u200d\U0001f469\u200d\U0001f467", "e\u0301\ufb01Aİß", " a ", "a  b", "a\tb", "c\r\nd"]
NAMES = [
    f"<{'|'.join(few[start : start + 16])}>" for few in (UNSEEN, SIGNS) for start in range(0, len(few), 16)
]
NAMES += WHOLE + PEOPLE


@pytest.fixture
async def laptop(tmp_path: Path) -> AsyncIterator[Device]:
    device = Device(tmp_path, "laptop")
    await device.start()
    yield device
    await device.stop()


class Client:
    """One connection to a daemon; paths go out byte by byte as they are given."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        self._connection.request(method, path, None if body is None else json.dumps(body))
        answer = self._connection.getresponse()
        return answer.status, json.loads(answer.read())


@contextmanager
def opened_client(device: Device) -> Iterator[Client]:
    connection = http.client.HTTPConnection("placet")
    with closing(connection), socket.socket(socket.AF_UNIX) as opened:
        opened.connect(device.socket)
        connection.sock = opened
        yield Client(connection)


def misunderstood(client: Client, names: list[str]) -> list[str]:
    """Ask for each name on each route with a reference; return what a route did not even look for."""
    paths = client.ask("GET", "/v1/openapi.json")[1]["paths"]
    faults = []
    for path, methods in paths.items():
        for method in methods if "{ref}" in path else ():
            for name in names:
                sent = path.replace("{ref}", percent_encode(name))
                status, answer = client.ask(method.upper(), sent, None if method == "get" else {})
                fault = answer.get("error", {}) if isinstance(answer, dict) else {}
                is_wrong_path = fault.get("id") == "not-found" and fault["params"]["kind"] == "path"
                if status >= 500 or status == 405 or is_wrong_path or fault.get("id") == "http-fault":
                    faults.append(f"{method} {path} {name!r}: {status} {fault}")
    return faults


def not_found_again(client: Client, path: str, field: str, name: str) -> list[str]:
    """Make something with a name, then read, change and remove it by that name; return what went wrong."""
    status, made = client.ask("POST", path, {field: name})
    if status >= 400:
        return [] if not as_line(name) else [f"POST {path} {name!r}: {made}"]
    address = f"{path}/{percent_encode(name)}"
    steps = [("PATCH", {field: name}), ("DELETE", None), ("POST", None)]
    answers = [client.ask(verb, address + "/restore" * (verb == "POST"), body) for verb, body in steps]
    client.ask("DELETE", f"{path}/{made['id']}")
    return [
        f"{verb} {path} {name!r}: {answer}"
        for (verb, _), (status, answer) in zip(steps, answers, strict=True)
        if status >= 400 or (answer["id"], answer[field]) != (made["id"], as_line(name))
    ]


async def test_every_name_reaches_every_route_that_takes_one(laptop: Device):
    def walk() -> list[str]:
        with opened_client(laptop) as client:
            return misunderstood(client, [*WHOLE[:11], "\n\u202e\u0301"])

    assert await asyncio.to_thread(walk) == []


async def test_what_has_a_name_is_found_by_it_whatever_is_in_it(laptop: Device):
    def walk() -> list[str]:
        with opened_client(laptop) as client:
            kinds = [("/v1/labels", "name"), ("/v1/tasks", "title")]
            return [
                fault
                for path, field in kinds
                for name in NAMES
                for fault in not_found_again(client, path, field, name)
            ]

    assert await asyncio.to_thread(walk) == []


async def test_what_no_route_takes_is_answered_with_what_it_does_take_and_names_no_version(laptop: Device):
    async with aiohttp.ClientSession(
        "http://placet", connector=aiohttp.UnixConnector(laptop.socket)
    ) as session:
        async with session.request("PUT", "/v1/tasks") as unlisted:
            assert (unlisted.status, unlisted.headers["Allow"]) == (405, "GET,POST")
            assert unlisted.headers["Server"] == "Placet"
        async with session.get("/nowhere") as unknown:
            assert (unknown.status, unknown.headers["Server"]) == (404, "Placet")


def refused_paths(client: Client) -> list[str]:
    """Give paths that no file has in every field for a path; return what is not refused by name."""
    given = [
        ("/v1/bundles", lambda path: {"file": path}),
        ("/v1/bundles/read", lambda path: {"file": path}),
        ("/v1/mailboxes", lambda path: {"place": path, "name": "box"}),
        (
            "/v1/mailboxes",
            lambda path: {
                "place": f"tls://127.0.0.1:1/s?ca={percent_encode(path)}",
                "name": "box",
                "kind": "nats",
                "secret": "s",
            },
        ),
    ]
    answers = [
        (address, path, *client.ask("POST", address, body(path)))
        for address, body in given
        for path in ("\0", "/tmp/\0", "/tmp/a\0b", "here", "~/box", "../box", " /tmp")
    ]
    return [
        f"{address} {path!r}: {status} {answer}"
        for address, path, status, answer in answers
        if status != 400
        or answer["error"]["id"] != "path-malformed"
        or path not in answer["error"]["params"]["path"]
    ]


async def test_a_path_that_no_file_has_is_refused_by_name_in_every_field(laptop: Device):
    def walk() -> list[str]:
        with opened_client(laptop) as client:
            return refused_paths(client)

    assert await asyncio.to_thread(walk) == []
