"""Inside every folder, imports go one way: no part of it is imported, however far round, by what it imports.

Never names a module for that: a new one is held to the rule without being written down anywhere. In the
folders of `SIBLINGS` the parts do not know each other at all, but for the imports named there. The layers are
in ARCHITECTURE.md's picture, which `tests/docs/test_architecture.py` compares with the contracts.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import Final

from tests.support.nearness import imported_names, module_texts
from tests.support.source_tree import PACKAGES, ROOT

Graph = dict[str, dict[str, str]]
"""By a part of a folder, the parts that it imports, each with a line that says where."""

SIBLINGS: Final[Mapping[str, Mapping[str, set[str]]]] = {
    "daemon/cli/commands": {},
    "daemon/cli/commands/devices": {},
    "daemon/cli/commands/files": {},
    "daemon/cli/commands/journal": {},
    "daemon/cli/views": {"proposals": {"journal"}},
    "daemon/control/routes": {"outside": {"agents"}, "self_description": {"events"}},
    "daemon/control/routes/transfers": {},
    "store/file": {"database": {"errors"}, "lease": {"errors"}},
    "store/local": {"timers": {"recurring_timers", "run_log"}},
    "store/queries": {},
}
"""Folders whose parts do not know each other, and by part which others it may know all the same."""


def graphs(texts: Mapping[Path, str]) -> dict[Path, Graph]:
    """Return what the parts of each folder import of each other; types count as anything else."""
    by_name = {".".join(path.with_suffix("").parts).removesuffix(".__init__"): path for path in texts}
    result: dict[Path, Graph] = defaultdict(lambda: defaultdict(dict))
    for path, text in texts.items():
        for other in {by_name[name] for name in imported_names(text) if name in by_name} - {path}:
            for folder, part, other_part in _meeting_place(path, other):
                result[folder][part].setdefault(other_part, f"{path} imports {other}")
    return result


def _meeting_place(path: Path, other: Path) -> Iterator[tuple[Path, str, str]]:
    """Yield the innermost folder of both, and the part in which each is; nothing for a folder's own words."""
    parts, other_parts = path.with_suffix("").parts, other.with_suffix("").parts
    pairs = enumerate(zip(parts, other_parts, strict=False))
    depth = next((level for level, (name, other_name) in pairs if name != other_name), None)
    if depth is not None and "__init__" not in (parts[depth], other_parts[depth]):
        yield Path(*parts[:depth]), parts[depth], other_parts[depth]


def circles(texts: Mapping[Path, str]) -> list[str]:
    """Return each circle among the parts of a folder, with the imports that make it."""
    faults = []
    for folder, graph in sorted(graphs(texts).items()):
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as fault:
            around = fault.args[1][::-1]
            lines = [graph[part][other] for part, other in pairwise(around)]
            faults.append(f"{folder}: {'; '.join(lines)}")
    return faults


def acquaintances(graph: Mapping[str, Mapping[str, str]], allowed: Mapping[str, set[str]]) -> list[str]:
    """Return the imports among the parts of a folder that are not allowed, each by its line."""
    return sorted(
        line
        for part, others in graph.items()
        for other, line in others.items()
        if other not in allowed.get(part, set())
    )


def test_inside_every_folder_imports_go_one_way() -> None:
    texts = {path: text for path, text in module_texts(ROOT).items() if path.parts[0] in PACKAGES}
    assert len(graphs(texts)) > 50
    assert circles(texts) == []


def test_siblings_know_each_other_only_where_it_is_said() -> None:
    texts = {path: text for path, text in module_texts(ROOT).items() if path.parts[0] in PACKAGES}
    all_graphs = graphs(texts)
    for folder, allowed in SIBLINGS.items():
        assert any(path.is_relative_to(folder) for path in texts), folder
        graph = all_graphs.get(Path(folder), {})
        assert acquaintances(graph, allowed) == [], folder
        # What nobody needs any more is not allowed for ever.
        assert {part: set(others) for part, others in graph.items()} == allowed, folder


def test_an_import_between_siblings_is_named() -> None:
    texts = {
        Path("house/kitchen/stove.py"): "from house.kitchen.table import Table",
        Path("house/kitchen/table.py"): "",
    }
    graph = graphs(texts)[Path("house/kitchen")]
    assert acquaintances(graph, {}) == ["house/kitchen/stove.py imports house/kitchen/table.py"]
    assert acquaintances(graph, {"stove": {"table"}}) == []


def test_a_circle_through_two_rooms_is_named_with_its_imports() -> None:
    texts = {
        Path("house/kitchen/stove.py"): "from house.cellar.wood import Log",
        Path("house/kitchen/table.py"): "",
        Path("house/cellar/wood.py"): "from house.cellar import door",
        Path("house/cellar/door.py"): "if TYPE_CHECKING:\n    from house.kitchen.table import Table",
    }
    [circle] = circles(texts)
    assert circle.startswith("house: ")
    assert "house/kitchen/stove.py imports house/cellar/wood.py" in circle
    assert "house/cellar/door.py imports house/kitchen/table.py" in circle
    del texts[Path("house/cellar/door.py")]
    assert circles(texts) == []
