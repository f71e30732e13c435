"""Pictures of every state of the page, for a person to look at: `make look`.

Never judges them, and never writes into the documents: `make pictures` does.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser

from tests.e2e.page.states.new_journal import new_world, states_of_new_journal
from tests.e2e.page.states.state import State, World, looks
from tests.e2e.page.states.used_journal import USED_STATES, used_world
from tests.support.browser import browser


def take(chromium: Browser, world: World, states: list[State], folder: Path) -> int:
    """Write a picture of each state at each width in both themes; return how many."""
    count = 0
    for look in looks(chromium, world, states):
        path = folder / f"{look.state.name}-{look.width}-{look.theme}.png"
        # The whole page, unless something lies over it, which would be in the middle of nowhere.
        is_whole = not look.page.query_selector("dialog[open]")
        look.page.screenshot(path=path, animations="disabled", full_page=is_whole)
        count += 1
    return count


def main() -> int:
    """Take the pictures of the states that are named, or of all."""
    parser = argparse.ArgumentParser(description="Pictures of every state of the page.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--language", default="en", help="of the page: en, de, es, fr or ro")
    parser.add_argument("--only", default="", help="beginning of the names of the states")
    wanted = parser.parse_args()
    wanted.folder.mkdir(parents=True, exist_ok=True)
    settings = {"PLACET_LANGUAGE": wanted.language}
    count = 0
    with tempfile.TemporaryDirectory() as temporary, browser() as chromium:
        for number, (world_of, table) in enumerate(
            ((new_world, states_of_new_journal), (used_world, lambda _: USED_STATES))
        ):
            folder = Path(temporary) / str(number)
            folder.mkdir()
            states = [state for state in table(folder) if state.name.startswith(wanted.only)]
            if states:
                with world_of(folder, **settings) as world:
                    count += take(chromium, world, states, wanted.folder)
    print(f"{count} pictures in {wanted.folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
