"""The description of the API.

Never compared with a copy: it is generated, and these hold its shape.
"""

from typing import Any

import pytest

from daemon.control.openapi import openapi_document
from daemon.control.route import AsyncHandler, Nothing, ReadHandler, Route, StreamHandler, WriteHandler
from daemon.journal.references.change_names import CHANGE_HEADER
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
    answer = await description(api)
    assert answer["openapi"] == "3.1.0"
    described = {(method.upper(), path) for path, methods in answer["paths"].items() for method in methods}
    assert described >= {(route.method, route.path) for route in api.routes}
    assert {("GET", "/healthz"), ("GET", "/v1/openapi.json"), ("GET", "/v1/events")} <= described
    names = {f"#/components/schemas/{name}" for name in answer["components"]["schemas"]}
    assert refs(answer) <= names


async def test_operations_have_names_of_their_own(api: Api):
    answer = await description(api)
    names = [method["operationId"] for methods in answer["paths"].values() for method in methods.values()]
    assert len(names) == len(set(names))


async def test_what_a_request_must_hold_is_what_is_described(api: Api):
    answer = await description(api)
    schemas = answer["components"]["schemas"]
    assert schemas["NewTask"]["required"] == ["title"]
    assert schemas["NewTask"]["additionalProperties"] is False
    add = answer["paths"]["/v1/tasks"]["post"]
    assert add["requestBody"]["required"]
    assert set(add["responses"]) == {"201", "default"}
    assert [parameter["name"] for parameter in add["parameters"]] == ["Idempotency-Key"]
    listed = answer["paths"]["/v1/tasks"]["get"]
    names = {parameter["name"] for parameter in listed["parameters"]}
    assert names >= {"all", "removed", "brief", "after", "limit", "label", "due_before"}
    displayed = answer["paths"]["/v1/tasks/{ref}"]["get"]
    names_in = [(parameter["name"], parameter["in"]) for parameter in displayed["parameters"]]
    assert names_in == [("ref", "path"), ("provenance", "query")]
    streamed = answer["paths"]["/v1/events"]["get"]["responses"]["200"]["content"]["text/event-stream"]
    kinds = [choice["$ref"].rpartition("/")[2] for choice in streamed["schema"]["anyOf"]]
    assert kinds == ["Event", "StateEvent", "ExpiringEvent", "MailboxActivity"]


async def never(*_: Any) -> Any:
    raise AssertionError


@pytest.mark.parametrize(
    ("how", "is_heeded"),
    [
        (WriteHandler(never), True),
        (AsyncHandler(never), True),
        (AsyncHandler(never, stores_response=False), False),
        (StreamHandler(never, "application/json", request_media="application/jsonl"), False),
    ],
)
def test_a_key_is_offered_where_it_is_heeded_alone(
    how: ReadHandler | WriteHandler | AsyncHandler | StreamHandler, is_heeded: bool
):
    document = openapi_document([Route("POST", "/v1/some", "Do something", how, Nothing)], "1")
    offered = [parameter["name"] for parameter in document["paths"]["/v1/some"]["post"]["parameters"]]
    assert offered == ["Idempotency-Key"] * is_heeded


async def test_a_write_of_a_body_that_is_streamed_is_described_to_name_its_change():
    async def run(request: Any, call: Any) -> Any:
        del request, call

    stream = StreamHandler(run, "application/json", request_media="application/jsonl")
    routes = [Route(method, "/v1/import", "Import", stream, str) for method in ("GET", "POST")]
    described = openapi_document(routes, "1")["paths"]["/v1/import"]
    headers = [described[method]["responses"]["200"].get("headers", {}) for method in ("get", "post")]
    assert [CHANGE_HEADER in names for names in headers] == [False, True]
