"""The house style, measured.

Never imports the code that it measures, and never fixes what it finds.
"""

import ast
import builtins
import json
import re
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from statistics import median, quantiles

import pytest
from packaging.requirements import Requirement

from tests.support.source_tree import (
    PACKAGES,
    ROOT,
    function_length,
    functions,
    modules,
    project_files,
    text_of,
    tree_of,
)

BANNED_WORDS = {"manager", "helper", "helpers", "util", "utils", "common", "misc"}
# As the noun of a name these say nothing; `data_folder` is a folder.
IMPOSED = frozenset({"get_extra_info", "_process_info"})
"""Names that are not ours to choose: a fake of a socket, and a client of NATS, have to answer to them."""
BANNED_NOUNS = {"data", "info"}
# Spelled in pieces, so that this file does not name what it forbids.
FOREIGN = [
    *("/".join(("", *parts)) for parts in [("work", ""), ("opt", "pypi"), ("opt", "wheels"), ("root", "")]),
    "." + "./shared",
    "pypi" + ".org",
    "python" + "hosted.org",
    "npm" + "js.org",
    "deb" + ".debian.org",
    "--" + "index-url",
    "--" + "find-links",
]
RAISES = re.compile(r"\b[Rr]aises?\s+([A-Z]\w+)")
# Files that a document names because the reader has or makes them, not because the project does.
READERS_FILES = {"config.toml", "todo.md", "todo.txt", "export.json", "control.sock", "placet.db", "group/"}


def words(name: str) -> list[str]:
    """Split `snake_case` and `CamelCase` alike into lower-case words."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)]


def names_by_place() -> Iterator[tuple[str, str]]:
    """Yield (where, name) of every module, class and function; a test's name is a sentence, not a name."""
    for path in modules(*PACKAGES, "tests", "bench"):
        yield str(path), path.parent.name if path.name == "__init__.py" else path.stem
        for node in ast.walk(tree_of(path)):
            if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if not node.name.startswith("test_"):
                yield f"{path}: {node.name}", node.name


def is_banned(name: str) -> bool:
    """Say whether the house bans this name."""
    parts = words(name)
    if not parts:
        return False
    is_verb = parts[0] == "process" and name[0].islower()
    return is_verb or not BANNED_WORDS.isdisjoint(parts) or parts[-1] in BANNED_NOUNS


def sentences(text: str) -> int:
    """Count the sentences of a docstring."""
    return len(re.findall(r"[.?!](?=\s|$)", text))


def test_functions_are_short() -> None:
    lengths = [function_length(node) for path in modules(*PACKAGES) for node in functions(path)]
    assert median(lengths) <= 8
    assert quantiles(lengths, n=20)[-1] <= 40


def test_no_function_is_longer_than_60_lines() -> None:
    long = {
        f"{path}: {node.name}": function_length(node)
        for path in modules(*PACKAGES)
        for node in functions(path)
        if function_length(node) > 60
    }
    assert not long


def test_most_files_are_short_and_none_is_longer_than_500_lines() -> None:
    lines = {str(path): text_of(path).count("\n") for path in modules(*PACKAGES)}
    tests = {str(path): text_of(path).count("\n") for path in modules("tests")}
    assert not {path: count for path, count in (lines | tests).items() if count > 500}
    long = {path: count for path, count in lines.items() if count > 200}
    assert len(long) <= len(lines) / 4, long


def test_every_module_says_what_it_is_and_what_it_must_never_do() -> None:
    silent = []
    for path in modules(*PACKAGES):
        docstring = ast.get_docstring(tree_of(path)) or ""
        if sentences(docstring) < 2 or not re.search(
            r"\b(never|no|not|nothing|nobody)\b", docstring, re.IGNORECASE
        ):
            silent.append(str(path))
    assert not silent


@pytest.mark.parametrize("name", ["PeerManager", "date_utils", "peer_info", "process_frame", "helper"])
def test_a_name_that_says_nothing_is_banned(name: str) -> None:
    assert is_banned(name)


@pytest.mark.parametrize("name", ["data_folder", "informed", "utility_rate", "subprocess", "Process"])
def test_a_name_that_only_looks_like_a_banned_one_is_free(name: str) -> None:
    assert not is_banned(name)


def test_no_name_is_banned() -> None:
    assert not [where for where, name in names_by_place() if is_banned(name) and name not in IMPOSED]


def test_no_file_names_a_machine_or_a_registry() -> None:
    result = {
        str(path): mark
        for path in project_files()
        for mark in FOREIGN
        # The Makefile keeps such options out of the requirement files, and has to name the switches.
        if mark in text_of(path).replace("--no-emit-" + mark.removeprefix("--"), "")
    }
    assert not result


