"""The table of each language, read from its file in `words/` once.

Nothing is read at import; whoever starts a model decides when the files are read.
"""

from collections.abc import Mapping
from functools import cache
from importlib import resources

from msgspec import toml

from daemon.agents.models.rules.lexicon.cue_table import CueTable, decode_words
from daemon.language import LANGUAGES


@cache
def cue_tables() -> Mapping[str, CueTable]:
    """Return the tables by language. The order is that of `daemon.language.LANGUAGES`."""
    return {language: _read(language) for language in LANGUAGES}


def _read(language: str) -> CueTable:
    file = resources.files("daemon.agents.models.rules.lexicon") / "words" / f"{language}.toml"
    return toml.decode(file.read_bytes(), type=CueTable, dec_hook=decode_words)
