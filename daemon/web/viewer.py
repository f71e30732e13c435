"""How a browser is spoken to, for the length of one request: in which language, and in which colours.

Never remembers a browser: it says what it reads with each request, and its colours are in a cookie.
"""

from dataclasses import dataclass
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from daemon.language import LANGUAGES
from daemon.web.frame.rendering import COLOURS
from daemon.words.translation import language_of_process, use_language_here

COLOURS_COOKIE: Final = "placet_colours"
COLOURS_AGE_S: Final = 400 * 86_400
"""As long as browsers keep a cookie at most."""
CHOSEN_COLOURS: Final = ("light", "dark")
_ACCEPTED_CHARS_MAX: Final = 400


@dataclass(slots=True)
class Speech:
    """The language of the page: the one that is set, else that of the browser, else that of the machine.

    `setting` is empty if none is set; a change of it counts from the next request on.
    """

    setting: str = ""

    def language_for(self, accepted: str) -> str:
        """Return the language for a browser; `accepted` is its Accept-Language, the dearest first by `q`."""
        return self.setting or _dearest(accepted[:_ACCEPTED_CHARS_MAX]) or language_of_process()


def viewer_middleware(speech: Speech) -> Middleware:
    """Let words and colours be those of the browser that asks."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        use_language_here(speech.language_for(request.headers.get("Accept-Language", "")))
        colours = request.cookies.get(COLOURS_COOKIE, "")
        COLOURS.set(colours if colours in CHOSEN_COLOURS else "")
        return await handler(request)

    return middleware


def _dearest(accepted: str) -> str:
    """Return the language that a browser likes best of those that the page speaks; empty for none."""
    weighed = [_weigh_language(part) for part in accepted.split(",")]
    spoken = [(weight, language) for language, weight in weighed if weight > 0 and language in LANGUAGES]
    # Of equals the first: `max` keeps it.
    return max(spoken, key=lambda pair: pair[0], default=(0.0, ""))[1]


def _weigh_language(part: str) -> tuple[str, float]:
    tag, _semicolon, parameter = part.partition(";")
    language = tag.strip().partition("-")[0].lower()
    name, _sign, weight = parameter.strip().partition("=")
    if name.strip() != "q":
        return language, 1.0
    try:
        return language, float(weight)
    except ValueError:
        return language, 0.0
