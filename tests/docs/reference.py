"""The pages of docs/reference that the program can write itself: commands, settings, API, JSON lines.

`make reference` writes them. Never says anything that the program's own declarations do not say.
"""

import http.client
import inspect
import json
import re
import socket
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, get_args, get_origin, get_type_hints

import click
import msgspec

from daemon import config
from daemon.cli.framework.declaration import LazyGroup
from daemon.cli.framework.examples import example_of
from daemon.cli.main import program
from daemon.config import Settings
from daemon.file_formats import FILE_FORMATS
from daemon.formats.jsonl.line_schema import EndLine, EntityLine, HeaderLine
from tests.man import page as man_page
from tests.support import command_tree
from tests.support.command_tree import Leaf
from tests.support.devices import Device
from tests.support.source_tree import ROOT

FOLDER: Final = ROOT / "docs" / "reference"
GENERATED: Final = "<!-- Written by `make reference`. Do not edit it here. -->"
_SHARED: Final = {"--json", "--plain", "--no-color", "--help", "--jsonl"}


# -- commands -----------------------------------------------------------------------------------------


def commands_page() -> str:
    """Return the page of all commands, from what click knows of them."""
    root = program()
    context = click.Context(root, info_name="placet")
    shared = [(f"`{option.shown}`", option.meaning) for option in command_tree.options(root, context)]
    return _joined(_commands(root, context, shared))


def _commands(root: LazyGroup, context: click.Context, shared: list[tuple[str, str]]) -> Iterator[str]:
    yield from ("# Commands", GENERATED, root.help or "", root.epilog or "")
    yield "Every command takes these options, before its name or after it."
    yield _table(("option", "meaning"), shared)
    for title, leaves in command_tree.sections(root, context):
        yield f"## {title}"
        for leaf in leaves:
            yield from _command(leaf)
    for title, rows in (("Exit status", man_page.EXIT), ("Environment", man_page.ENVIRONMENT)):
        yield f"## {title}"
        yield _table((title.lower(), "meaning"), [(f"`{name}`", words) for name, words in rows.items()])


def _command(leaf: Leaf) -> Iterator[str]:
    yield f"### `{leaf.path}`"
    yield f"`{' '.join([leaf.path, *leaf.arguments])}`"
    yield inspect.cleandoc(leaf.command.help or "").replace("\b\n", "").replace("*", "\\*")
    yield f"Example: `{example_of(leaf.path.removeprefix('placet '))}`"
    options = command_tree.options(leaf.command, leaf.context)
    own = [(f"`{option.shown}`", option.meaning) for option in options if not _is_shared(option.shown)]
    if own:
        yield _table(("option", "meaning"), own)


def _is_shared(name: str) -> bool:
    return not _SHARED.isdisjoint(re.findall(r"--[\w-]+", name))


# -- settings -----------------------------------------------------------------------------------------


def settings_page() -> str:
    """Return the page of all settings, from the structures that read them."""
    return _joined(_settings())


def _settings() -> Iterator[str]:
    yield from ("# Settings", GENERATED)
    yield (
        "A setting is looked for in this order: a flag of `placet up`, an environment variable, "
        "`config.toml`, the default. `placet config show --origin` says which one counted. An unknown "
        "key is refused, with the nearest known one."
    )
    defaults = Settings()
    hints = get_type_hints(Settings, include_extras=True)
    for name, hint in hints.items():
        default = getattr(defaults, name)
        yield f"## `{name}`"
        if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
            yield inspect.cleandoc(hint.__doc__ or "")
            fields = get_type_hints(hint, include_extras=True)
            rows = [_setting(f"{name}.{key}", fields[key], getattr(default, key)) for key in fields]
        else:
            if name == "models":
                yield _FURTHER_MODELS
            rows = [_setting(name, hint, default)]
        yield _table(("key", "variable", "values", "default"), rows)


_FURTHER_MODELS: Final = (
    "Further models at servers: each `[models.NAME]` has the keys of `[model]` that are about a server, with "
    "the same defaults. `placet agent create TASK --model NAME` gives one to an agent. Its key is in its "
    "`key_file` alone."
)


def _setting(key: str, hint: Any, default: Any) -> tuple[str, str, str, str]:
    variable = config.VARIABLE_PREFIX + key.upper().replace(".", "_")
    text = "nothing" if default in (None, "", (), {}) else f"`{json.dumps(default)}`"
    return f"`{key}`", f"`{variable}`", _values(hint), text


def _values(hint: Any) -> str:
    arguments = get_args(hint)
    if type(None) in arguments:
        return f"nothing, or {_values(arguments[0])}"
    if get_origin(hint) in (tuple, dict):
        return "a list of texts" if get_origin(hint) is tuple else "a table; as a variable, in JSON"
    if arguments and all(isinstance(argument, str) for argument in arguments):
        return ", ".join(f"`{argument}`" if argument else "nothing" for argument in arguments)
    kind = arguments[0] if hasattr(hint, "__metadata__") else hint
    bounds = [element for element in getattr(hint, "__metadata__", ()) if isinstance(element, msgspec.Meta)]
    name = {int: "a whole number", float: "a number", bool: "`true` or `false`", str: "a text"}[kind]
    return " ".join([name, *(_bounds(bound) for bound in bounds)])


def _bounds(meta: msgspec.Meta) -> str:
    if meta.max_length is not None:
        return f"of at most {meta.max_length} characters"
    if meta.le is None:
        return f"from {meta.ge}"
    return f"from {meta.ge} to {meta.le:g}" if isinstance(meta.le, float) else f"from {meta.ge} to {meta.le}"


# -- API ----------------------------------------------------------------------------------------------


