"""What the command says of the noise: of a threshold, and of a bound on the items of a person."""

from topgap.display.numbers import format_roughly
from topgap.numbers.format import format_exact
from topgap.parameters import MOST_WINNERS, TopK
from topgap.release import format_threshold


def describe_noise(parameters: TopK, *, in_each_group: bool = False) -> list[str]:
    """Say what a threshold costs and what a bound on the items of one person does to the noise.

    By public numbers alone.

    Args:
        parameters: Those of the list.
        in_each_group: Whether it is the list of one of several groups.

    Returns:
        A sentence on a threshold with exponential noise, and one on a bound.

    >>> few = {"items_per_person": 2, "monotonic": True}
    >>> describe_noise(TopK(25, 1, **few))  # doctest: +NORMALIZE_WHITESPACE
    ['Noise of scale 2 on every count, for at most 2 items per person; naming 25 items without a
    bound would take 25.']
    >>> describe_noise(TopK(2, 1, **few))  # doctest: +NORMALIZE_WHITESPACE
    ['The bound of at most 2 items per person is not used to reduce noise: naming 2 items takes
    noise of scale 2 without it, too.']
    >>> describe_noise(TopK(25, 1, monotonic=True, threshold=500))  # doctest: +NORMALIZE_WHITESPACE
    ['Noise of mean 25 on every count and on the threshold of 500. ε = 1 is the most that is spent:
    1/25 if no item is above 500, and 1/25 more for each item that is named.']
    """
    where = "In each group, " if in_each_group else ""
    sentences = [_describe_threshold(parameters, where)] if parameters.has_sentinel else []
    return [*sentences, *_describe_bound(parameters)]


def _describe_threshold(parameters: TopK, where: str) -> str:
    threshold, none = format_threshold(parameters), parameters.cost(0)
    each = parameters.epsilon / parameters.k
    more = f", and {each} more for each item that is named" if parameters.k > 1 else ""
    said = f"Noise of mean {format_roughly(parameters.scale)} on every count and on the threshold "
    if none == parameters.epsilon:
        return f"{said}of {threshold}."
    return (
        f"{said}of {threshold}. {where}ε = {format_exact(parameters.epsilon)} is the most that is "
        f"spent: {none} if no item is above {threshold}{more}."
    )


def _describe_bound(parameters: TopK) -> list[str]:
    k, bound = parameters.k, parameters.items_per_person
    if bound is None:
        return []
    scale, bounded = format_roughly(parameters.scale), f"at most {count_items(bound)} per person"
    if parameters.noise == "laplace":
        sentence = f"Noise of scale {scale} on every count, for {bounded}; "
        if k >= MOST_WINNERS:
            return [f"{sentence}it does not grow with the number of items that are named."]
        other = format_roughly(parameters.scale * k / bound)
        return [f"{sentence}naming {count_items(k)} without a bound would take {other}."]
    if bound < k:
        other = format_roughly(parameters.scale * bound / k)
        return [
            f"Noise of scale {scale}, for naming {count_items(k)}; Laplace noise for {bounded} "
            f"would have scale {other}."
        ]
    return [
        f"The bound of {bounded} is not used to reduce noise: naming {count_items(k)} takes noise "
        f"of scale {scale} without it, too."
    ]


def count_items(number: int) -> str:
    """So many items, in words.

    >>> count_items(1), count_items(2000)
    ('1 item', '2,000 items')
    """
    return "1 item" if number == 1 else f"{number:,} items"
