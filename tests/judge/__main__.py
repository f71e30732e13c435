"""`make judge-model`: a model judged by scenarios, at any endpoint with the Chat Completions interface.

    make judge-model JUDGE="--url http://127.0.0.1:8080/v1 --name qwen [--count 12] [--limit-s 300]"

The address, the name and the mode may also come from PLACET_MODEL_BASE_URL, PLACET_MODEL_NAME and
PLACET_MODEL_MODE, the key from PLACET_MODEL_KEY alone. Without an address the small model of `make try-model`
is served here. Each result is a line of `--results FILE`; with `--resume` what is there is not asked again.
`--rules` judges the embedded model instead, for comparison.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from daemon.agents.models.openai.chat_model import ChatCompletionsModel
from daemon.agents.models.openai.endpoint import read_endpoint
from daemon.agents.models.openai.retry_policy import RetryPolicy
from daemon.agents.models.rules.embedded_model import RulesModel
from daemon.agents.tools.model_interface import Model
from daemon.clock import SystemClock
from daemon.config import ModelSettings
from tests.daemon.agents.models.openai.try_model import Failed, ServedModel, model_server
from tests.judge.play import play
from tests.judge.results import HEAD, Result, ResultFile, line_of, result_of, summary
from tests.judge.scenario import Scenario, load_scenarios, spread


async def judge_all(
    scenarios: Sequence[Scenario],
    model: Model,
    *,
    limit_s: float,
    kept: ResultFile,
    served: ServedModel | None,
) -> list[Result]:
    """Play the scenarios one after the other, keep each result at once, and return all of them.

    What is kept already is not played again. Raises Failed if the server that is `served` here died:
    a result that has only that to say is not kept.
    """
    for scenario in scenarios:
        if scenario.name not in kept.known:
            outcome = await play(scenario, model, limit_s)
            if served is not None:
                served.require_alive()
            kept.keep(result_of(scenario, outcome))
            print(line_of(kept.known[scenario.name]), flush=True)
    return [kept.known[scenario.name] for scenario in scenarios]


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="judge-model", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--url", default=os.environ.get("PLACET_MODEL_BASE_URL", ""))
    parser.add_argument("--name", default=os.environ.get("PLACET_MODEL_NAME", ""))
    parser.add_argument("--mode", default=os.environ.get("PLACET_MODEL_MODE", "auto"))
    parser.add_argument("--count", type=int, default=0, help="so many scenarios, spread over all kinds")
    parser.add_argument("--only", default="", help="names that contain one of these words, with commas")
    parser.add_argument("--limit-s", type=float, default=600.0, help="for one scenario")
    parser.add_argument("--results", type=Path, default=Path(".judge/results.jsonl"))
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--rules", action="store_true", help="judge the embedded model instead")
    parser.add_argument("--python", type=Path, default=None, help="serve the small model with this Python")
    return parser.parse_args(words)


def _chosen(options: argparse.Namespace) -> list[Scenario]:
    scenarios = load_scenarios()
    words = [word for word in options.only.split(",") if word]
    if words:
        scenarios = [scenario for scenario in scenarios if any(word in scenario.name for word in words)]
    return spread(scenarios, options.count) if options.count else scenarios


async def run(options: argparse.Namespace) -> int:
    """Judge, and print the table."""
    async with AsyncExitStack() as ending:
        model: Model = RulesModel()
        served: ServedModel | None = None
        if not options.rules:
            url, name = options.url, options.name
            if not url:
                served = ending.enter_context(model_server(options.python, name or "qwen"))
                url, name = f"{served.url}/v1", served.name
            settings = ModelSettings(kind="openai", base_url=url, name=name, mode=options.mode)
            endpoint = read_endpoint(settings, os.environ)
            patience = RetryPolicy(read_s=options.limit_s, total_s=options.limit_s)
            remote = ChatCompletionsModel(endpoint, SystemClock(), patience)
            ending.push_async_callback(remote.close)
            model = remote
        print(HEAD, flush=True)
        kept = ResultFile(options.results, resume=options.resume)
        results = await judge_all(_chosen(options), model, limit_s=options.limit_s, kept=kept, served=served)
    print()
    print(summary(results))
    return 0


async def main_with(words: Sequence[str] | None = None) -> int:
    """Judge by the words of a command line; return the exit code."""
    try:
        return await run(_options(words))
    except Failed as fault:
        print(f"judge-model: {fault}; --resume goes on from here", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main_with()))
