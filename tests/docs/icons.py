"""The icons of the page as an application: drawn by a browser from one SVG, with `make icons`.

Never run by a test: the pictures are in the source, and a test looks that they are what the manifest says.
"""

import struct
import sys
import zlib
from typing import Final

from playwright.sync_api import Browser

from daemon.web.frame.rendering import WEB_FOLDER
from daemon.web.install.install_routes import ICONS
from tests.support.browser import browser

FOLDER: Final = WEB_FOLDER / "install"
_SAFE: Final = 'transform="translate(3.2 3.2) scale(.6)"'
"""A launcher may cut a maskable icon to the circle in its middle: what is drawn stays within."""


def drawing(purpose: str) -> str:
    """Return the SVG of an icon; one that is maskable fills its square."""
    text = (FOLDER / "icon.svg").read_text("utf-8")
    return text if purpose == "any" else text.replace(' rx="4"', "").replace("<path ", f"<path {_SAFE} ")


def draw(chromium: Browser) -> None:
    """Write each icon."""
    for name, size, purpose in ICONS:
        page = chromium.new_page(viewport={"width": size, "height": size})
        page.set_content(f"<style>body {{ margin: 0 }} svg {{ display: block }}</style>{drawing(purpose)}")
        (FOLDER / name).write_bytes(_packed(page.screenshot(omit_background=True)))
        page.close()


def _packed(png: bytes) -> bytes:
    """Return a PNG as small as zlib makes it: a browser takes pictures in a hurry."""
    chunks, position = [], 8
    while position < len(png):
        (size,) = struct.unpack_from(">I", png, position)
        chunks.append((png[position + 4 : position + 8], png[position + 8 : position + 8 + size]))
        position += size + 12
    lines = zlib.decompress(b"".join(content for kind, content in chunks if kind == b"IDAT"))
    wanted = [(b"IHDR", dict(chunks)[b"IHDR"]), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")]
    return png[:8] + b"".join(
        struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in wanted
    )


def main() -> int:
    """Draw them all."""
    with browser() as chromium:
        draw(chromium)
    return 0


if __name__ == "__main__":
    sys.exit(main())
