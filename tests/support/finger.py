"""A finger on the screen of a phone: it taps, swipes and holds, and never is a mouse.

Never waits for what comes of it: the test knows what that is.
"""

import time
from typing import Any, Final

from playwright.sync_api import Locator, Page

PHONE: Final[dict[str, Any]] = {
    "viewport": {"width": 360, "height": 780},
    "device_scale_factor": 2,
    "has_touch": True,
    "is_mobile": True,
}
"""How a browser context of a phone is made."""
_MOVES: Final = 8
_REST_S: Final = 0.6


class Finger:
    """The one finger on a page; the page's context has a touch screen."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._wire = page.context.new_cdp_session(page)

    def tap(self, selector: str) -> None:
        """Bring something into sight and tap on it, once nothing covers it."""
        self._page.tap(selector)

    def swipe(self, item: Locator, start: float, part: float) -> None:
        """Move over an item by a part of its width; it starts at another part, from the left."""
        item.scroll_into_view_if_needed()
        box = item.bounding_box()
        assert box
        x, y = box["x"] + box["width"] * start, box["y"] + min(20, box["height"] / 2)
        self._send("touchStart", x, y)
        for move in range(1, _MOVES + 1):
            self._send("touchMove", x + box["width"] * part * move / _MOVES, y)
        # It comes to rest: after a fling, a browser takes the next tap for what ends it.
        now_s = time.time()  # noqa: TID251 - that of the browser, which is real
        self._send("touchMove", x + box["width"] * part, y + 1, timestamp=now_s + _REST_S / 2)
        self._send("touchEnd", timestamp=now_s + _REST_S)

    def hold(self, button: Locator, sign: str) -> None:
        """Hold a button down until there is a sign of it, then let go."""
        button.scroll_into_view_if_needed()
        box = button.bounding_box()
        assert box
        self._send("touchStart", box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self._page.wait_for_selector(sign)
        self._send("touchEnd")

    def _send(self, kind: str, *point: float, **when: float) -> None:
        points = [{"x": point[0], "y": point[1]}] if point else []
        self._wire.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points, **when})
