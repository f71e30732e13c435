"""What a place that keeps blobs has to do: put, list, get and delete them, in no particular order.

Never knows what a blob is.
"""

from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from store.sentence import Sentence, sentence

LISTED_MAX = 100_000
"""How many blobs of one vault are looked at: what is beyond waits until others are gone."""


class CarrierFault(Exception):
    """The place cannot be used now; the sentence says what was seen."""

    def __init__(self, message: Sentence) -> None:
        super().__init__(message.text)
        self.sentence = message

    @property
    def is_full(self) -> bool:
        """Return whether the place can be read, and has no room."""
        return self.sentence.id == "relay-full"


def full_sentence(place: str) -> Sentence:
    """Return what is said of a place without room."""
    return sentence(
        "relay-full", "{place} is full: nothing more can be left there until it has room", place=place
    )


def look_too_long_sentence(most_s: float) -> Sentence:
    """Return what is said of a look that its time limit ended."""
    return sentence(
        "mailbox-look-too-long",
        "a look did not end within {minutes} minutes; what it has read is kept",
        minutes=round(most_s / 60),
    )


class BadPlace(ValueError):
    """A text that is no place of a mailbox; `sentence` says what was seen."""

    def __init__(self, message: Sentence) -> None:
        super().__init__(message.text)
        self.sentence = message


def given_path(text: str) -> Path:
    """Read the path of a file or folder that somebody gave. Raises BadPlace for one that no file can have.

    It is absolute: the folder in which the daemon runs is not that of whoever asks.
    """
    if not text.startswith("/") or "\0" in text:
        raise BadPlace(
            sentence(
                "path-malformed",
                "{path!r} is no path of a file or folder: such a path begins with a / and has no NUL",
                path=text[:80],
            )
        )
    return Path(text)


class ListedBlob(NamedTuple):
    """A blob as its place lists it. If its `mark` is the same as before, so is its content, most likely."""

    name: str
    size: int
    mark: str


class Carrier(Protocol):
    """A place that keeps blobs of one vault under names of one or two parts. All raise CarrierFault."""

    async def put(self, name: str, content: bytes) -> None:
        """Keep a blob under a name, in place of an earlier one."""

    async def list_blobs(self, first: Collection[str] = ()) -> list[ListedBlob]:
        """Return the blobs that are there, in no order, at most LISTED_MAX.

        A place that anybody can fill must not leave out those whose names begin with one of `first`, tags in
        small letters, for the sake of others, nor those of one tag for the sake of another one.
        """

    async def get(self, name: str, bytes_max: int) -> bytes | None:
        """Return a blob, None if it is gone; of a longer one, a byte more than `bytes_max`."""

    async def delete(self, name: str) -> None:
        """Delete a blob, if it is there."""


@runtime_checkable
class RingingCarrier(Carrier, Protocol):
    """A carrier that holds a connection, and says when something came."""

    async def wait_for_news(self) -> bool:
        """Wait until another device may have put something; False if nothing came for a while."""

    async def close(self) -> None:
        """Close the connection."""
