"""What the command says of the noise where the items of one person are bounded."""

from topgap.display.numbers import format_roughly
from topgap.parameters import MOST_WINNERS, TopK


def describe_noise(parameters: TopK) -> list[str]:
    """Say what a bound on the items of one person does to the noise, by public numbers alone.

    Returns:
        A sentence if there is a bound.

    >>> few = {"items_per_person": 2, "monotonic": True}
    >>> describe_noise(TopK(25, 1, **few))  # doctest: +NORMALIZE_WHITESPACE
    ['Noise of scale 2 on every count, for at most 2 items per person; naming 25 items without a
    bound would take 25.']
    >>> describe_noise(TopK(2, 1, **few))  # doctest: +NORMALIZE_WHITESPACE
    ['The bound of at most 2 items per person is not used to reduce noise: naming 2 items takes
    noise of scale 2 without it, too.']
    """
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
