"""The language in which a model writes for a task: the task's own, else that of what the person wrote.

Never guesses: if neither is clear, the model is told to follow the newest note.
"""

from daemon.agents.models.rules.language_choice import certain_language, likeliest_language, sample_text
from daemon.agents.tools.model_interface import RunContext

_OLDER_NOTES_READ = 20


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
