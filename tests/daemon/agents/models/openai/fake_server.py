"""A Chat Completions server for tests: it answers from a script, a step a request, and keeps what came.

Never reaches beyond loopback, and never waits for time to pass except where a step says so.

A step is a coroutine that takes the request and returns the response. The builders below make the answers
that servers really give, and the faults that they really have:

    calls(("update_report", {...}))     native tool calls        says("...")     an answer in words
    acts({...})                         one answer by schema     raw(b"...")     any bytes
    obeys(step)                         the step, at a server that is bound by schemas
    refuses(429, code="...", after="1") an error                 leads_to(url)   a redirect (307)
    replays([...])                      what a real server answered once
    knows_only("tools", step)           the step, for requests in one form; a refusal for the others
    drips()  cuts()  floods()  packs()  answers that never end, break off, are huge, or are compressed
    echoes(...)                         what was sent, sent back: the key, the notes

Once the script is used up the server reports that there is nothing to do, or has nothing more to call,
which ends a run.
"""

import asyncio
import gzip
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from aiohttp import web
from aiohttp.test_utils import TestServer

Step = Callable[[web.Request], Awaitable[web.StreamResponse]]
USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "prompt_tokens_details": {"cached_tokens": 30},
    "completion_tokens_details": {"reasoning_tokens": 4},
}
PIECE = b"x" * 65536


class ReceivedRequest(NamedTuple):
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def written(self) -> str:
        """Return all that the model would read."""
        return json.dumps(self.body["messages"], ensure_ascii=False)


class FakeChatServer:
    """The server. `script` is what it does next; `asked` is what came in."""

    def __init__(self, *script: Step) -> None:
        self.script = list(script)
        self.asked: list[ReceivedRequest] = []
        self.always: Step | None = None
        app = web.Application(client_max_size=1 << 26)
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._server = TestServer(app, host="127.0.0.1")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.port}/v1"

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        raw = await request.text()
        try:
            body = json.loads(raw)
        except ValueError:
            body = {}
        self.asked.append(ReceivedRequest(request.path, dict(request.headers), body))
        step = self.script.pop(0) if self.script else self.always or _nothing_to_do(body)
        return await step(request)

    async def start(self, tls: ssl.SSLContext | None = None) -> None:
        await self._server.start_server(ssl=tls)

    async def stop(self) -> None:
        await self._server.close()


@asynccontextmanager
async def fake_chat_server(*script: Step) -> AsyncIterator[FakeChatServer]:
    """Serve a script for as long as the context lasts."""
    server = FakeChatServer(*script)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


# -- answers ------------------------------------------------------------------------------------------


def completion(message: dict[str, Any], ended: str = "stop", usage: Any = USAGE) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": ended}
    return {"id": "c", "object": "chat.completion", "created": 1, "choices": [choice], "usage": usage}


def answers(message: dict[str, Any], ended: str = "stop", usage: Any = USAGE) -> Step:
    return raw(json.dumps(completion(message, ended, usage)).encode())


def call(name: Any, arguments: Any, identifier: Any = "call_a") -> dict[str, Any]:
    """Return one native call; arguments that are not text are written as JSON, as servers do."""
    written_arguments = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": written_arguments}}


def calls(*server: tuple[str, Any]) -> Step:
    listed = [call(name, arguments, f"call_{index}") for index, (name, arguments) in enumerate(server)]
    return answers({"content": None, "tool_calls": listed}, "tool_calls")


def says(words: str, ended: str = "stop") -> Step:
    return answers({"content": words}, ended)


def acts(answer: dict[str, Any]) -> Step:
    return says(json.dumps(answer))


def obeys(answer: Step) -> Step:
    """Return a step of a server that is bound by schemas: it shows so when it is tried, and answers then."""

    async def step(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
        code = schema.get("properties", {}).get("code")
        return await (answer if code is None else acts({"code": code["const"]}))(request)

    return step


def raw(body: bytes, status: int = 200, content_type: str = "application/json", **headers: str) -> Step:
    async def step(request: web.Request) -> web.StreamResponse:
        del request
        by_name = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(body=body, status=status, content_type=content_type, headers=by_name)

    return step


def replays(recorded: list[dict[str, Any]]) -> list[Step]:
    """Return the steps of a real server that `try_model.py` recorded."""
    return [raw(fields["body"].encode(), fields["status"]) for fields in recorded]


def _nothing_to_do(body: dict[str, Any]) -> Step:
    """Return the answer of a model that finds nothing to do, in the form that it was asked in."""
    report = {"tldr": "Nothing to do."}
    if "tools" not in body:
        return acts({"actions": [], "report": report})
    is_later = any(message["role"] == "assistant" for message in body["messages"])
    return says("Nothing more to do.") if is_later else calls(("update_report", report))


# -- faults -------------------------------------------------------------------------------------------


def refuses(status: int, *, code: Any = None, kind: str = "", message: str = "", after: str = "") -> Step:
    error = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    headers = {"Retry_After": after} if after else {}
    return raw(json.dumps(error).encode(), status, **headers)


def leads_to(url: str, status: int = 307) -> Step:
    return raw(b"", status, Location=url)


def knows_only(form: str, answer: Step) -> Step:
    """Return a step of a server that knows one form of request alone: tools, json_schema or json_object.

    It refuses the others as llama-cpp-python does, with a 500 that carries a validation error.
    """

    async def step(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        answer_form = "tools" if "tools" in body else body.get("response_format", {}).get("type")
        refusal = refuses(500, kind="internal_server_error", message="1 validation error: 'literal_error'")
        return await (answer if answer_form == form else refusal)(request)

    return step


def packs() -> Step:
    """Return an answer of a few bytes that unpacks to many."""
    return raw(gzip.compress(b" " * (64 << 20)), Content_Encoding="gzip")


def echoes(make: Callable[[str], Step]) -> Step:
    """Return a step made from the key that came with the request."""

    async def step(request: web.Request) -> web.StreamResponse:
        return await make(request.headers["Authorization"].removeprefix("Bearer "))(request)

    return step


def cuts() -> Step:
    """Break the connection in the middle of an answer."""

    async def step(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b'{"choices": [')
        assert request.transport is not None
        request.transport.abort()
        return response

    return step


def drips() -> Step:
    """Send a byte every few milliseconds, for ever: no single wait is long, and the answer never ends."""

    async def step(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        while not _is_gone(request):
            await response.write(b" ")
            await asyncio.sleep(0.005)
        return response

    return step


def floods() -> Step:
    """Send pieces for as long as anyone takes them."""

    async def step(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        while not _is_gone(request):
            await response.write(PIECE)
        return response

    return step


def _is_gone(request: web.Request) -> bool:
    return request.transport is None or request.transport.is_closing()
