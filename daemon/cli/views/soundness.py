"""What `verify` found in the journal's files, in the language of the person.

Never drops a finding that it does not know: it is told as it came.
"""

from __future__ import annotations

import re
from typing import Final

from daemon.cli.words import named, said_of

_FORMS: Final = named(
    "verify",
    "commits are missing",
    "the commit is of a replica or branch that is not known",
    "the commit cannot be read: {fault}",
    "the bytes are not those that the hash was taken of",
    "the replica is bound to another key than is noted",
    "the signature kept with it does not hold",
    "the branch begins with number {number}, not {first}",
    "the commit that it follows is not held",
    "the commit has number {number}; the one before it, {before}",
    "the commit does not follow commit {number}, the one before it",
    "the commit rests on commit {number} of replica {replica}, which does not come before it",
    "the chain ends nowhere, not at number {tip}: commits are missing",
    "the chain ends at number {number}, not at number {tip}: commits are missing",
    "the chain ends in another commit than is noted",
    "no signature vouches for the end of the chain",
    "what follows was not looked at",
    "the file cannot be read: {fault}",
    "SQLite says: {words}",
    "a row is missing that everything rests on",
    "when it last changed is not what its history says",
    "the state hash is not that of the entities",
    "{count} entities are counted; there are {entities}",
    "a member's device dropped a value that still counts",
    "the index of words is not that of the entities",
    "a row is missing that follows from the log",
    "a row does not follow from the log",
    "what is kept of {columns} is not what the log folds to",
    "everything else",
    "the file",
    "mend this first",
    "look for it on another device, and write it again",
    "keep the file; restore a backup, or join again from another device",
    "the log is whole: 'placet verify --rebuild' makes it right",
)


def finding_retold(sentence: str) -> str:
    """Say a sentence of a finding; what was seen in the file is carried over as it is."""
    for form in _FORMS:
        if found := re.fullmatch(_pattern(form), sentence, re.DOTALL):
            return said_of("verify", form).format(**found.groupdict())
    return sentence


def _pattern(form: str) -> str:
    return re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+)", re.escape(form))
