"""What the command says before it draws: of the noise, of groups, and of a domain."""

from topgap.counting import Domain
from topgap.display.numbers import format_roughly
from topgap.events.event_table import EventTable
from topgap.events.grouped_mechanism import GroupedMechanism
from topgap.events.mechanism import Mechanism
from topgap.margins import people_needed
from topgap.numbers.format import format_short
from topgap.parameters import MOST_WINNERS, TopK
from topgap.release import format_domain, format_threshold


def describe_mechanism(
    mechanism: Mechanism | GroupedMechanism, table: EventTable | None = None
) -> list[str]:
    """Say what the mechanism does to the counts of a table, by only public numbers.

    Args:
        mechanism: The mechanism.
        table: What is counted; None if the rows of the source are all items.
    """
    in_each_group = isinstance(mechanism, GroupedMechanism)
    sentences = describe_noise(mechanism.selection, in_each_group=in_each_group)
    if table is None:
        return sentences
    if isinstance(mechanism, GroupedMechanism) and table.groups is not None:
        sentences.insert(0, _describe_groups(mechanism, table.groups.size))
    if isinstance(table.domain, Domain) and not table.domain.is_listed:
        sentences.append(
            _describe_domain(table.domain, mechanism.selection, in_each_group=in_each_group)
        )
    return sentences


def _describe_groups(mechanism: GroupedMechanism, size: int) -> str:
    """Say what each group costs and how ε is shared."""
    parameters = mechanism.parameters
    whole, most = format_short(parameters.epsilon), parameters.groups_per_person
    if size == 1:
        return f"ε = {whole} for the list of the only group."
    each, measured = format_short(parameters.each.epsilon), mechanism.shares is not None
    gets = "each list and its estimates get" if measured else "each list gets"
    twice = ""
    if measured and not parameters.monotonic:
        twice = (
            " A person who is replaced can leave groups while the other enters others, so "
            "measurements are counted twice."
        )
    return (
        f"ε = {whole} for all {size:,} groups together: each person is counted in at "
        f"most {most:,} of them, and {gets} ε = {each}.{twice}"
    )


def _describe_domain(domain: Domain, selection: TopK, *, in_each_group: bool) -> str:
    """Say what stands out in a domain that is not written out."""
    count = people_needed(selection, domain.size)
    where = " in its group" if in_each_group else ""
    return (
        f"The domain is {format_domain(domain.description)}. An item needs a count of "
        f"{count:,}{where} to be named with probability 95%. A named item need not occur in the "
        f"data."
    )


def describe_noise(parameters: TopK, *, in_each_group: bool = False) -> list[str]:
    """Say what a threshold costs and what a bound on the items of one person does to the noise.

    By only public numbers.

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
    0.04 if no item is above 500, and 0.04 more for each item that is named.']
    """
    where = "In each group, " if in_each_group else ""
    sentences = [_describe_threshold(parameters, where)] if parameters.has_sentinel else []
    return [*sentences, *_describe_bound(parameters)]


def _describe_threshold(parameters: TopK, where: str) -> str:
    threshold, none = format_threshold(parameters), parameters.cost(0)
    each = parameters.epsilon / parameters.k
    more = f", and {format_short(each)} more for each item that is named" * (parameters.k > 1)
    said = f"Noise of mean {format_roughly(parameters.scale)} on every count and on the threshold "
    if none == parameters.epsilon:
        return f"{said}of {threshold}."
    return (
        f"{said}of {threshold}. {where}ε = {format_short(parameters.epsilon)} is the most that is "
        f"spent: {format_short(none)} if no item is above {threshold}{more}."
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
