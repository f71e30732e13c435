"""The routes of links between tasks, and of all relations of an entity.

Never decides anything: each line names a use case.
"""

from msgspec import Struct

from daemon.control.route import CREATED, Route
from daemon.control.use_case_routes import read_query, read_ref, write_ref, write_ref_body
from daemon.journal import links, relations
from daemon.journal.links import NewLink
from daemon.journal.relations import Relation
from daemon.journal.views.structures import Link
from store.snapshot import Snapshot


class RelationQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Whose relations: a task by id or title, anything else by its id."""

    entity: str


def routes() -> list[Route]:
    """Return the part of the table on links."""
    link = "/v1/links/{ref}"
    of_task, remove = "/v1/tasks/{ref}/links", "/v1/tasks/{ref}/links/remove"
    return [
        write_ref_body("POST", of_task, "Link a task to another", links.add, Link, NewLink, status=CREATED),
        write_ref_body("POST", remove, "Take away what is said", links.remove_matching, Link, NewLink),
        read_ref(of_task, "List the links of a task", links.list_links, list[Link]),
        write_ref("DELETE", link, "Take a link out of sight", links.remove, Link),
        write_ref("POST", f"{link}/restore", "Bring a link back", links.restore, Link),
        read_query("/v1/relations", "List relations", _list_relations, list[Relation], RelationQuery),
    ]


def _list_relations(snapshot: Snapshot, query: RelationQuery) -> list[Relation]:
    return relations.list_relations(snapshot, query.entity)