def described_by_a_daemon() -> dict[str, Any]:
    """Return the OpenAPI document of a daemon that is started for it."""
    with tempfile.TemporaryDirectory() as folder:
        device = Device("reference", Path(folder) / "reference")
        device.start()
        try:
            path = device.do("paths")["socket"]
            connection = http.client.HTTPConnection("placet")
            with socket.socket(socket.AF_UNIX) as connection.sock:
                connection.sock.connect(path)
                connection.request("GET", "/v1/openapi.json")
                document: dict[str, Any] = json.loads(connection.getresponse().read())
        finally:
            device.stop()
    return document


def api_page(document: Mapping[str, Any]) -> str:
    """Return the page of the control API, from its OpenAPI document."""
    return _joined(_api(document))


def _api(document: Mapping[str, Any]) -> Iterator[str]:
    yield from ("# The control API", GENERATED)
    yield (
        "HTTP on the Unix socket that `placet paths` shows. A daemon describes itself at "
        "`/v1/openapi.json`; this page is made of that description. `--json` prints the answer of the "
        "route behind a command."
    )
    yield (
        "A refusal is an `Envelope` with a code, a message and a hint. Every route that changes "
        "something accepts an `Idempotency-Key`, unless its answer contains a secret: a retry with "
        "the same key does nothing twice."
    )
    yield (
        "The answer to a write has the header `Placet-Change` with the name of what it changed, which "
        "`POST /v1/undo` takes. Several names have commas between them. An answer without it changed nothing."
    )
    yield (
        "A list has about 8 MiB and one element at least. If more follows, the header "
        "`Placet-Left-Out` says how many elements do: ask again with `from`, the number of those that "
        "came. A task has some MiB; its `left_out` counts what of its parts is not shown, and the lists "
        "of those parts have all of it."
    )
    yield "## Routes"
    rows = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            rows.append((f"`{method.upper()} {path}`", operation["summary"], *_sides(operation)))
    yield _table(("route", "what it does", "query", "body", "answer"), rows)
    yield "## Structures"
    for name, schema in document["components"]["schemas"].items():
        yield from _structure(name, schema, index=3)


def _sides(operation: Mapping[str, Any]) -> tuple[str, str, str]:
    query = [f"`{parameter['name']}`" for parameter in operation["parameters"] if parameter["in"] == "query"]
    body = operation.get("requestBody", {}).get("content", {})
    answers = [response for status, response in operation["responses"].items() if status != "default"]
    return " ".join(query), _content(body), " ".join(_content(answer["content"]) for answer in answers)


def _content(content: Mapping[str, Any]) -> str:
    texts = []
    for media, element in content.items():
        kind = _kind(element["schema"])
        texts.append(kind if media == "application/json" else f"{kind} as `{media}`")
    return ", ".join(texts)


def _structure(name: str, schema: Mapping[str, Any], index: int) -> Iterator[str]:
    yield f"{'#' * index} {name}"
    if "description" in schema:
        yield " ".join(schema["description"].split())
    required = schema.get("required", ())
    rows = []
    for field, kind in schema.get("properties", {}).items():
        default = "" if "default" not in kind else f"default `{json.dumps(kind['default'])}`"
        words = " ".join(kind.get("description", "").split())
        notes = "; ".join(text for text in ("required" if field in required else default, words) if text)
        rows.append((f"`{field}`", _kind(kind), notes))
    if rows:
        yield _table(("field", "type", ""), rows)


def _kind(schema: Any) -> str:
    if not isinstance(schema, Mapping) or not schema:
        return "any"
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_kind(choice) for choice in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(f"`{choice}`" for choice in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    if schema.get("type") == "object" and "additionalProperties" in schema:
        return f"map to {_kind(schema['additionalProperties'])}"
    return str(schema.get("type", "any"))


# -- JSON lines ---------------------------------------------------------------------------------------


def json_lines_page() -> str:
    """Return the page of the JSON lines file, from the structures that read and write it."""
    return _joined(_json_lines())


def _json_lines() -> Iterator[str]:
    yield from ("# JSON lines", GENERATED)
    yield (
        "`placet export jsonl` writes one JSON object per line: a `HeaderLine`, then an `EntityLine` "
        "per entity in the order of ids, then an `EndLine`. `placet import jsonl` reads the same. That is "
        "the order of their 16 bytes, and not of the text form in which the lines write them: the text form "
        "has the last bytes first. An "
        'id is `{"$id": …}`, other bytes are `{"$bytes": …}` in base64. A map of one key that begins '
        "with `$` is wrapped as `$map`. The kinds and their fields are in [journal.md](journal.md), "
        "and the reasons in "
        "[decision 0020](../decisions/0020-json-lines-carry-what-is-in-effect.md)."
    )
    kinds = [HeaderLine, EntityLine, EndLine]
    _, components = msgspec.json.schema_components(kinds, ref_template="#/{name}")
    for name, schema in components.items():
        yield from _structure(name, schema, index=2)
    yield "## All formats"
    rows = [
        (f"`{row.name}`", row.title, ", ".join(f"`{end}`" for end in row.endings)) for row in FILE_FORMATS
    ]
    yield _table(("format", "what it is", "how its files end"), rows)


# -- Markdown -----------------------------------------------------------------------------------------


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [
        list(heads),
        ["---"] * len(list(heads)),
        *([cell.replace("|", "\\|") for cell in row] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


def pages() -> dict[str, str]:
    """Return every generated page by its name."""
    return {
        "commands.md": commands_page(),
        "settings.md": settings_page(),
        "api.md": api_page(described_by_a_daemon()),
        "json-lines.md": json_lines_page(),
    }


def main() -> int:
    """Write the pages."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
