"""What is said of a threshold: who came out above it, what that cost, and what the last gap is."""

from fractions import Fraction

from topgap.display.numbers import format_compact
from topgap.parameters import MOST_WINNERS, TopK


def describe_spent(parameters: TopK, winners: int) -> str:
    """Return ε, and what an output with so many winners cost of it, if that is less.

    >>> few = TopK(k=25, epsilon=1, monotonic=True, threshold=500)
    >>> describe_spent(few, 7), describe_spent(few, 25)
    ('ε = 1, of which 8/25 was spent', 'ε = 1')
    """
    spent = parameters.cost(winners) if parameters.has_sentinel else parameters.epsilon
    return f"ε = {parameters.epsilon}" + f", of which {spent} was spent" * (
        spent < parameters.epsilon
    )


def explain_threshold(parameters: TopK, winners: int, *, has_gaps: bool = True) -> list[str]:
    """Return the sentence about how many items reached the threshold; none if there is none.

    >>> few = TopK(k=9, epsilon=1, items_per_person=2, monotonic=True, threshold=500)
    >>> for winners in (0, 7, 9):
    ...     print(*explain_threshold(few, winners))
    Cut at 500: no item reached it.
    Cut at 500: 7 items reached it. The last gap is the lead over 500.
    Cut at 500: 9 items reached it, as many as are named at most. The last gap is the lead over \
the next item, or over 500 if that is larger.
    >>> few = TopK(k=9, epsilon=1, threshold=500)
    >>> for winners in (0, 7, 9):
    ...     print(*explain_threshold(few, winners))
    No item was above 500, noise included.
    7 items were above 500, noise included. The last gap is the lead over 500.
    9 items were above 500, noise included, as many as are named at most. The last gap is the lead \
over whatever came next, an item or 500, so there are no counts.
    """
    if parameters.threshold is None:
        return []
    threshold = format_threshold(parameters)
    if parameters.has_sentinel:
        above = name_winners(parameters, winners, "was", "were")
        most = ", as many as are named at most" * (winners == parameters.k)
        last = [explain_last_gap(parameters, winners)] * (has_gaps and winners > 0)
        return [" ".join([f"{above}, noise included{most}.", *last])]
    if winners == 0:
        return [f"Cut at {threshold}: no item reached it."]
    reached = "1 item reached it" if winners == 1 else f"{winners:,} items reached it"
    most = ", as many as are named at most" * (winners == parameters.k)
    last_gap = f" {explain_last_gap(parameters, winners)}" * has_gaps
    return [f"Cut at {threshold}: {reached}{most}.{last_gap}"]


def explain_last_gap(parameters: TopK, winners: int) -> str:
    """Return the sentence about the last gap of a release with a threshold."""
    threshold = format_threshold(parameters)
    if winners < parameters.k:
        return f"The last gap is the lead over {threshold}."
    if parameters.has_sentinel:
        return (
            f"The last gap is the lead over whatever came next, an item or {threshold}, so there "
            f"are no counts."
        )
    return f"The last gap is the lead over the next item, or over {threshold} if that is larger."


def name_winners(parameters: TopK, winners: int, *verb: str) -> str:
    """Return how many items are named, and as what, for a title or a sentence.

    Args:
        parameters: The parameters of the release.
        winners: How many items are named.
        verb: Its singular and plural, to stand before "above".

    >>> name_winners(TopK(k=4, epsilon=1), 4), name_winners(TopK(4, 1, threshold=500), 0)
    ('The 4 largest', 'No item above 500')
    """
    if parameters.threshold is None:
        return f"The {f'{winners} ' * (winners > 1)}largest"
    named = "No item" if winners == 0 else "1 item" if winners == 1 else f"{winners:,} items"
    if not parameters.has_sentinel:
        return f"{named} reached {format_threshold(parameters)}"
    is_or_are = f" {verb[winners > 1]}" if verb else ""
    return f"{named}{is_or_are} above {format_threshold(parameters)}"


def format_threshold(parameters: TopK) -> str:
    """Return the threshold exactly, or rounded if it is very long.

    >>> format_threshold(TopK(k=9, epsilon=1, items_per_person=2, threshold=500))
    '500'
    """
    return format_compact(parameters.threshold or Fraction(0))


def format_most_named(parameters: TopK) -> str:
    """Return k as it is shown beside a threshold, where it may be no choice of the user's.

    >>> format_most_named(TopK(k=None, epsilon=1, items_per_person=2, threshold=500))
    'all, or 10,000,000'
    """
    most = f"{parameters.k:,}"
    return f"all, or {most}" if parameters.k == MOST_WINNERS else most


def describe_room(parameters: TopK) -> str:
    """Return the condition for intervals of counts to cover as they should, to end a sentence.

    Where k items are above the threshold, the few lists that it ends early have its noise to thank
    for that, and all counts are too low.

    >>> describe_room(TopK(k=25, epsilon=1, monotonic=True, threshold=500))
    ', if clearly fewer than 25 are above 500'
    """
    if not parameters.has_sentinel:
        return ""
    return f", if clearly fewer than {parameters.k:,} are above {format_threshold(parameters)}"
