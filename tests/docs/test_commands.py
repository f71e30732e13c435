"""Every command in a fenced block of the documents runs as it is written there.

Never lets a command stand that fails: a document that shows it is wrong.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.documents import documents
from tests.docs.story import TODO_MD, TODO_TXT, Story, has_commands, lines_of

pytestmark = pytest.mark.e2e


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Story]:
    (tmp_path / "todo.md").write_text(TODO_MD)
    (tmp_path / "todo.txt").write_text(TODO_TXT)
    reported_story = Story(tmp_path)
    yield reported_story
    reported_story.end()


@pytest.mark.slow
@pytest.mark.parametrize("document", [path for path in documents() if has_commands(path)], ids=str)
def test_every_command_of_a_document_does_what_it_says(document: Path, story: Story) -> None:
    for device, line in lines_of(document):
        story.tell(device, line)
