"""Writes the OpenAPI description of a table of routes.

Never describes anything by hand: what validates a request is what is shown here.
"""

import re
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import msgspec
from msgspec import Struct

from daemon.control.error_body import Envelope
from daemon.control.list_answers import FIRST, FIRST_MAX, LEFT_OUT_HEADER
from daemon.control.route import (
    IDEMPOTENCY_HEADER,
    IDEMPOTENCY_KEY_PATTERN,
    Nothing,
    Route,
    StreamHandler,
)
from daemon.journal.references.change_names import CHANGE_HEADER

type_json = dict[str, Any]

_REF = "#/components/schemas/{name}"
_KEY = {
    "name": IDEMPOTENCY_HEADER,
    "in": "header",
    "required": False,
    "description": "A retry with the same key gets the same answer, and does nothing twice.",
    "schema": {"type": "string", "pattern": f"^{IDEMPOTENCY_KEY_PATTERN}$"},
}
_FROM = {
    "name": FIRST,
    "in": "query",
    "required": False,
    "description": "How many elements of the list came in earlier answers.",
    "schema": {"type": "integer", "minimum": 0, "maximum": FIRST_MAX, "default": 0},
}
_LEFT_OUT = {
    LEFT_OUT_HEADER: {
        "description": "How many elements follow that the answer has no room for; without it, none do.",
        "schema": {"type": "integer", "minimum": 1},
    }
}
_CHANGE = {
    CHANGE_HEADER: {
        "description": "What the request changed, as POST /v1/undo takes it; absent if it wrote nothing.",
        "schema": {"type": "string"},
    }
}


def openapi_document(routes: Sequence[Route], version: str) -> type_json:
    """Return the OpenAPI 3.1 document of `routes`."""
    types = [Envelope, *dict.fromkeys(_types(routes))]
    schemas, components = msgspec.json.schema_components(types, ref_template=_REF)
    schema = dict(zip(map(repr, types), schemas, strict=True))
    paths: dict[str, type_json] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schema, components)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Placet control API", "version": version},
        "paths": paths,
        "components": {"schemas": components},
    }


def _types(routes: Sequence[Route]) -> list[Any]:
    return [kind for route in routes for kind in (*_answers(route), route.body, route.query)]


def _answers(route: Route) -> list[Any]:
    others = route.handler.other_responses if isinstance(route.handler, StreamHandler) else ()
    return [route.response, *others]


def _answer_schema(route: Route, schema: type_json) -> Any:
    schemas = [schema[repr(kind)] for kind in _answers(route)]
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _operation(route: Route, schema: type_json, components: type_json) -> type_json:
    parameters = [_path_parameter(name) for name in re.findall(r"{(\w+)}", route.path)]
    parameters += _query_parameters(route.query, components)
    operation: type_json = {
        "operationId": _operation_id(route),
        "summary": route.summary,
        "parameters": parameters
        + ([_KEY] if route.stores_responses else [])
        + ([_FROM] if route.lists else []),
        "responses": {
            str(int(route.status)): _content(
                HTTPStatus(route.status).phrase, _answer_schema(route, schema), _media(route)
            )
            | _headers(route),
            "default": _content("Refused", schema[repr(Envelope)], "application/json"),
        },
    }
    if route.body is not Nothing:
        operation["requestBody"] = {
            "required": any(field.required for field in msgspec.structs.fields(route.body)),
            "content": {"application/json": {"schema": schema[repr(route.body)]}},
        }
    if isinstance(route.handler, StreamHandler) and route.handler.request_media is not None:
        content = {route.handler.request_media: {"schema": {"type": "string"}}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _headers(route: Route) -> type_json:
    if route.lists:
        return {"headers": _LEFT_OUT}
    return {"headers": _CHANGE} if route.is_mutation else {}


def _operation_id(route: Route) -> str:
    words = re.findall(r"\w+", route.path.replace("/v1/", "/"))
    return "_".join([route.method.lower(), *words])


def _media(route: Route) -> str:
    return route.handler.response_media if isinstance(route.handler, StreamHandler) else "application/json"


def _content(description: str, schema: type_json, media: str) -> type_json:
    return {"description": description, "content": {media: {"schema": schema}}}


def _path_parameter(name: str) -> type_json:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string", "pattern": r"\S"}}


def _query_parameters(query: type[Struct], components: type_json) -> list[type_json]:
    if query is Nothing:
        return []
    described = components[query.__name__]
    required = described.get("required", ())
    return [
        {"name": name, "in": "query", "required": name in required, "schema": schema}
        for name, schema in described["properties"].items()
    ]
