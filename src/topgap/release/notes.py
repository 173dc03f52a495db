"""What is said below a release: its parameters, noise, domain, and what to beware of."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby

from topgap.display.numbers import format_compact, format_level, format_roughly
from topgap.display.text import to_line
from topgap.domains import DomainDescription
from topgap.margins import (
    count_to_stand_out,
    expected_above_threshold,
    is_uncertain,
    near_the_end,
    takes_last_place,
)
from topgap.numbers.format import format_short
from topgap.numbers.parse import LEVEL, Number
from topgap.parameters import TopK
from topgap.release.threshold_notes import describe_spent, format_threshold

NOT_PROTECTED = (
    "Not protected: the list of items was taken from the data, so each named item shows that "
    "somebody has it, whatever ε is."
)
"""What is said of a release whose list of items was taken from the data."""

_MOST_RANGES = 8  # of ranks within a sentence


def explain_missing_values(parameters: TopK) -> str:
    """Return the sentence about why a release has no noisy answers.

    >>> explain_missing_values(TopK(k=4, epsilon=1))
    'This release has no noisy answers; they come with the gaps of Laplace noise.'
    """
    if parameters.has_sentinel:
        return (
            "This release has no noisy answers; where the threshold ended the list, counts() has "
            "the counts of its named items."
        )
    return "This release has no noisy answers; they come with the gaps of Laplace noise."


def format_note(
    parameters: TopK,
    cost: str,
    domain: DomainDescription | None,
    winners: int,
    *,
    has_counts: bool = False,
) -> str:
    """Return the lines below a table.

    Args:
        parameters: The parameters of the release.
        cost: What it has cost in ε, if not only the release; otherwise empty.
        domain: Which items took part, if that is known.
        winners: How many items are named.
        has_counts: Whether the table has counts, or values of Laplace noise.

    >>> format_note(TopK(k=1, epsilon=1), "", None, 1)
    'ε = 1, resolution 0.1, sensitivity 1'
    """
    resolution, sensitivity = map(format_short, (parameters.resolution, parameters.sensitivity))
    note = f"{cost or describe_spent(parameters, winners)}, resolution {resolution}, "
    note += f"sensitivity {sensitivity}" + ", monotonic" * parameters.monotonic
    notes = [note, *explain_noise(parameters, has_counts=has_counts)]
    if domain is not None:
        notes += [f"domain: {format_domain(domain)}", *explain_domain(domain, parameters)]
    return "\n".join(notes)


def explain_noise(parameters: TopK, *, has_counts: bool) -> list[str]:
    """Return the sentence about the noise; none for exponential noise without a threshold.

    >>> few = TopK(k=9, epsilon=1, items_per_person=2, monotonic=True)
    >>> explain_noise(few, has_counts=True)
    ['Laplace noise of scale 2 on every answer, for at most 2 items per person; a value is an \
answer with its noise.']
    >>> few = TopK(k=25, epsilon=1, monotonic=True, threshold=500)
    >>> print(*explain_noise(few, has_counts=True))  # doctest: +NORMALIZE_WHITESPACE
    Items and threshold got exponential noise of mean 25. A count is 500 plus the gaps down to it,
    and half a step for each; the noise of the threshold is in all of them.
    """
    if parameters.has_sentinel:
        noise = (
            f"Items and threshold got exponential noise of mean {format_compact(parameters.scale)}."
        )
        counts = (
            f" A count is {format_threshold(parameters)} plus the gaps down to it, and half a step "
            f"for each; the noise of the threshold is in all of them."
        )
        return [noise + counts * has_counts]
    if parameters.noise != "laplace":
        return []
    values = "; a value is an answer with its noise" * has_counts
    return [
        f"Laplace noise of scale {format_compact(parameters.scale)} on every answer, for at most "
        f"{format_items_per_person(parameters)}{values}."
    ]


def format_items_per_person(parameters: TopK) -> str:
    """Return the bound on the items of one person in words.

    >>> format_items_per_person(TopK(k=9, epsilon=1, items_per_person=1))
    '1 item per person'
    """
    bound = parameters.items_per_person or 0
    return "1 item per person" if bound == 1 else f"{bound:,} items per person"


def explain_bias(gaps: Sequence[Fraction], parameters: TopK, level: "Number" = LEVEL) -> list[str]:
    """Return the sentences about counts that are biased, because noise helped to rank their items.

    Args:
        gaps: The gaps of a release with counts, or with values of Laplace noise.
        parameters: Its parameters.
        level: That of the intervals.

    >>> few = TopK(k=4, epsilon=1, items_per_person=2, monotonic=True)   # 9 is called certain
    >>> for sentence in explain_bias([Fraction(each) for each in (40, 3, 9, 5)], few):
    ...     print(sentence)
    Ranks 2 and 3: order uncertain. Noise helped to decide it, so the value ahead is biased upward \
