"""What is done with todo.txt files.

Never imported before a file is read or written: the parser is large.
"""

from typing import Final

from daemon.formats.core.format import Format
from daemon.formats.todotxt.reader import parse
from daemon.formats.todotxt.writer import reread, write

FORMAT: Final = Format(parse=parse, write=write, reread=reread)
