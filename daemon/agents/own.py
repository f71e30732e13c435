"""What a run does at once: its report, its observations, proposals taken back, the task's language.

Never writes before the run ends, and looks again then: what a person did meanwhile stands.
"""

from collections.abc import Callable, Container, Mapping

from daemon.agents import policy, retracting
from daemon.agents.answers import Answer, Taken
from daemon.agents.policy import Ruling
from daemon.agents.queueing import Run
from daemon.agents.tools import (
    RECORD_OBSERVATIONS,
    RETRACT_PROPOSALS,
    SET_TASK_LANGUAGE,
    UPDATE_REPORT,
    Arguments,
)
from daemon.agents.weighing import View, language_objection, weigh
from store.snapshot import Snapshot
from store.transaction import Transaction, Write
from syncproto.commit import By
from syncproto.ids import EntityId, from_text

OBSERVATIONS_MAX = 30


class Own:
    """Takes the calls of one run that wait for nobody."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._language: Arguments | None = None
        self._retracted: dict[EntityId, str] = {}
        self.report: Arguments | None = None
        self.observations: list[str] = []
        self._doing: Mapping[str, Callable[[Arguments, View], Answer]] = {
            UPDATE_REPORT: self._keep_report,
            RECORD_OBSERVATIONS: self._observe,
            RETRACT_PROPOSALS: self._retract,
            SET_TASK_LANGUAGE: self._set_language,
        }

    @property
    def taken_back(self) -> Container[EntityId]:
        """Return the items that the run takes back at its end."""
        return self._retracted.keys()

    def take(self, tool: str, args: Arguments, view: View) -> Answer:
        """Take one call of an immediate tool, its arguments validated."""
        return self._doing[tool](args, view)

    def _keep_report(self, args: Arguments, view: View) -> Answer:
        del view
        self.report = args
        return Answer("Report updated.", UPDATE_REPORT, args, Taken.DONE)

    def _observe(self, args: Arguments, view: View) -> Answer:
        del view
        room = OBSERVATIONS_MAX - len(self.observations)
        kept, left = args["observations"][:room], args["observations"][room:]
        self.observations += kept
        said = f"Recorded {len(kept)} observation(s)."
        if left:
            said += f" {len(left)} refused: a run records at most {OBSERVATIONS_MAX}."
        return Answer(said, RECORD_OBSERVATIONS, args, Taken.REFUSED if left and not kept else Taken.DONE)

    def _set_language(self, args: Arguments, view: View) -> Answer:
        weighed = weigh(view, SET_TASK_LANGUAGE, args)
        if weighed.args is None:
            return Answer(f"Skipped: {weighed.skipped}.", SET_TASK_LANGUAGE, args, Taken.SKIPPED)
        self._language = args
        return Answer(f"Language set to {args['languageCode']}.", SET_TASK_LANGUAGE, args, Taken.DONE)

    def _retract(self, args: Arguments, view: View) -> Answer:
        """Note which items the agent takes back, and say of the others why they are not its to take."""
        named = [from_text(one) for one in args["itemIds"]]
        refusals = {one: self._not_its_own(one, view.snapshot) for one in named}
        taken = tuple(one for one, why in refusals.items() if why is None)
        left = [
            f"{written} {why}" for written, why in zip(args["itemIds"], refusals.values(), strict=True) if why
        ]
        self._retracted |= {one: str(args["reason"]) for one in taken}
        lines = [f"Retracted {len(taken)} proposal(s)."] if taken else []
        lines += [f"Skipped {len(left)}: {'; '.join(left)}."] if left else []
        became = Taken.DONE if taken else Taken.SKIPPED
        return Answer("\n".join(lines), RETRACT_PROPOSALS, args, became, taken)

    def _not_its_own(self, item: EntityId, snapshot: Snapshot) -> str | None:
        if item in self._retracted:
            return "is retracted already"
        return retracting.refusal(snapshot.item(item), self._run.agent, self._run.now_ms)

    # -- the end of the run ---------------------------------------------------------------------------

    def writes(self, tx: Transaction) -> list[Write]:
        """Return what was done at once and still may be; report and observations are the run's to write."""
        return [*self._retractions(tx), *self._language_writes(tx)]

    def _retractions(self, tx: Transaction) -> list[Write]:
        found = ((tx.item(one), reason) for one, reason in self._retracted.items())
        return [
            retracting.retraction(tx, item, reason)
            for item, reason in found
            if item is not None and retracting.refusal(item, self._run.agent, tx.now_ms()) is None
        ]

    def _language_writes(self, tx: Transaction) -> list[Write]:
        """Return the write of the task's language, none where the user has chosen one meanwhile."""
        task, agent = tx.entity(self._run.task), tx.entity(self._run.agent)
        if self._language is None or task is None or not task.visible:
            return []
        allowed = policy.ruling(agent, SET_TASK_LANGUAGE) is Ruling.IMMEDIATE
        code = self._language["languageCode"]
        if not allowed or task.value("language") == code or language_objection(task, self._language):
            return []
        return [Write(task.id, "task", {"language": code}, by=By.AGENT)]
