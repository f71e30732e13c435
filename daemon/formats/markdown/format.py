"""What is done with Markdown lists.

Never imported before a file is read or written: the parser is large.
"""

from typing import Final

from daemon.formats.core.format import Format
from daemon.formats.markdown.reader import parse
from daemon.formats.markdown.writer import reread, write

FORMAT: Final = Format(parse=parse, write=write, reread=reread)
