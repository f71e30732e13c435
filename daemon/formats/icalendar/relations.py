"""How to-dos are related: the words of the file, and the links that they are here.

Never says which to-dos there are.
"""

from typing import Final

from daemon.formats.icalendar.content_lines import Property

PARENT, CHILD, DEPENDS = "PARENT", "CHILD", "DEPENDS-ON"
RELATIONS: Final = {
    "SIBLING": "basic",
    "X-PLACET-FOLLOWS-UP": "follows_up",
    "X-PLACET-DUPLICATES": "duplicates",
    "X-PLACET-FIXES": "fixes",
}


def relation_of(property_: Property) -> str:
    """Return the relation that a property names."""
    return property_.params.get("RELTYPE", PARENT).upper()


def relation_ends(key: str, other: str, relation: str) -> tuple[str, str, str, str] | None:
    """Return both ends of a relation, its name in the link's key, and its type here."""
    if relation == PARENT:
        return key, other, PARENT, "basic"
    if relation == DEPENDS:
        return other, key, DEPENDS, "blocks"
    return (key, other, relation, RELATIONS[relation]) if relation in RELATIONS else None


def link_key_in_file(start: str, end: str, kind: str) -> str:
    """Return the key of a link."""
    return f"{start}/related/{kind}/{end}"
