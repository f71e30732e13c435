"""What answers call the program that made them: versions of libraries would tell strangers what to try.

Never more than a name.
"""

from typing import Final

from aiohttp import web_response

SOFTWARE_NAME: Final = "Placet"


def hide_versions() -> None:
    """Let every server of this process call itself by its name alone, also for requests that are not HTTP."""
    setattr(web_response, "SERVER_SOFTWARE", SOFTWARE_NAME)  # noqa: B010 - the library exports no such setting
