"""Nothing in the tree refers to a document that is not in it, in code as little as in documents.

Never looks at what a document says; `tests/docs/test_documents.py` follows links.
"""

import re
from pathlib import Path

from tests.support.source_tree import project_files, text_of

_NAMED = re.compile(r"(?<![\w/.~$*}-])((?:[\w-]+/)*[\w-]+\.md)\b")
_CHAPTERED = re.compile(r"\b([A-Z][A-Z_]+\.md)\b")
READERS = {"todo.md", "TODO.md", "list.md"}
"""Files that a reader has, or that an example writes."""
_CODE = {".py", ".toml", ".service", ".sql", ".yaml", ".yml", ".sh", ""}


def citations(path: Path) -> set[str]:
    """Return the documents that a file names: any path in code's prose, capitals everywhere."""
    text = text_of(path)
    if path.suffix == ".md":
        return set(_CHAPTERED.findall(text))
    return set(_NAMED.findall(text)) if path.parts[0] != "tests" else set(_CHAPTERED.findall(text))


def test_every_document_that_is_named_is_in_the_tree() -> None:
    documents = {str(path) for path in project_files() if path.suffix == ".md"}
    names = {Path(path).name for path in documents}
    texts = {
        f"{path}: {cited}"
        for path in project_files()
        if path.suffix in _CODE | {".md"}
        for cited in citations(path)
        if cited not in documents and cited not in READERS and ("/" in cited or cited not in names)
    }
    assert not texts


def test_the_rules_of_agents_have_a_place() -> None:
    assert Path("docs/agents.md") in project_files()
