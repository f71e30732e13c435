"""Arguments in what a model wrote: found wherever models write them, in time that grows with the text alone.

Never repairs what is no object.
"""

from collections.abc import Callable
from contextlib import suppress

import pytest

from daemon.agents.tools.argument_recovery import TEXT_CHARS_MAX, recover_arguments
from daemon.agents.tools.arguments import ArgumentFault
from tests.support.growth import GROWTH, assert_linear

OBJECT = '{"title": "Passport"}'
HOSTILE = ("```", "```json", "``` ", "{", '{"', "``````", "```{")
FILLINGS = (" ", "\n", "\t \n", "`", "``` ", "{", '"', "\\", "x")


@pytest.mark.parametrize(
    "text",
    [
        OBJECT,
        f"```{OBJECT}```",
        f"```json\n{OBJECT}\n```",
        f"```JSON   {OBJECT}```",
        f"Here you are:\n```\n\n{OBJECT}\n```\nand ```more```",
        f"```python\n{OBJECT}\n```",
        f"I call it with {OBJECT}, as asked.",
        f"``` {OBJECT}",
    ],
)
def test_an_object_is_found_wherever_models_write_it(text: str):
    assert recover_arguments(text) == {"title": "Passport"}


@pytest.mark.parametrize("text", ["", "```", "```json```", "``````", "no object", "```json\n[1]\n```"])
def test_a_text_without_an_object_is_refused(text: str):
    with pytest.raises(ArgumentFault):
        recover_arguments(text)


@pytest.mark.parametrize("filling", FILLINGS)
@pytest.mark.parametrize("begin", HOSTILE)
def test_a_text_of_any_form_is_searched_in_time_linear_in_its_length(begin: str, filling: str):
    def searching(chars: int) -> Callable[[], None]:
        text = (begin + filling * chars)[:chars]

        def search() -> None:
            with suppress(ArgumentFault):
                recover_arguments(text)

        return search

    assert_linear(searching, TEXT_CHARS_MAX // GROWTH)
