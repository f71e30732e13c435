"""Compiles the translations of the command line, from `.po` to the `.mo` that gettext reads.

The build of a wheel runs it, and `make` before anything else. It never needs more than the standard library.
"""

import ast
import os
import struct
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # Outside of a build, the compiler is all that is wanted.
    BuildHookInterface = object

_FOLDER: Final = "daemon/locale"
_FILE: Final = "LC_MESSAGES/placet.mo"
_SOURCE_LANGUAGE: Final = "en"
_ID_CONTEXT: Final = "id:"
"""How the context of a message begins whose id travels in the daemon's answers."""
_LOOK_UP_CONTEXT: Final = "sentence"
"""The context under which a client looks up a template, by its id."""
_CONTEXT_END: Final = "\x04"
_MAGIC: Final = 0x950412DE
_HEADER_BYTES: Final = 28
_ENGLISH_HEADER: Final = "Content-Type: text/plain; charset=utf-8\n"

Catalog = dict[str, str]
"""Translations by the keys of a compiled catalog: `context EOT id NUL plural`."""


def entries(text: str) -> Iterator[Mapping[str, str]]:
    """Yield the entries of a `.po` file, each as a mapping of its keywords to their texts.

    Fuzzy entries are guesses and are left out. The header stays although Babel marks it as fuzzy: it contains
    the charset and the rule for plural forms.
    """
    fields: dict[str, str] = {}
    keyword, is_fuzzy = "", False
    for line in [*text.split("\n"), ""]:
        if line.startswith("#"):
            is_fuzzy = is_fuzzy or (line.startswith("#,") and "fuzzy" in line)
        elif not line:
            if fields and not (is_fuzzy and fields["msgid"]):
                yield fields
            fields, is_fuzzy = {}, False
        elif line.startswith('"'):
            fields[keyword] += ast.literal_eval(line)
        else:
            keyword, _, value = line.partition(" ")
            fields[keyword] = ast.literal_eval(value)


def translations(text: str) -> Catalog:
    """Return the translations of a `.po` file; the sentences of the daemon's answers also by their ids."""
    catalog: Catalog = {}
    for entry in entries(text):
        forms = _forms(entry)
        if not all(forms):
            continue
        context, message = entry.get("msgctxt"), entry["msgid"]
        if context is not None and context.startswith(_ID_CONTEXT):
            catalog[_id_key(context)] = forms[0]
            continue
        plural = "\0" + entry["msgid_plural"] if "msgid_plural" in entry else ""
        catalog[("" if context is None else context + _CONTEXT_END) + message + plural] = "\0".join(forms)
    return catalog


def english_templates(text: str) -> Catalog:
    """Return the English template of each sentence id: every `.po` file contains them as messages."""
    templates = {
        _id_key(entry["msgctxt"]): entry["msgid"]
        for entry in entries(text)
        if entry.get("msgctxt", "").startswith(_ID_CONTEXT)
    }
    return {"": _ENGLISH_HEADER, **templates}


def _id_key(context: str) -> str:
    return _LOOK_UP_CONTEXT + _CONTEXT_END + context.removeprefix(_ID_CONTEXT)


def _forms(entry: Mapping[str, str]) -> list[str]:
    if "msgid_plural" not in entry:
        return [entry["msgstr"]]
    count = sum(keyword.startswith("msgstr[") for keyword in entry)
    return [entry[f"msgstr[{number}]"] for number in range(count)]


def mo_bytes(catalog: Catalog) -> bytes:
    """Write a catalog without a hash table, by "The Format of GNU MO Files" in the GNU gettext manual."""
    pairs = sorted((key.encode(), text.encode()) for key, text in catalog.items())
    count = len(pairs)
    texts_start = _HEADER_BYTES + 16 * count
    header = struct.pack("<7I", _MAGIC, 0, count, _HEADER_BYTES, _HEADER_BYTES + 8 * count, 0, texts_start)
    tables, body = b"", b""
    for column in zip(*pairs, strict=True):
        for text in column:
            tables += struct.pack("<2I", len(text), texts_start + len(body))
            body += text + b"\0"
    return header + tables + body


def compile_all(root: Path) -> None:
    """Compile every catalog below a root of the project, each beside its `.po` file."""
    files = sorted((root / _FOLDER).glob("*/LC_MESSAGES/placet.po"))
    for file in files:
        _write(file.with_suffix(".mo"), mo_bytes(translations(file.read_text(encoding="utf-8"))))
    if files:
        english = english_templates(files[0].read_text(encoding="utf-8"))
        _write(root / _FOLDER / _SOURCE_LANGUAGE / _FILE, mo_bytes(english))


def is_compiled(root: Path) -> bool:
    """Report whether every compiled catalog is newer than what it is made of."""
    sources = [*(root / _FOLDER).glob("*/LC_MESSAGES/placet.po"), Path(__file__)]
    made = [file.with_suffix(".mo") for file in sources[:-1]] + [root / _FOLDER / _SOURCE_LANGUAGE / _FILE]
    newest = max(file.stat().st_mtime_ns for file in sources)
    return all(file.exists() and file.stat().st_mtime_ns >= newest for file in made)


def _write(file: Path, content: bytes) -> None:
    """Replace a file at once: a command that runs meanwhile reads the old catalog or the new one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_name(f"{file.name}.{os.getpid()}")
    unfinished.write_bytes(content)
    unfinished.replace(file)


class CatalogHook(BuildHookInterface):  # type: ignore[misc,type-arg,unused-ignore]
    """Compiles the catalogs when a wheel is built and when the tree is installed as editable."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 - hatchling's interface
        compile_all(Path(self.root))


if __name__ == "__main__":
    compile_all(Path(__file__).resolve().parent)
    sys.exit(0)
