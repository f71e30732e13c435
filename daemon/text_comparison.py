"""When two texts that people typed count as the same: names, titles, addresses.

Never changes a text that is stored.
"""

import unicodedata


def comparison_key(text: str) -> str:
    """Return text as it is compared with other text: composed, without case, trimmed."""
    return unicodedata.normalize("NFC", text).strip().casefold()
