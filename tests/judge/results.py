"""The results of a judgement: one line of JSON a scenario, and the table that they make.

Never asks a model, and never judges: the verdicts are given (`score.py`).
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.judge.play import Outcome
from tests.judge.scenario import Scenario
from tests.judge.score import Totals, Verdict, is_in_language

Result = dict[str, Any]
"""One line of the results: a scenario's name, kind and language, and what came of it."""


def result_of(scenario: Scenario, outcome: Outcome) -> Result:
    """Return an outcome as one line of the results."""
    judgement, report = outcome.judgement, outcome.report
    return {
        "name": scenario.name,
        "kind": scenario.kind,
        "language": scenario.language,
        "right": judgement.count(Verdict.RIGHT),
        "harmless": judgement.count(Verdict.HARMLESS),
        "wrong": judgement.count(Verdict.WRONG),
        "missing": list(judgement.missing),
        "proposals": [[claim, verdict.value] for claim, verdict in judgement.verdicts],
        "report_language": is_in_language(report, scenario.language) if report else None,
        "report": report,
        "forbidden": [words for words in scenario.never if words.casefold() in report.casefold()],
        "turns": outcome.turns,
        "input": outcome.usage.input,
        "cached": outcome.usage.cached,
        "output": outcome.usage.output,
        "seconds": round(outcome.took_s, 1),
        "ended": outcome.ended,
    }


def read_results(file: Path) -> dict[str, Result]:
    """Read the results so far, by scenario; the last line of a name counts, a broken one does not."""
    by_name: dict[str, Result] = {}
    if file.exists():
        for line in file.read_text(encoding="utf-8").splitlines():
            try:
                result = json.loads(line)
            except ValueError:
                continue
            by_name[result["name"]] = result
    return by_name


class ResultFile:
    """A file with a line of JSON for each scenario that was played."""

    def __init__(self, path: Path, *, resume: bool) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not resume:
            path.unlink(missing_ok=True)
        self._path = path
        self.known = read_results(path)

    def keep(self, result: Result) -> None:
        """Add a result, at once and for good."""
        self.known[result["name"]] = result
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(result, ensure_ascii=False) + "\n")


def line_of(result: Result) -> str:
    """Return one scenario as a line of the table."""
    spoken = {True: "yes", False: "no", None: "-"}[result["report_language"]]
    counts = (result["right"], result["harmless"], result["wrong"], len(result["missing"]))
    numbers = " ".join(f"{count:5d}" for count in counts)
    cost = f"{result['input']:7d} {result['output']:6d} {result['seconds']:7.1f}"
    return f"{result['name']:34} {result['kind']:14} {numbers}  {spoken:4} {cost}  {result['ended'][:60]}"


HEAD = (
    f"{'scenario':34} {'kind':14} right harml wrong  miss  lang  tokens output seconds  ended early because"
)


def totals_of(results: Sequence[Result]) -> Totals:
    """Add results up."""
    return Totals(
        sum(result["right"] for result in results),
        sum(result["harmless"] for result in results),
        sum(result["wrong"] for result in results),
        sum(len(result["missing"]) for result in results),
    )


def summary(results: Sequence[Result]) -> str:
    """Return the sums by kind and by language, and of all."""
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        groups[result["kind"]].append(result)
        groups[result["language"]].append(result)
    groups["all"] = list(results)
    lines = [f"{'':14} scenarios proposals right harmless wrong missing  report's language"]
    for name, members in groups.items():
        totals = totals_of(members)
        spoken = [result["report_language"] for result in members if result["report_language"] is not None]
        shares = [totals.share(count) for count in (totals.right, totals.harmless, totals.wrong)]
        percent = f"{shares[0]:5.0%} {shares[1]:8.0%} {shares[2]:5.0%}"
        lines.append(
            f"{name:14} {len(members):9d} {totals.proposals:9d} {percent} {totals.missing:7d}"
            f"  {sum(spoken)} of {len(spoken)}"
        )
    cost = [sum(result[key] for result in results) for key in ("input", "cached", "output", "seconds")]
    early = sum(bool(result["ended"]) for result in results)
    lines.append(
        f"{cost[0]} tokens read ({cost[1]} of them cached), {cost[2]} written, {cost[3]:.0f} s;"
        f" {early} of {len(results)} runs ended early"
    )
    return "\n".join(lines)
