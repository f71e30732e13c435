"""The language in which a model writes for a task: the task's own, else that of what the person wrote.

Never guesses: if neither is clear, the model is told to follow the newest note.
"""

from dataclasses import replace
from typing import Any

from daemon.agents.context.run_inputs import RunInputs
from daemon.agents.models.rules.language_choice import certain_language, likeliest_language, sample_text
from daemon.agents.tools.model_interface import RunContext
from daemon.language import LANGUAGES

_OLDER_NOTES_READ = 20


def with_writing_language(inputs: RunInputs) -> RunInputs:
    """Return what a run begins with, and the language that its model is to write in."""
    language = writing_language(inputs.context)
    return replace(inputs, context=replace(inputs.context, writing_language=language))


def writing_language(context: RunContext) -> str:
    """Return the code of the language to write in; empty if nothing tells it.

    The new notes count before what surrounds them, and what is plain before what is only likely.
    """
    if context.task.language:
        return context.task.language
    notes = sample_text(note.text for note in context.new_entries)
    older = (note.text for note in context.entries[-_OLDER_NOTES_READ:])
    around = sample_text((context.task.title, *(item.title for item in context.task.items), *older))
    readings = (
        certain_language(notes),
        certain_language(around),
        likeliest_language(notes),
        likeliest_language(around),
    )
    return next((language for language in readings if language), "")


def is_in_other_language(report: dict[str, Any], language: str) -> bool:
    """Return whether a report is plainly in another of the five languages than it should be."""
    wanted = language.partition("-")[0].lower()
    lines = (line for name in ("achieved", "remaining", "learnings") for line in report.get(name) or ())
    written = certain_language(
        sample_text((str(report.get("tldr") or ""), str(report.get("goal") or ""), *lines))
    )
    return wanted in LANGUAGES and written not in (None, wanted)
