"""The public function `plan`."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from topgap.domains import Counts
from topgap.errors import DomainError, ParameterError
from topgap.numbers.parse import Number, is_whole, read_whole
from topgap.parameters import TopK
from topgap.planning.public_counts import PublicCounts
from topgap.planning.result import Plan
from topgap.planning.simulation import simulate
from topgap.planning.validation import EPSILONS, read_epsilons, read_size
from topgap.selection.answers import Array, check_enough, read
from topgap.selection.measurement import Shares
from topgap.selection.participants import find_participants
from topgap.selection.unlisted import check_domain_size, leaves_ties

Progress = Callable[[str, float | None], None]
"""Called with what is being done and the share of it that is done."""

RELEASES = 10_000


def plan(
    counts: object,
    k: int,
    epsilons: "Number | Iterable[Number]" = EPSILONS,
    *,
    releases: int = RELEASES,
    selection_share: "Number" = "1/2",
    resolution: "Number" = "1/10",
    sensitivity: "Number" = 1,
    monotonic: bool = False,
    domain: object = None,
    progress: Progress | None = None,
) -> Plan:
    """Simulate releases of such counts, to know what to expect before any ε is spent.

    **The counts must be public or made up**: those of last year that were published, of another
    town, or of `topgap.planning.zipf`. A plan is not private: a plan from the counts that are to be
    protected would reveal them.

    Releases are simulated with the noise of real ones, of names and gaps alone and of counts too,
    and compared with the truth. So all figures are measured, ties and near ties included.

    Args:
        counts: One number per item, public or made up; see `topgap.top_k` for what may hold them.
        k: How many winners are named.
        epsilons: The values of the privacy loss ε to plan for, or a single one.
        releases: The number of simulated releases for each ε and kind of release; at least 2.
        selection_share: The part of ε that selects where counts are released too, as in
            `topgap.top_k_with_estimates`; between 0 and 1.
        resolution: Gaps and measurements are multiples of this; one divided by an integer.
        sensitivity: How far one person can move any one count; a multiple of the resolution.
        monotonic: Whether one person's arrival moves all counts the same way; see `topgap.top_k`.
        domain: The domain of the releases that are planned: what `topgap.top_k` takes, whose
            members take part, those without a count with 0; or the size of a domain that has all
            items of the counts, as an int.
        progress: Called now and then with what is being done and the share of it that is done.

    Returns:
        For each ε: the probability that the list is right, and in the right order; how many of the
        named are among the k largest; the error of the winners' counts, with and without the gaps.
        With a domain also how many of the named nobody has, and how many people an item needs.

    Raises:
        ParameterError, ParameterTypeError: A parameter cannot be used; the sentence says why.
        AnswersError, AnswersTypeError, ItemsError: The counts cannot be used, as of `topgap.top_k`.
        DomainError: The domain cannot be used, or is smaller than there are counts.

    >>> made_up = {"ash": 10**6, "elm": 0, "oak": 10**5}
    >>> (row,) = plan(made_up, k=2, epsilons=1, releases=100, monotonic=True).rows
    >>> row.names.right.value, row.estimates.overlap.value
    (1.0, 2.0)
    >>> round(row.measured_formula, 1), round(row.combined_formula, 1)
    (5.7, 4.6)
    >>> (row,) = plan(made_up, k=2, epsilons=1, releases=100, monotonic=True, domain=10**12).rows
    >>> row.names.empty.value, row.names.people_needed
    (0.0, 60)
    """
    releases = read_whole(releases, "releases", least=2)
    wholes = [
        TopK(k, epsilon, resolution=resolution, sensitivity=sensitivity, monotonic=monotonic)
        for epsilon in read_epsilons(epsilons)
    ]
    all_shares = [Shares.of(whole, selection_share) for whole in wholes]
    parameters = wholes[0]
    numbers, domain_size = _read_counts(counts, domain, parameters)
    if domain_size is not None and domain_size > len(numbers):
        _check_noise([*wholes, *(shares.selection for shares in all_shares)])
    public = PublicCounts.of(_shuffle(numbers), parameters, domain_size)
    done, all_of = 0, 2 * releases * len(wholes)

    def report(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress("simulating releases", done / all_of)

    rows = tuple(
        simulate(public, shares, whole, releases, report)
        for whole, shares in zip(wholes, all_shares, strict=True)
    )
    return Plan(
        k=parameters.k,
        items=len(numbers),
        resolution=parameters.resolution,
        sensitivity=parameters.sensitivity,
        monotonic=parameters.monotonic,
        selection_share=all_shares[0].selection.epsilon / parameters.epsilon,
        releases=releases,
        rows=rows,
        domain_size=domain_size,
    )


def _read_counts(
    counts: object, domain: object, parameters: TopK
) -> "tuple[Array | list[Any], int | None]":
    """Read the counts that take part, and how many items the domain has, if there is one."""
    if domain is None and isinstance(counts, Counts):
        domain = counts.domain
    if domain is not None and not is_whole(domain):
        found = find_participants(counts, None, domain, parameters)
        return found.numbers, None if found.domain is None else found.domain.size
    size = None if domain is None else read_size(domain)  # type: ignore[arg-type]
    if size is not None:
        check_domain_size(size, parameters.k)
    numbers, _ = read(counts)
    if size is None:
        check_enough(len(numbers), parameters.k)
    elif len(numbers) > size:
        raise DomainError("The domain has fewer items than there are counts; give its whole size.")
    return numbers, size


def _check_noise(all_parameters: Sequence[TopK]) -> None:
    if any(parameters.kernel is None for parameters in all_parameters):
        raise ParameterError(
            "A plan for a domain needs noise that the kernel's integers can hold; take larger "
            "values of epsilon or a coarser resolution."
        )
    if any(map(leaves_ties, all_parameters)):
        raise ParameterError(
            "With such small noise too many items of the domain would be equal; take smaller "
            "values of epsilon."
        )


def _shuffle(numbers: "Array | list[Any]") -> "Array | list[Any]":
    """Shuffle the counts: no probability changes, and the kernel is slower on sorted counts."""
    order = np.random.default_rng(0).permutation(len(numbers))
    return numbers[order] if isinstance(numbers, np.ndarray) else [numbers[i] for i in order]
