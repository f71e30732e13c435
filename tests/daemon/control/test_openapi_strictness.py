"""The description of the API is as strict as the daemon: what it allows is taken, what it forbids is refused.

Never tells why: the words of a refusal are tested where the field is. Blanks at the ends of a text, which the
daemon cuts off, are not drawn where a length is at its bound.
"""

from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from jsonschema import Draft202012Validator

from daemon.control.routes.journal import labels
from tests.daemon.control.conftest import Api

COUNT = 320
LINES = ["a", "A b", " a\n", "", " ", "\u2028\t", "x" * 400, "x" * 401, "x" * 100, "x" * 101, 1, None]
COLORS = ["red", " GRAY ", "grey", "#abc", "#AbCdEf", "#abcd", "#xyz", "", "reddish", "r e d", None, 0]
LANGUAGES = ["en", "pt-BR", " de ", "EN", "e", "en-", "en_GB", "", "engl", None, False]
STATUSES = ["open", "IN_progress", "in -progress", " On\thold", "done", "nothing", "", "inprogress", None, 3]
PRIORITIES = ["P0", "p3", " P1 ", "P4", "P 1", "", "0", None, 1]
MINUTES = [1, 1_000_000, 0, -1, 1_000_001, 1.5, "2h", None, True, []]
REASONS = ["why", "", "x" * 2000, "x" * 2001, None, 7]
FIELDS: dict[str, list[Any]] = {
    "title": LINES,
    "name": LINES,
    "text": LINES,
    "checklist": ["Things", None, 5],
    "category": LINES,
    "color": COLORS,
    "default_language": LANGUAGES,
    "language": LANGUAGES,
    "status": STATUSES,
    "priority": PRIORITIES,
    "estimate_minutes": MINUTES,
    "reason": REASONS,
    "description": REASONS,
    "labels": [[], ["a"], ["a", "A"], ["x" * 101], [""], [1], None, "a", ["a"] * 101],
    "remove_labels": [[], ["x" * 101], [None], ["a"] * 101],
    "is_checked": [True, False, None, 1, "true"],
    "source": ["note", "notes", None],
}
"""What is drawn for a field of this name, good and bad."""


class Target(NamedTuple):
    method: str
    path: str
    schema: str


TARGETS = [
    Target("POST", "/v1/tasks", "NewTask"),
    Target("PATCH", "/v1/tasks/{task}", "TaskEdit"),
    Target("POST", "/v1/tasks/{task}/entries", "NewEntry"),
    Target("PATCH", "/v1/entries/{entry}", "EntryEdit"),
    Target("POST", "/v1/tasks/{task}/checklist", "NewItem"),
    Target("POST", "/v1/tasks/{task}/checklists", "NewChecklist"),
    Target("POST", "/v1/labels", "NewLabel"),
    Target("POST", "/v1/categories", "NewCategory"),
]


def drawn_body(schema: dict[str, Any], random: Random) -> dict[str, Any]:
    """Draw a body of a structure: most fields are good, and some bodies have too few or too many."""
    body: dict[str, Any] = {}
    for name in schema["properties"]:
        if name in FIELDS and (name in schema.get("required", ()) or random.random() < 0.5):
            values = FIELDS[name]
            body[name] = values[0] if random.random() < 0.5 else values[random.randrange(len(values))]
    if random.random() < 0.05:
        body["unknown"] = 1
    if body and random.random() < 0.05:
        del body[next(iter(body))]
    return body


async def differences(api: Api) -> list[str]:
    """Ask with many bodies; return those on which the description and the daemon do not agree."""
    task = (await api.ask("POST", "/v1/tasks", {"title": "a"})).json["id"]
    entry = (await api.ask("POST", f"/v1/tasks/{task}/entries", {"text": "a"})).json["id"]
    components = (await api.ask("GET", "/v1/openapi.json")).json["components"]
    result, random, counts = [], Random(26), {True: 0, False: 0}
    for index in range(COUNT):
        target = TARGETS[index % len(TARGETS)]
        schema = components["schemas"][target.schema]
        body = drawn_body(schema, random)
        allowed = Draft202012Validator({**schema, "components": components}).is_valid(body)
        answer = await api.ask(target.method, target.path.format(task=task, entry=entry), body)
        assert answer.status < 500, (target, body, answer.json)
        # Some statuses need a reason: no schema of a field says so.
        taken = answer.status < 400 or answer.code != "usage" or answer.json["error"]["id"] == "reason-needed"
        counts[allowed] += 1
        if taken != allowed:
            difference = f"{target} {str(body)[:200]}: allowed {allowed}, {answer.status} {answer.json}"
            result.append(difference[:500])
    assert min(counts.values()) > COUNT // 5, counts
    return result


async def test_what_is_described_is_what_is_taken(tmp_path: Path):
    api = Api(tmp_path, labels.routes())
    await api.start()
    try:
        assert await differences(api) == []
    finally:
        await api.stop()
