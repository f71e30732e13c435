"""The picture in ARCHITECTURE.md is the one that the import contracts hold the code to.

Never restates a layer: the contracts in `pyproject.toml` are read.
"""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tests.support.source_tree import PACKAGES, ROOT, project_files, text_of

DOCUMENT = Path("ARCHITECTURE.md")


def contract(id_: str) -> list[set[str]]:
    """Return the layers of an import contract, top first, of what is there."""
    contracts = tomllib.loads(text_of(Path("pyproject.toml")))["tool"]["importlinter"]["contracts"]
    [result] = [listed_contract for listed_contract in contracts if listed_contract["id"] == id_]
    container = (result.get("containers") or [""])[0]
    layers = [set(re.findall(r"\w+", line)) for line in result["layers"]]
    remote = [{name for name in layer if exists(Path(container) / name)} for layer in layers]
    return [layer for layer in remote if layer]


def exists(module: Path) -> bool:
    return (ROOT / module).is_dir() or (ROOT / module.with_suffix(".py")).is_file()


def picture() -> Iterator[str]:
    """Yield the lines of the picture."""
    [block] = re.findall(r"^## The picture.*?^```\n(.*?)^```", text_of(DOCUMENT), re.MULTILINE | re.DOTALL)
    yield from block.splitlines()


def test_the_picture_shows_the_three_packages_from_the_top_down() -> None:
    displayed = [{name} for line in picture() if (name := line.split(" ")[0]) in PACKAGES]
    assert displayed == contract("down")


def test_the_picture_shows_the_layers_inside_the_daemon() -> None:
    lines = list(picture())
    [start] = [index for index, line in enumerate(lines) if line.startswith("daemon ")]
    [end] = [index for index, line in enumerate(lines) if line.startswith("store ")]
    displayed = [set(re.findall(r"\w+", line)) for line in lines[start + 1 : end]]
    assert [{name for name in layer if exists(Path("daemon") / name)} for layer in displayed] == contract(
        "inside-daemon"
    )


def test_every_room_is_in_the_picture_or_in_the_table() -> None:
    text = text_of(DOCUMENT)
    rooms = {
        path.parent
        for path in project_files()
        if path.name == "__init__.py" and path.parts[0] in PACKAGES and len(path.parts) in (2, 3)
    }
    assert len(rooms) > 10
    assert not [
        str(room) for room in rooms if f"{room.name}/" not in text and not is_room_named(room.name, text)
    ]


def is_room_named(room: str, text: str) -> bool:
    return any(room in re.findall(r"\w+", line) for line in text.splitlines() if line.startswith("  ")) or (
        re.search(rf"[`/]{room}[/`]", text) is not None
    )
