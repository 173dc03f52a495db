"""What is said below a release: its parameters, its domain, and what is not protected."""

from topgap.display.numbers import format_roughly
from topgap.display.text import to_line
from topgap.domains import DomainDescription
from topgap.margins import count_to_stand_out
from topgap.parameters import TopK

NOT_PROTECTED = (
    "Not protected: the list of items was taken from the data, so that an item is named here "
    "shows that somebody has it, whatever ε is."
)
"""What is said of a release whose list of items was taken from the data."""


def format_note(parameters: TopK, cost: str, domain: DomainDescription | None) -> str:
    """Return the lines below a table.

    Args:
        parameters: The parameters of the release.
        cost: What it has cost in ε, if not only the release; otherwise empty.
        domain: Which items took part, if that is known.

    >>> format_note(TopK(k=1, epsilon=1), "", None)
    'ε = 1, resolution 1/10, sensitivity 1'
    """
    note = f"{cost or f'ε = {parameters.epsilon}'}, resolution {parameters.resolution}, "
    note += f"sensitivity {parameters.sensitivity}" + ", monotonic" * parameters.monotonic
    if domain is None:
        return note
    named = f"domain: {format_domain(domain)}"
    return "\n".join([note, named, *explain_domain(domain, parameters)])


def format_domain(domain: DomainDescription) -> str:
    """Return the domain in words, with its size, on one line.

    >>> format_domain(DomainDescription("the texts that match [A-Z][0-9]{2}", 2600))
    'the texts that match [A-Z][0-9]{2} (2,600 items)'
    """
    return to_line(domain)


def explain_domain(domain: DomainDescription, parameters: TopK) -> list[str]:
    """Return the sentence about what the domain means for a named item; none for a written list.

    >>> numbers = DomainDescription("the whole numbers from 0 to 999,999,999,999", 10**12)
    >>> explain_domain(numbers, TopK(k=10, epsilon=1, monotonic=True))
    ['An item named here need not occur in the data; one needs a count of about 253 to stand out.']
    """
    if domain.is_listed:
        return []
    count = format_roughly(count_to_stand_out(parameters, domain.size))
    return [
        f"An item named here need not occur in the data; one needs a count of about {count} to "
        f"stand out."
    ]
