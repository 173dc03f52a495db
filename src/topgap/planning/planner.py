"""The public function `plan`."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from topgap.errors import ParameterError, ParameterTypeError
from topgap.numbers.parse import Number, read_parameter, read_whole
from topgap.parameters import TopK
from topgap.planning.public_counts import PublicCounts
from topgap.planning.result import Plan
from topgap.planning.simulation import simulate
from topgap.selection.answers import Array, check_enough, read
from topgap.selection.measurement import Shares

Progress = Callable[[str, float | None], None]
"""Called with what is being done and the share of it that is done."""

EPSILONS = ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10")
"""The default values of ε."""

RELEASES = 10_000
_FARTHEST = 10**100


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
        progress: Called now and then with what is being done and the share of it that is done.

    Returns:
        For each ε: the probability that the list is right, and in the right order; how many of the
        named are among the k largest; the error of the winners' counts, with and without the gaps.

    Raises:
        ParameterError, ParameterTypeError: A parameter cannot be used; the sentence says why.
        AnswersError, AnswersTypeError: The counts cannot be used, as of `topgap.top_k`.

    >>> made_up = {"ash": 10**6, "elm": 0, "oak": 10**5}
    >>> (row,) = plan(made_up, k=2, epsilons=1, releases=100, monotonic=True).rows
    >>> row.names.right.value, row.estimates.overlap.value
    (1.0, 2.0)
    >>> round(row.measured_formula, 1), round(row.combined_formula, 1)
    (5.7, 4.6)
    """
    releases = read_whole(releases, "releases", least=2)
    wholes = [
        TopK(k, epsilon, resolution=resolution, sensitivity=sensitivity, monotonic=monotonic)
        for epsilon in _read(epsilons)
    ]
    all_shares = [Shares.of(whole, selection_share) for whole in wholes]
    parameters = wholes[0]
    numbers, _ = read(counts)
    check_enough(len(numbers), parameters.k)
    public = PublicCounts.of(_shuffle(numbers), parameters)
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
        items=len(public.numbers),
        resolution=parameters.resolution,
        sensitivity=parameters.sensitivity,
        monotonic=parameters.monotonic,
        selection_share=all_shares[0].selection.epsilon / parameters.epsilon,
        releases=releases,
        rows=rows,
    )


def _read(epsilons: "Number | Iterable[Number]") -> list[Fraction]:
    """Read the values of ε, each once, from the smallest up."""
    try:
        single = isinstance(epsilons, str) or getattr(epsilons, "ndim", 1) == 0
        listed = [epsilons] if single or not isinstance(epsilons, Iterable) else [*epsilons]
    except Exception:  # an iterable may fail in any way
        raise ParameterTypeError("epsilons must be numbers in a list that can be read.") from None
    read = sorted({read_parameter(each, "epsilon") for each in listed})  # type: ignore[arg-type]
    if not read:
        raise ParameterError("epsilons must have a value of ε to plan for.")
    if max(read[-1], 1 / read[0]) > _FARTHEST:
        raise ParameterError("epsilon must lie between 1e-100 and 1e100 to be planned for.")
    return read


def _shuffle(numbers: "Array | list[Any]") -> "Array | list[Any]":
    """Shuffle the counts: no probability changes, and the kernel is slower on sorted counts."""
    order = np.random.default_rng(0).permutation(len(numbers))
    return numbers[order] if isinstance(numbers, np.ndarray) else [numbers[i] for i in order]
