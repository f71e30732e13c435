"""A QR code as one path of an SVG image, drawn by the library that the command line uses.

Never puts the text itself anywhere but into the code.
"""

from dataclasses import dataclass
from typing import Final

QUIET: Final = 4
"""The light modules around a code that readers need."""


@dataclass(frozen=True, slots=True)
class QrCode:
    """A square of `size` modules, with its quiet zone, and the path that fills the dark ones."""

    size: int
    path: str


def qr_code(text: str) -> QrCode:
    """Draw a text. Raises ValueError if no QR code holds it."""
    import segno  # imported here: only a token is drawn

    code = segno.make(text, error="l", micro=False)
    rows = [list(row) for row in code.matrix_iter(border=QUIET)]
    path = "".join(
        f"M{x} {y}h1v1h-1z" for y, row in enumerate(rows) for x, module in enumerate(row) if module & 1
    )
    return QrCode(len(rows), path)
