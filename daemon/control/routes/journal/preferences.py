"""The routes of preferences: the lines that agents read beside each task.

Never decides anything: each line names a use case.
"""

from msgspec import Struct

from daemon.control.route import CREATED, Route
from daemon.control.use_case_routes import read_query, write_body, write_ref, write_ref_body
from daemon.journal import preferences
from daemon.journal.preferences import NewPreference, Preference, PreferenceEdit
from store.snapshot import Snapshot


class PreferenceQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """All of them."""


def routes() -> list[Route]:
    """Return the part of the table on preferences."""
    text, line, add = "/v1/preferences", "/v1/preferences/{ref}", preferences.add
    return [
        write_body("POST", text, "Add a preference", add, Preference, NewPreference, status=CREATED),
        read_query(text, "List preferences", _list_preferences, list[Preference], PreferenceQuery),
        write_ref_body("PATCH", line, "Change a preference", preferences.edit, Preference, PreferenceEdit),
        write_ref("DELETE", line, "Remove a preference", preferences.remove, Preference),
        write_ref("POST", f"{line}/restore", "Bring a preference back", preferences.restore, Preference),
    ]


def _list_preferences(snapshot: Snapshot, query: PreferenceQuery) -> list[Preference]:
    del query
    return preferences.list_preferences(snapshot)
