"""The routes of links between tasks, and of all relations of an entity.

Never decides anything: each line names a use case.
"""

from msgspec import Struct

from daemon.control.routes import Call, Nothing, Reads, Route, Writes
from daemon.journal import links, related
from daemon.journal.links import NewLink
from daemon.journal.related import Relation
from daemon.journal.views import Link
from store.snapshot import Snapshot
from store.transaction import Transaction

CREATED = 201


class RelationQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Whose relations: a task by id or title, anything else by its id."""

    entity: str


def routes() -> list[Route]:
    """Return the part of the table that is about links."""
    of_task, relations = "/v1/tasks/{ref}/links", "/v1/relations"
    return [
        Route("POST", of_task, "Link a task to another", Writes(_add), Link, NewLink, status=CREATED),
        Route("POST", f"{of_task}/remove", "Take away what is said", Writes(_unlink), Link, NewLink),
        Route("GET", of_task, "List the links of a task", Reads(_list), list[Link]),
        Route("DELETE", "/v1/links/{ref}", "Take a link out of sight", Writes(_remove), Link),
        Route("GET", relations, "List relations", Reads(_related), list[Relation], query=RelationQuery),
    ]


def _add(tx: Transaction, call: Call[NewLink, Nothing]) -> Link:
    return links.add(tx, call.ref, call.body)


def _list(snapshot: Snapshot, call: Call[Nothing, Nothing]) -> list[Link]:
    return links.listed(snapshot, call.ref)


def _unlink(tx: Transaction, call: Call[NewLink, Nothing]) -> Link:
    return links.unlink(tx, call.ref, call.body)


def _remove(tx: Transaction, call: Call[Nothing, Nothing]) -> Link:
    return links.remove(tx, call.ref)


def _related(snapshot: Snapshot, call: Call[Nothing, RelationQuery]) -> list[Relation]:
    return related.relations(snapshot, call.query.entity)
