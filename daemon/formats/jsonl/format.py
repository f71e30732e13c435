"""What is done with Placet's own JSON lines.

Never says how they are imported: a route of their own does that, line by line.
"""

from typing import Final

from daemon.formats.core.format import Format
from daemon.formats.jsonl.writer import write

FORMAT: Final = Format(write=write)
