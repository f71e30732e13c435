"""A graph of LangGraph whose interrupt you answer in Placet, on any of your devices, also days later.

python langgraph_mail.py    starts the graph, or goes on with what you decided

Needs langgraph and langgraph-checkpoint-sqlite, and: placet agent add LangGraph --scope none
"""

from pathlib import Path
from typing import Any, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from placet_asks import hold_alone, new_key, verdicts_on

AGENT, THREAD = "LangGraph", "weekly mail"


class State(TypedDict, total=False):
    mail: dict[str, Any]
    outcome: str


def write_mail(_state: State) -> State:
    return {"mail": {"to": "ana@example.org", "text": "See you on Friday."}}


def send_mail(state: State) -> State:
    # The checkpoint keeps the key with the interrupt: the ids of LangGraph tell two in one node not apart.
    verdict = interrupt({"key": new_key(), "action": "send_mail", "args": state["mail"]})
    if not verdict["allowed"]:
        return {"outcome": verdict["reason"]}
    # Here the mail would be sent, as the person allowed it.
    return {"mail": verdict["args"], "outcome": "sent"}


def verdict_on(waiting: dict[str, Any]) -> dict[str, Any] | None:
    """Return the verdict on what an interrupt waits for; None while there is none."""
    verdicts = verdicts_on(AGENT, waiting["key"], [("", waiting["action"], waiting["args"])])
    return None if verdicts is None else verdicts[0]


def advance(checkpoints: str = "checkpoints.db") -> State | None:
    """Run the graph until it ends or waits for a person; return its state at the end, None while it waits."""
    hold_alone(Path(checkpoints))
    config = {"configurable": {"thread_id": THREAD}}
    with SqliteSaver.from_conn_string(checkpoints) as saver:
        nodes = StateGraph(State).add_node(write_mail).add_node(send_mail)
        nodes.add_edge(START, "write_mail").add_edge("write_mail", "send_mail").add_edge("send_mail", END)
        graph = nodes.compile(checkpointer=saver)
        if not graph.get_state(config).created_at:
            graph.invoke({}, config)
        while waiting := graph.get_state(config).interrupts:
            verdicts = {wait.id: verdict_on(wait.value) for wait in waiting}
            if None in verdicts.values():
                return None
            graph.invoke(Command(resume=verdicts), config)
        return graph.get_state(config).values


if __name__ == "__main__":
    print(advance() or "It waits for you: placet review")