@pytest.mark.parametrize("name", ["run", "build", "dev", "try-model", "try-weights"])
def test_every_requirement_is_pinned_and_hashed_and_names_no_source(name: str) -> None:
    text = text_of(Path("requirements") / f"{name}.txt")
    joined = text.replace("\\\n", " ")
    lines = [line for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    assert lines
    for line in lines:
        name = r"[a-z0-9][a-z0-9._-]*(\[[a-z,]+\])?"
        assert re.match(name + r"==\S+( ;[^#]*?)?\s+--hash=sha256:[0-9a-f]{64}", line), line
    assert "://" not in text
    assert " @ " not in text


@pytest.mark.parametrize("folder", ["bench/peers", "tests/e2e/door/typescript", "tests/e2e/door/inspector"])
def test_every_program_run_beside_ours_is_pinned_and_hashed_and_names_no_source(folder: str) -> None:
    packages = json.loads(text_of(Path(folder) / "package-lock.json"))["packages"]
    del packages[""]
    assert packages
    assert not [
        name
        for name, package in packages.items()
        if "resolved" in package or "sha512-" not in package["integrity"]
    ]


def test_the_requirement_files_agree() -> None:
    pins: dict[str, str] = {}
    for name in ("run", "build", "dev"):
        for package, version in re.findall(
            r"^([\w.-]+)(?:\[[a-z,]+\])?==(\S+)", text_of(Path("requirements") / f"{name}.txt"), re.MULTILINE
        ):
            assert pins.setdefault(package, version) == version, package


def test_every_package_that_another_asks_for_with_extras_is_pinned_with_them() -> None:
    """Otherwise pip refuses the whole installation on the day on which a newer version comes out."""
    text = "".join(text_of(Path("requirements") / f"{name}.txt") for name in ("run", "build", "dev"))
    pins = {
        name: set(extras.split(",")) if extras else set()
        for name, extras in re.findall(r"^([\w.-]+)(?:\[([a-z,]+)\])?==", text, re.MULTILINE)
    }
    needs = [
        need
        for name in pins
        for line in (metadata.requires(name) or [])
        if (need := Requirement(line)).extras and (need.marker is None or need.marker.evaluate({"extra": ""}))
    ]
    assert any(need.name == "coverage" for need in needs)
    assert not [str(need) for need in needs if not need.extras <= pins[need.name.lower()]]


def test_every_ignored_rule_is_explained() -> None:
    table = text_of(Path("pyproject.toml")).split("\nignore = [\n")[1].split("\n]")[0]
    assert not [line for line in table.splitlines() if not re.search(r'",\s+# \S', line)]


def test_every_silenced_rule_names_itself_and_its_reason() -> None:
    silent = [
        f"{path}: {line.strip()}"
        for path in modules(*PACKAGES)
        for line in text_of(path).splitlines()
        if re.search(r"#\s*noqa(?!: [A-Z]+\d+(?:, ?[A-Z]+\d+)* +\S+ \w)", line)
        or re.search(r"#\s*type:\s*ignore(?!\[)", line)
    ]
    assert not silent


def documents() -> list[Path]:
    """Return every document of the project."""
    return [path for path in project_files() if path.suffix == ".md" and path.parts[0] != "tests"]


def exists(name: str, document: Path) -> bool:
    """Say whether a document's path leads to a file or folder of the project."""
    if (ROOT / name).exists() or (ROOT / document.parent / name).exists():
        return True
    return any(str(path).endswith("/" + name) for path in project_files())


def bound_by(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement binds where it stands."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name
    elif isinstance(node, ast.AnnAssign | ast.Assign):
        targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
        yield from (target.id for target in targets if isinstance(target, ast.Name))


@cache
def identifiers() -> frozenset[str]:
    """Return what the code calls things: `function`, `module.function`, `Class.member`."""
    result = set()
    for path in modules(*PACKAGES):
        for node in tree_of(path).body:
            owners = {path.stem: [node], **({node.name: node.body} if isinstance(node, ast.ClassDef) else {})}
            for owner, statements in owners.items():
                names = {name for statement in statements for name in bound_by(statement)}
                result |= {owner, *names} | {f"{owner}.{name}" for name in names}
    return frozenset(result)


def prose_of(document: Path) -> str:
    return re.sub(r"^```.*?^```", "", text_of(document), flags=re.MULTILINE | re.DOTALL)


def test_documents_name_files_that_exist() -> None:
    form = r"`([\w.-]+(?:/[\w.*-]+)*(?:\.(?:py|md|sql|toml|service|txt|json)|/))`"
    assert not [
        f"{document}: {name}"
        for document in documents()
        for name in re.findall(form, prose_of(document))
        if name not in READERS_FILES and "*" not in name and not exists(name, document)
    ]


def test_documents_name_classes_and_functions_that_exist() -> None:
    form = r"`([A-Z]\w*\.(?!md)[a-z_]\w*|[a-z_]\w*(?:\.\w+)*\(\))`"
    assert not [
        f"{document}: {name}"
        for document in documents()
        for name in re.findall(form, prose_of(document))
        if ".".join(name.removesuffix("()").split(".")[-2:]) not in identifiers()
    ]


def test_documents_name_no_line_of_a_file() -> None:
    assert not [
        f"{document}: {line}"
        for document in documents()
        for line in re.findall(r"\w+\.(?:py|sql|md):\d+", text_of(document))
    ]


def test_documents_name_targets_that_make_knows() -> None:
    matches = set(re.findall(r"^([a-z-]+):", text_of(Path("Makefile")), re.MULTILINE))
    for document in documents():
        stated_matches = set(re.findall(r"(?:^|`)make ([a-z-]+)", text_of(document), re.MULTILINE))
        assert stated_matches <= matches, document


def test_a_docstring_names_exceptions_that_exist() -> None:
    """A docstring keeps the old name when an exception is renamed: no other check reads it."""
    texts = {path: text_of(path) for path in modules(*PACKAGES, "tests", "bench")}
    classes = {name for text in texts.values() for name in re.findall(r"^ *class (\w+)", text, re.MULTILINE)}
    removed = []
    for path, text in texts.items():
        # A tree takes a hundred times as long to make as this search.
        if not RAISES.search(text):
            continue
        nodes = list(ast.walk(tree_of(path)))
        imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
        known_names = classes | set(dir(builtins)) | {alias.name for node in imports for alias in node.names}
        for node in nodes:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                names = RAISES.findall(ast.get_docstring(node) or "")
                removed += [f"{path}: {node.name}: {name}" for name in names if name not in known_names]
    assert not removed
