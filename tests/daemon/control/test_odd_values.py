"""Odd values in every text of every request: each is taken or refused in words, and none is a fault of ours.

Never asks a route that streams; `test_names_in_paths.py` tries names in paths.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from daemon.cli.api.client import percent_encode
from tests.daemon.control.test_names_in_paths import Client, opened_client
from tests.daemon.control.test_whole import Device

ODD = ["", "\0{ref}%2F../\"'`\u202e\u2066\ufeff\r\n", "x" * 10_000]
QUERY_CHARS_MAX = 3000
UNREACHED = {"not-found", "ambiguous"}
BEHIND_OTHERS = {
    ("v1/tasks/{ref}/links", ".type"),
    ("v1/tasks/{ref}/links/remove", ".type"),
    ("v1/agents/{ref}/move", ".device"),
}
"""Fields that are looked at only if another one of the request names something that is there."""


@pytest.fixture
async def laptop(tmp_path: Path) -> AsyncIterator[Device]:
    device = Device(tmp_path, "laptop")
    await device.start()
    yield device
    await device.stop()


class Shapes:
    """The schemas of the API's description: an example of each, and where it has texts."""

    def __init__(self, components: dict[str, Any]) -> None:
        self._components = components

    def choices(self, schema: dict[str, Any]) -> list[dict[str, Any]]:
        while "$ref" in schema:
            schema = self._components[schema["$ref"].rpartition("/")[2]]
        return (
            [choice for member in schema["anyOf"] for choice in self.choices(member)]
            if "anyOf" in schema
            else [schema]
        )

    def example(self, schema: dict[str, Any]) -> Any:
        """Return the least that a schema takes, more or less: what is wrong with it is refused as well."""
        first = self.choices(schema)[0]
        if "enum" in first:
            return first["enum"][0]
        if "properties" in first:
            return {name: self.example(first["properties"][name]) for name in first.get("required", ())}
        plain = {"object": {}, "array": [], "integer": 1, "number": 1, "boolean": False, "null": None}
        return plain.get(first.get("type", ""), "name")

    def with_odd_text(self, schema: dict[str, Any], odd: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
        """Yield an example for each text in a schema, with that text odd, and where it is."""
        for choice in self.choices(schema) if depth < 5 else ():
            if choice.get("type") == "string":
                yield "", odd
            for name, member in choice.get("properties", {}).items():
                for place, value in self.with_odd_text(member, odd, depth + 1):
                    yield f".{name}{place}", {**self.example(choice), name: value}
            for name in ("items", "additionalProperties"):
                member = choice.get(name)
                for place, value in (
                    self.with_odd_text(member, odd, depth + 1) if isinstance(member, dict) else ()
                ):
                    yield f"[]{place}", [value] if name == "items" else {"key": value}


def made_things(client: Client) -> dict[str, str]:
    """Make one of each thing that routes change; return the ids by the first word of these routes' paths."""

    def made(path: str, body: dict[str, Any]) -> str:
        status, answer = client.ask("POST", path, body)
        assert status == 201, answer
        return str(answer["id"])

    task = made("/v1/tasks", {"title": "Seed"})
    made("/v1/agents", {"task": task})
    return {
        "tasks": task,
        "agents": task,
        "entries": made(f"/v1/tasks/{task}/entries", {"text": "a"}),
        "checklists": made(f"/v1/tasks/{task}/checklists", {"title": "a"}),
        "checklist-items": made(f"/v1/tasks/{task}/checklist", {"title": "a"}),
        "times": made(f"/v1/tasks/{task}/timer", {}),
        "preferences": made("/v1/preferences", {"text": "a"}),
        "devices": "laptop",
    }


def odd_requests(
    document: dict[str, Any], things: dict[str, str], odd: str
) -> Iterator[tuple[str, str, str, Any]]:
    """Yield method, path, where the odd text is, and body."""
    shapes = Shapes(document["components"]["schemas"])
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if not all("application/json" in answer["content"] for answer in operation["responses"].values()):
                continue
            parameters = [given for given in operation["parameters"] if given["in"] == "query"]
            needed = {
                given["name"]: str(shapes.example(given["schema"]))
                for given in parameters
                if given["required"]
            }
            content = operation.get("requestBody", {}).get("content", {}).get("application/json")
            address = path.replace("{ref}", things.get(path.removeprefix("/v1/").partition("/")[0], "name"))
            for given in parameters:
                query = {**needed, given["name"]: odd[:QUERY_CHARS_MAX]}
                pairs = "&".join(f"{name}={percent_encode(value)}" for name, value in query.items())
                body = shapes.example(content["schema"]) if content else None
                yield method.upper(), f"{address}?{pairs}", given["name"], body
            for place, body in shapes.with_odd_text(content["schema"], odd) if content else ():
                pairs = "&".join(f"{name}={percent_encode(value)}" for name, value in needed.items())
                yield method.upper(), f"{address}?{pairs}" if pairs else address, place, body


def faults_of(client: Client) -> list[str]:
    document, faults, things = client.ask("GET", "/v1/openapi.json")[1], [], made_things(client)
    answers: dict[tuple[str, str, str], set[str]] = {}
    requests = ((odd, *request) for odd in ODD for request in odd_requests(document, things, odd))
    for odd, method, path, place, body in requests:
        status, answer = client.ask(method, path, body)
        outcomes = answers.setdefault((method, path.partition("?")[0], place), set())
        outcomes.add("taken" if status < 400 else answer["error"]["id"])
        if status >= 500 or (status >= 400 and not (answer["error"]["id"] and answer["error"]["message"])):
            faults.append(f"{method} {path[:200]} {place} {odd[:20]!r}: {status} {str(answer)[:300]}")
    assert len(answers) > 150, "every route is tried"
    made = set(things.values())
    missed = {
        (path.partition("/")[2].replace(name, "{ref}"), place)
        for (_, path, place), ids in answers.items()
        for name in made & {*path.split("/")}
        if ids <= UNREACHED
    }
    assert missed == BEHIND_OTHERS, "what is named is there, so that the field itself is looked at"
    return faults


async def test_no_odd_text_in_any_field_is_a_fault_of_the_daemon(laptop: Device):
    def walk() -> list[str]:
        with opened_client(laptop) as client:
            return faults_of(client)

    assert await asyncio.to_thread(walk) == []


async def test_half_a_character_is_refused_by_where_it_is(laptop: Device):
    bodies = [({"title": "a\ud800"}, "$.title"), ({"title": "a", "labels": ["b", "\udc00c"]}, "$.labels[1]")]

    def walk() -> list[Any]:
        with opened_client(laptop) as client:
            answers = [client.ask("POST", "/v1/tasks", body) for body, _ in bodies]
        return [(status, answer["error"]["id"], answer["error"]["params"]) for status, answer in answers]

    refused = [(400, "body-half-character", {"place": place}) for _, place in bodies]
    assert await asyncio.to_thread(walk) == refused
