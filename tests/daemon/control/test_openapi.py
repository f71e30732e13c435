"""The description of the API.

Never compared with a copy: it is generated, and these hold its shape.
"""

from typing import Any

import pytest

from daemon.control.openapi import describe
from daemon.control.routes import Asks, Nothing, Reads, Route, Streams, Writes
from tests.daemon.control.conftest import Api


def refs(node: Any) -> set[str]:
    if isinstance(node, list):
        return set().union(*map(refs, node))
    if isinstance(node, dict):
        own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
        return own.union(*map(refs, node.values()))
    return set()


async def description(api: Api) -> Any:
    return (await api.ask("GET", "/v1/openapi.json")).json


async def test_every_route_is_described_and_every_reference_resolves(api: Api):
    told = await description(api)
    assert told["openapi"] == "3.1.0"
    described = {(method.upper(), path) for path, methods in told["paths"].items() for method in methods}
    assert described >= {(route.method, route.path) for route in api.routes}
    assert {("GET", "/healthz"), ("GET", "/v1/openapi.json"), ("GET", "/v1/events")} <= described
    names = {f"#/components/schemas/{name}" for name in told["components"]["schemas"]}
    assert refs(told) <= names


async def test_operations_have_names_of_their_own(api: Api):
    told = await description(api)
    names = [one["operationId"] for methods in told["paths"].values() for one in methods.values()]
    assert len(names) == len(set(names))


async def test_what_a_request_must_hold_is_what_is_described(api: Api):
    told = await description(api)
    schemas = told["components"]["schemas"]
    assert schemas["NewTask"]["required"] == ["title"]
    assert schemas["NewTask"]["additionalProperties"] is False
    add = told["paths"]["/v1/tasks"]["post"]
    assert add["requestBody"]["required"]
    assert set(add["responses"]) == {"201", "default"}
    assert [one["name"] for one in add["parameters"]] == ["Idempotency-Key"]
    listed = told["paths"]["/v1/tasks"]["get"]
    names = {one["name"] for one in listed["parameters"]}
    assert names >= {"all", "removed", "brief", "after", "limit", "label", "due_before"}
    shown = told["paths"]["/v1/tasks/{ref}"]["get"]
    names_in = [(one["name"], one["in"]) for one in shown["parameters"]]
    assert names_in == [("ref", "path"), ("provenance", "query")]
    streamed = told["paths"]["/v1/events"]["get"]["responses"]["200"]["content"]["text/event-stream"]
    kinds = [one["$ref"].rpartition("/")[2] for one in streamed["schema"]["anyOf"]]
    assert kinds == ["Event", "StateEvent"]


async def never(*_: Any) -> Any:
    raise AssertionError


@pytest.mark.parametrize(
    ("how", "is_heeded"),
    [
        (Writes(never), True),
        (Asks(never), True),
        (Asks(never, kept=False), False),
        (Streams(never, "application/json", takes="application/jsonl"), False),
    ],
)
def test_a_key_is_offered_where_it_is_heeded_alone(how: Reads | Writes | Asks | Streams, is_heeded: bool):
    told = describe([Route("POST", "/v1/some", "Do something", how, Nothing)], "1")
    offered = [one["name"] for one in told["paths"]["/v1/some"]["post"]["parameters"]]
    assert offered == ["Idempotency-Key"] * is_heeded
