"""What the text of a file is by its bytes.

Never asks what the commands and the page say of it: their tests do.
"""

import pytest

from daemon import text_files


def test_a_byte_order_mark_is_no_part_of_the_text():
    assert text_files.decode_utf8("\ufeffcafé".encode()) == "café"


def test_the_line_that_is_no_text_is_named():
    with pytest.raises(text_files.NotUtf8) as fault:
        text_files.decode_utf8(b"one\ntwo\ncaf\xe9\n")
    assert fault.value.line == 3
