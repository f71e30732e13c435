"""What is done with Taskwarrior's JSON export.

Never imported before a file is read or written: the parser is large.
"""

from typing import Final

from daemon.formats.core.format import Format
from daemon.formats.taskwarrior.reader import parse
from daemon.formats.taskwarrior.writer import write

FORMAT: Final = Format(parse=parse, write=write, write_part=write)
