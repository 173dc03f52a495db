"""The templates of a page: read, and filled with text that is escaped."""

from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib import resources
from string import Template
from typing import NamedTuple


class Content(NamedTuple):
    """The parts of a page that differ between a release, estimates and lists for many groups.

    Attributes:
        words: The texts for the fields of the page.
        ranking: The table, or the lists of all groups, as markup.
        how_to_read: The items of the list of caveats.
        meaning: What the numbers say, and what they do not, as markup.
        parameters: Further markup about parameters, by its fields.
        data: The sentences about the JSON, as markup.
        json: What it shows as JSON.
        json_id: The id of the element that holds it.
        caveats: Sentences about what is not protected.
        more_style: Further style sheets.
        script: The script of the page; empty for none.
    """

    words: Mapping[str, str]
    ranking: str
    how_to_read: str
    meaning: str
    parameters: Mapping[str, str]
    data: str
    json: str
    json_id: str
    caveats: Sequence[str]
    more_style: str = ""
    script: str = ""


def fill_template(name: str, text: Mapping[str, str], **markup: str) -> str:
    """Return the template of this name with its fields filled: text escaped, markup as it is."""
    escaped = {key: escape(value) for key, value in text.items()}
    return Template(read_file(name)).substitute(escaped, **markup)


@cache
def read_file(name: str) -> str:
    """Return the text of a file beside this module."""
    return (resources.files(__package__) / name).read_text(encoding="utf-8")
