"""A sentence for a person, as data: an id, an English template, and what fills it.

Never a translated text: clients translate by the id, and fall back to the English text.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, Union

Param = Union[str, int, "Sentence", tuple["Sentence", ...]]
"""What can fill a placeholder: a text, a number, a sentence, or several sentences."""


class Sentence(NamedTuple):
    """A template of named placeholders under a stable id, with their values.

    The id is in kebab-case and belongs to one template in the whole project. Conversions such as `{name!r}`
    are part of the template.
    """

    id: str
    template: str
    params: Mapping[str, Param]

    @property
    def text(self) -> str:
        """Return the sentence in English."""
        return self.template.format(**{name: _text(value) for name, value in self.params.items()})


def sentence(id_: str, template: str, /, **params: Param) -> Sentence:
    """Make a sentence. Id and template must be literals: the catalogs are extracted from the calls."""
    return Sentence(id_, template, params)


def foreign_text(text: str) -> Sentence:
    """Return words that are not Placet's own, such as those of the operating system: they have no id."""
    return Sentence("", "{text}", {"text": text})


def sentence_of_answer(text: str, id_: str, params: Mapping[str, Any]) -> Sentence:
    """Return the sentence that an answer contains, so that another sentence can contain it too."""
    return Sentence(id_, text.replace("{", "{{").replace("}", "}}"), params) if id_ else foreign_text(text)


def _text(value: Param) -> str | int:
    if isinstance(value, Sentence):
        return value.text
    if isinstance(value, tuple):
        return "; ".join(part.text for part in value)
    return value


def json_params(message: Sentence | None) -> dict[str, Any]:
    """Return the parameters as JSON values; a nested sentence is an object of `id`, `params` and `text`.

    Without a sentence, and for a text without an id, they are empty.
    """
    if message is None or not message.id:
        return {}
    return {name: _json(value) for name, value in message.params.items()}


def sentence_fields(name: str, message: Sentence | None) -> dict[str, Any]:
    """Return the fields by which an answer contains a sentence: the English text, its id and its parameters.

    Their names are `name`, `name_id` and `name_params`. Without a sentence, the text is None.
    """
    text, id_ = (None, "") if message is None else (message.text, message.id)
    return {name: text, f"{name}_id": id_, f"{name}_params": json_params(message)}


def _json(value: Param) -> Any:
    if isinstance(value, Sentence):
        return {"id": value.id, "params": json_params(value), "text": value.text}
    if isinstance(value, tuple):
        return [_json(part) for part in value]
    return value
