"""The pictures of the page: each is there, and the documents show it.

Never compares what is in them: fonts and days differ, and somebody looks at each before a release.
"""

import struct
from pathlib import Path

import pytest

from tests.docs import pages
from tests.docs.documents import links

BYTES_MAX = 250_000


def displayed_in(document: str) -> set[str]:
    """Return the names of the pictures of the page that a document shows."""
    paths = {Path(path) for path, _ in links(Path(document))}
    return {path.stem for path in paths if path.suffix == ".png"}


@pytest.mark.parametrize("name", pages.NAMES)
def test_each_picture_is_there_and_light(name: str) -> None:
    picture = (pages.FOLDER / f"{name}.png").read_bytes()
    width, height = struct.unpack(">II", picture[16:24])
    assert width in {pages.WIDE * pages.SCALE, pages.PHONE * pages.SCALE}
    assert height > width / 3
    assert len(picture) < BYTES_MAX


def test_the_guide_shows_all_of_them_and_the_readme_two() -> None:
    assert displayed_in("docs/guide/page.md") == set(pages.NAMES)
    assert displayed_in("README.md") == {"today", "permissions"}


def test_no_other_picture_lies_about() -> None:
    files = {path.name for path in pages.FOLDER.iterdir()}
    assert files == {"demo.svg"} | {f"{name}.png" for name in pages.NAMES}
