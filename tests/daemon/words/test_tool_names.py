"""The tools of agents in words."""

from daemon.agents.tools.table import ANSWER_QUESTION, TOOLS
from daemon.words.tool_names import tool_words


def test_each_tool_has_words_and_an_action_of_another_program_its_name():
    assert [tool for tool in TOOLS if tool_words(tool) == tool] == [ANSWER_QUESTION]
    assert tool_words("send_mail") == "send_mail"
