"""How to read the table: a few short sentences for the public, each where it is needed."""

from collections.abc import Mapping
from html import escape

from topgap.report.chart import BELOW, ORDER, PLACE
from topgap.report.table import Findings

_MOST_PAIRS = 4
_GAP_BESIDE_ESTIMATES = (
    "Gap",
    "How far an item came out ahead of the next in the ranking. Gaps and numbers have different "
    "noise, so a gap need not be the difference of two numbers.",
)


def render_caveats(found: Findings, text: Mapping[str, str], *, in_order: bool) -> str:
    """Return the items of the list "How to read this".

    Args:
        found: What the table shows.
        text: The texts of the page.
        in_order: Whether numbers were put in the order of the ranks.
    """
    points = [*_explain_numbers(found, text), *_explain_marks(found, text)]
    points += _explain_order(found, in_order=in_order and found.has_figures)
    if text["domain_caveat"]:
        points.append(("Named items", text["domain_caveat"]))
    return "\n".join(
        f"<li><strong>{escape(term)}:</strong> {escape(sentence)}</li>" for term, sentence in points
    )


def _explain_numbers(found: Findings, text: Mapping[str, str]) -> list[tuple[str, str]]:
    if found.has_figures:
        return [
            (
                "±",
                "Random noise protects everyone in the data, so each number has a small random "
                "error. ± is its standard error, the usual size of that error.",
            ),
            (
                f"{text['percent']} interval",
                f"In {text['often']} such publications it contains the true number of an "
                f"item{text['if_clear']}{text['if_not_negative']}. It is wider where noise may "
                f"have decided a place.",
            ),
            *([_GAP_BESIDE_ESTIMATES] if found.has_gaps and "measurement_error" in text else []),
        ]
    noise = (
        "Noise",
        "Random noise protects everyone in the data, so a truly larger item can stand below a "
        "smaller one, or be missing.",
    )
    if not found.has_gaps:
        return [noise, ("Not published", "How many, and by how much an item is ahead.")]
    return [
        noise,
        ("Gap", "How far an item came out ahead of the next, noise included. It is not a count."),
    ]


def _explain_marks(found: Findings, text: Mapping[str, str]) -> list[tuple[str, str]]:
    points = []
    if ORDER in found.marks:
        biased = " The number ahead is biased upward, the one behind downward." * found.has_figures
        points.append(
            (
                ORDER,
                f"The gap is below {text['certain_from']}. Noise alone often makes such a gap, so "
                f"the two items may truly be in the other order.{biased}",
            )
        )
    if PLACE in found.marks:
        biased = " Its number is biased upward on average." * found.has_figures
        points.append(
            (PLACE, f"The item is so close to the end that another may truly belong here.{biased}")
        )
    if found.takes_last_place:
        points.append(("Last place", text["last_place"]))
    return points


def _explain_order(found: Findings, *, in_order: bool) -> list[tuple[str, str]]:
    if in_order:
        return [
            (
                "In order",
                "The numbers were made at least 0 and put in the order of the ranks afterwards. "
                "This uses only the published numbers and costs no ε.",
            )
        ]
    points = []
    if found.is_any_below_zero:
        points.append((BELOW, "Noise sometimes makes small numbers negative."))
    if found.crossings:
        points.append(
            (
                "Order of the estimates",
                f"{_name_pairs(found.crossings)} have estimates in the other order, because ranks "
                f"and estimates have different noise. Neither order is certain.",
            )
        )
    return points


def _name_pairs(crossings: tuple[int, ...]) -> str:
    """Return neighbouring ranks in words.

    >>> _name_pairs((2,)), _name_pairs((2, 7)), _name_pairs(tuple(range(1, 9)))
    ('Ranks 2 and 3', 'Ranks 2 and 3, 7 and 8', 'Some neighbouring ranks')
    """
    if len(crossings) > _MOST_PAIRS:
        return "Some neighbouring ranks"
    return f"Ranks {', '.join(f'{rank} and {rank + 1}' for rank in crossings)}"
