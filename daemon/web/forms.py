"""Reading the forms that the page sends.

Never answers a body that the page does not send with more than a refusal, and never logs one.
"""

from typing import Final
from urllib.parse import parse_qsl

from aiohttp import web
from multidict import MultiDict, MultiDictProxy

FORM_BYTES_MAX: Final = 1 << 20
FIELDS_MAX: Final = 6000
FORM_MEDIA: Final = "application/x-www-form-urlencoded"


async def read_form(request: web.Request) -> MultiDictProxy[str]:
    """Return the fields of a form.

    A body that no form of the page sends is refused with status 400, one of more than FORM_BYTES_MAX bytes
    with 413.
    """
    if request.content_type != FORM_MEDIA:
        raise web.HTTPBadRequest(
            text=f"a body of type {request.content_type!r}: this page sends {FORM_MEDIA}\n"
        )
    raw = await request.read()
    try:
        fields = parse_qsl(
            raw.decode(), keep_blank_values=True, encoding="utf-8", errors="strict", max_num_fields=FIELDS_MAX
        )
    except ValueError:
        # It is not UTF-8, or there are more fields than any card has.
        raise refuse_form() from None
    return MultiDictProxy(MultiDict(fields))


def refuse_form() -> web.HTTPBadRequest:
    """Return the refusal of a form whose fields mean nothing here."""
    return web.HTTPBadRequest(text="a form that this page does not send\n")