and the value behind downward.
    Rank 4: place on the list uncertain. Noise helped to name the item, so its value is biased \
upward, and its interval covers less often than 95%.
    >>> few = TopK(k=3, epsilon=1, monotonic=True, threshold=500)
    >>> print(*explain_bias([Fraction(40), Fraction(40)], few))  # doctest: +NORMALIZE_WHITESPACE
    2 items are named, and with one more there would be no counts. Noise of the threshold may have
    helped to end the list here, so all counts may be biased downward.
    """
    name = "value" if parameters.noise == "laplace" else "count"
    at_end = near_the_end(gaps, parameters)
    # Pairs that are both near the end are among those of the second sentence.
    ties = [
        is_uncertain(gap, parameters) and not late
        for gap, late in zip(gaps[:-1], at_end, strict=False)
    ]
    sentences = []
    if any(ties):
        ahead = f"{name} ahead is biased upward and the {name}"
        if sum(ties) > 1:
            ahead = f"{name}s ahead are biased upward and the {name}s"
        sentences.append(
            f"{_format_ranks(_find_runs(ties, 1))}: order uncertain. Noise helped to decide it, so "
            f"the {ahead} behind downward."
        )
    if any(at_end):
        words = "place", "item", f"its {name} is biased upward", "its interval covers"
        if sum(at_end) > 1:
            words = (
                "places", "items", f"their {name}s are biased upward on average",
                "their intervals cover",
            )  # fmt: skip
        places, items, biased, cover = words
        sentences.append(
            f"{_format_ranks(_find_runs(at_end, 0))}: {places} on the list uncertain. Noise helped "
            f"to name the {items}, so {biased}, and {cover} less often than {format_level(level)}."
        )
    if gaps and takes_last_place(parameters, len(gaps)):
        named = "1 item is named" if len(gaps) == 1 else f"{len(gaps):,} items are named"
        sentences.append(
            f"{named}, and with one more there would be no counts. Noise of the threshold may have "
            f"helped to end the list here, so all counts may be biased downward."
        )
    return sentences


def _find_runs(flags: Sequence[bool], more: int) -> list[tuple[int, int]]:
    """Return the first and the last rank of each run of flags, and of so many ranks after it.

    >>> _find_runs([True, False, True, True], 1)
    [(1, 2), (3, 5)]
    """
    runs, rank = [], 1
    for flag, run in groupby(flags):
        after = rank + len([*run])
        if flag:
            runs.append((rank, after - 1 + more))
        rank = after
    return runs


def _format_ranks(runs: Sequence[tuple[int, int]]) -> str:
    """Return runs of ranks in words.

    >>> for runs in ([(3, 3)], [(3, 4)], [(3, 7)], [(1, 2), (5, 8), (9, 10)]):
    ...     print(_format_ranks(runs))
    Rank 3
    Ranks 3 and 4
    Ranks 3 to 7
    Ranks 1–2, 5–8 and 9–10
    """
    if len(runs) == 1:
        ((first, last),) = runs
        if first == last:
            return f"Rank {first:,}"
        return f"Ranks {first:,} {'to' if last > first + 1 else 'and'} {last:,}"
    shown = [f"{first:,}–{last:,}" for first, last in runs]
    last_one = shown[-1] if len(shown) <= _MOST_RANGES else "others"
    return f"Ranks {', '.join(shown[:_MOST_RANGES][: len(shown) - 1])} and {last_one}"


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
    if parameters.threshold is not None:
        return [_explain_reaching(domain, parameters)]
    count = format_roughly(count_to_stand_out(parameters, domain.size))
    return [
        f"An item named here need not occur in the data; one needs a count of about {count} to "
        f"stand out."
    ]


def _explain_reaching(domain: DomainDescription, parameters: TopK) -> str:
    """The same for a threshold, which may be so high that nothing without people reaches it."""
    where = "above" if parameters.has_sentinel else "to"
    return (
        f"An item named here need not occur in the data; of the items that do not, noise alone "
        f"lifts {format_expected(parameters, domain.size)} {where} the threshold."
    )


def format_expected(parameters: TopK, size: int) -> str:
    """Return how many items of a domain reach the threshold by noise alone, in words.

    >>> few = TopK(k=None, epsilon=1, items_per_person=2, monotonic=True, threshold=50)
    >>> [format_expected(few, size) for size in (10**12, 10**6)]
    ['about 8.6', 'less than 0.001']
    """
    expected = expected_above_threshold(parameters, size)
    if expected < 0.001:
        return "less than 0.001"
    at_most = "at most " if parameters.has_sentinel else ""  # where it is an upper bound
    return f"{at_most}about {format_roughly(Fraction(expected))}"
