"""The project's documents, as their tests read them: sections, links, sentences and fenced blocks.

Never changes a document, and never runs what a document shows.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.support.source_tree import ROOT, project_files, text_of

_FENCED = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"")
_ABBREVIATIONS = re.compile(r"\b(e\.g|i\.e|vs|etc|cf)\.")


def documents() -> list[Path]:
    """Return every document of the project, relative to its root."""
    return [
        path for path in project_files() if path.suffix == ".md" and path.parts[0] not in ("tests", "daemon")
    ]


def fenced_blocks(document: Path) -> Iterator[tuple[str, str]]:
    """Yield (language, text) of each fenced block."""
    yield from _FENCED.findall(text_of(document))


def prose_of(document: Path) -> str:
    """Return a document without its fenced and indented blocks and its tables."""
    text = _FENCED.sub("\n", text_of(document))
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("|") and line[:4] != "    "]
    return "\n".join(lines)


def sentences(document: Path) -> list[str]:
    """Return the sentences of a document's prose, each item of a list by itself."""
    result = []
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[*-]|\d+\.) |#)|(?<=:)\n", prose_of(document)):
        plain = " ".join(re.sub(r"^\s*(?:[*#-]+|\d+\.) +", "", paragraph).split())
        plain = re.sub(r"`[^`]*`", "code", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", plain))
        result += re.split(r"(?<=[.?!:;])\s+", _ABBREVIATIONS.sub(r"\1", plain))
    return [sentence for sentence in result if sentence]


def links(document: Path) -> Iterator[tuple[str, str]]:
    """Yield (path, anchor) of each link within the project; the path is relative to its root."""
    for target in re.findall(
        r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"", prose_of(document) + text_of(document)
    ):
        address = "".join(target)
        if re.match(r"[a-z]+:", address):
            continue
        path, _, anchor = address.partition("#")
        place = document if not path else Path((ROOT / document.parent / path).resolve().relative_to(ROOT))
        yield str(place), anchor


def anchors(document: Path) -> set[str]:
    """Return the anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", text_of(document), re.MULTILINE)
    plain = (re.sub(r"[`*]", "", heading).strip().lower() for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}
