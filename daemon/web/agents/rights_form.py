"""What a person lets an agent do, as a form: tools, what verdicts need, and categories.

Never writes what the person did not change: a setting that came from another device meanwhile stays.
"""

from dataclasses import dataclass
from typing import Final

from multidict import MultiDictProxy

from daemon.agents.person import policy_edits, presence_edits
from daemon.agents.person.policy_edits import DEFAULT, policy_choices
from daemon.agents.tools.actions import ALL_TOOLS
from daemon.agents.tools.presence import PRESENCES
from daemon.web.forms import refuse_form
from daemon.words import terms
from daemon.words.tool_names import tool_words
from daemon.words.translation import _
from store.transaction import Transaction
from syncproto.ids import EntityId

SHOWN: Final = "shown-"
"""Before the name of a field: what the page showed in it."""
NEW_ACTION: Final = "action"
"""The field with the name of an action for which nothing was set so far."""
_POLICY: Final = "policy/"
_PRESENCE: Final = "presence/"
_CATEGORY: Final = "category/"
_YES: Final = "yes"


@dataclass(frozen=True, slots=True)
class Choice:
    """A field of which one value is chosen: `options` are pairs of a value and its words."""

    field: str
    label: str
    chosen: str
    options: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ToolRow:
    """A tool or an action, with what becomes of its calls, and what verdicts on them need."""

    name: str
    policy: Choice
    presence: Choice


@dataclass(frozen=True, slots=True)
class Rights:
    """What an agent may do. `categories` are triples of a field, a name, and whether it is allowed.

    `new_action` is for an action that a person names, and has no name. None if no action can be named.
    """

    presence: Choice
    tools: list[ToolRow]
    categories: list[tuple[str, str, bool]]
    new_action: ToolRow | None


def rights_of(
    policy: dict[str, str],
    presence: dict[str, str],
    allowed: list[str],
    categories: dict[str, str],
    *,
    names_actions: bool = False,
) -> Rights:
    """Return the fields of the form, as an agent's settings are; `categories` are all, by id.

    With `names_actions` a person can name an action that the agent asks permission for.
    """
    return Rights(
        presence=Choice(
            f"{_PRESENCE}{ALL_TOOLS}",
            _("Verdicts need"),
            presence.get(ALL_TOOLS, PRESENCES[0]),
            [(value, terms.presence_name(value)) for value in PRESENCES],
        ),
        tools=[_tool_row(name, policy, presence) for name in policy],
        categories=[
            (f"{_CATEGORY}{category}", name, name in allowed) for category, name in categories.items()
        ],
        new_action=_tool_row("", {"": policy_choices("")[0]}, {}) if names_actions else None,
    )


def _tool_row(tool: str, policy: dict[str, str], presence: dict[str, str]) -> ToolRow:
    rulings = [(value, terms.policy_name(value)) for value in policy_choices(tool)]
    needs = [(DEFAULT, _("as for all")), *((value, terms.presence_name(value)) for value in PRESENCES)]
    words = tool_words(tool)
    return ToolRow(
        name=words[:1].upper() + words[1:] if words != tool else tool,
        policy=Choice(
            f"{_POLICY}{tool}",
            _("{tool}: what becomes of it").format(tool=words),
            policy.get(tool, ""),
            rulings,
        ),
        presence=Choice(
            f"{_PRESENCE}{tool}",
            _("{tool}: what your verdict needs").format(tool=words),
            presence.get(tool, DEFAULT),
            needs,
        ),
    )


def change_rights(
    tx: Transaction, agent: EntityId, form: MultiDictProxy[str], *, has_other_devices: bool
) -> None:
    """Write what differs from what the page showed. Raises Refused as the use cases do."""
    allow: list[str] = []
    disallow: list[str] = []
    for shown, before in form.items():
        field = shown.removeprefix(SHOWN)
        now = form.get(field, "")
        if field == shown or now == before:
            continue
        name = field.partition("/")[2] or form.get(NEW_ACTION, "")
        if field.startswith(_POLICY):
            policy_edits.set_tool_policy(tx, agent, name, now)
        elif field.startswith(_PRESENCE):
            presence_edits.set_presence(tx, agent, name, now, has_other_devices=has_other_devices)
        elif field.startswith(_CATEGORY):
            (allow if now == _YES else disallow).append(name)
        else:
            raise refuse_form()
    policy_edits.edit_allowed_categories(tx, agent, allow=allow, disallow=disallow)
