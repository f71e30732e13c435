"""A format that no version has: its row, and what its folder would declare.

A plugin of pytest, which loads it before anything reads the rows. Never helps a face: what the row does not
bring there has been forgotten.
"""

import sys
from datetime import tzinfo
from types import ModuleType
from typing import Any, Final

from daemon import file_formats
from daemon.file_formats import FileFormat

ROW: Final = FileFormat("made_up", "Made Up", (".made",))


def _put(module: Any, name: str, value: object) -> None:
    setattr(module, name, value)


_put(file_formats, "FILE_FORMATS", (*file_formats.FILE_FORMATS, ROW))

from daemon.formats.core.format import Format  # noqa: E402 - the core reads the rows
from daemon.formats.core.plan import Plan, PlannedTask  # noqa: E402 - so does this


def _parse(name: str, text: str, zone: tzinfo, now_ms: int | None) -> Plan:
    del zone, now_ms
    lines = enumerate(text.splitlines(), 1)
    return Plan(ROW.name, tuple(PlannedTask(f"{name}/{number}", number, line) for number, line in lines))


_folder = ModuleType(f"daemon.formats.{ROW.name}.format")
_put(_folder, "FORMAT", Format(parse=_parse, write=lambda _snapshot, _zone: iter(("made up\n",))))
sys.modules[_folder.__name__] = _folder
