"""The public function `plan_threshold`."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import product

from topgap.numbers.parse import Number, read_whole
from topgap.parameters import TopK
from topgap.planning.bounded_counts import Floats, Numbers, read_bounds
from topgap.planning.input_counts import InputCounts
from topgap.planning.progress import Progress, count_releases
from topgap.planning.public_counts import PublicCounts
from topgap.planning.threshold_advice import advise
from topgap.planning.threshold_counts import ShouldBeNamed, ThresholdCounts
from topgap.planning.threshold_result import ThresholdPlan
from topgap.planning.threshold_rows import ThresholdRow
from topgap.planning.threshold_simulation import simulate_threshold
from topgap.planning.validation import EPSILONS, check_noise, read_epsilons, read_thresholds
from topgap.selection.answers import check_enough

RELEASES = 2_000


def plan_threshold(
    counts: object,
    k: int,
    thresholds: "Number | Iterable[Number]",
    epsilons: "Number | Iterable[Number]" = EPSILONS,
    *,
    releases: int = RELEASES,
    resolution: "Number | None" = None,
    sensitivity: "Number" = 1,
    monotonic: bool = False,
    domain: object = None,
    items_per_person: object = None,
    progress: Progress | None = None,
) -> ThresholdPlan:
    """Simulate releases with a threshold: what is named, what it costs, how far off counts are.

    **The counts must be public or made up**, as for `topgap.plan`. The thresholds must be public,
    too: choose them from these counts, and never from those that are to be protected.

    Args:
        counts: One number per item, public or made up; see `topgap.top_k` for what may hold them.
        k: How many items are named at most.
        thresholds: The thresholds to compare, or a single one; items above it are named.
        epsilons: The values of the privacy loss ε to plan for, or a single one.
        releases: The number of simulated releases for each ε, threshold and bound; at least 2.
        resolution: Gaps are multiples of this; one divided by an integer. Default: 1/10, and 1 with
            Laplace noise, as of `topgap.TopK`.
        sensitivity: How far one person can move any one count; a multiple of the resolution.
        monotonic: Whether one person's arrival moves all counts the same way; see `topgap.top_k`.
        domain: The domain of the releases that are planned, or its size; see `topgap.plan`.
        items_per_person: Contribution bounds to compare with none, or a dict from each to the
            counts with it; see `topgap.plan`.
        progress: Called now and then with what is being done and the share of it that is done.

    Raises:
        ParameterError, ParameterTypeError: A parameter cannot be used; the sentence says why.
        AnswersError, AnswersTypeError, ItemsError: The counts cannot be used, as of `topgap.top_k`.
            With a bound less than k there must be more than k items.
        DomainError: The domain cannot be used, or is smaller than there are counts.

    >>> made_up = {"ash": 10**6, "elm": 0, "oak": 10**5, "yew": 90}
    >>> (row,) = plan_threshold(
    ...     made_up, 4, thresholds=5_000, epsilons=1, releases=100, monotonic=True).rows
    >>> row.named.value, row.spent.value, round(row.margin, 2), round(row.deviation, 2)
    (2.0, 0.75, 9.21, 5.66)
    """
    exact, ts = read_epsilons(epsilons), read_thresholds(thresholds)
    bounds, bounded_counts = read_bounds(items_per_person)
    releases = read_whole(releases, "releases", least=2)
    by_bound = {
        bound: {
            (epsilon, t): TopK(
                k, epsilon, resolution=resolution, sensitivity=sensitivity, monotonic=monotonic,
                items_per_person=bound, threshold=t,
            )
            for epsilon, t in product(exact, ts)
        }
        for bound in (None, *bounds)
    }  # fmt: skip
    parameters = by_bound[None][exact[0], ts[0]]
    inputs = InputCounts.read(counts, domain, bounded_counts, parameters)
    if any(bound < k for bound in bounds):  # the kernel draws more items than it names
        check_enough(len(inputs.numbers) + inputs.unlisted, k)
    whole = inputs.shuffle()
    public = PublicCounts.of(whole, parameters, inputs.domain_size)
    kept: dict[int | None, tuple[Numbers, Floats | None]] = {None: (whole, None)}
    for bound in bounds:
        numbers, own = inputs.prepare_bound(bound, public, by_bound[bound][exact[0], ts[0]])
        kept[bound] = numbers, own.missing

    def prepare(bound: int | None, epsilon: Fraction, t: Fraction) -> ThresholdCounts:
        numbers, missing = kept[bound]
        return ThresholdCounts.of(numbers, by_bound[bound][epsilon, t], inputs.domain_size, missing)

    if inputs.unlisted:
        check_noise([prepare(*each).drawn for each in product(by_bound, exact, ts)])
    truths = [ShouldBeNamed.of(whole, by_bound[None][exact[0], t], inputs.domain_size) for t in ts]
    report = count_releases(progress, releases * len(exact) * len(ts) * len(by_bound))

    def simulate() -> Iterator[ThresholdRow]:
        for epsilon in exact:
            for t, truth in zip(ts, truths, strict=True):
                for bound in by_bound:
                    counts = prepare(bound, epsilon, t)
                    yield simulate_threshold(counts, truth, releases, report)

    return ThresholdPlan(
        k=parameters.k,
        items=len(inputs.numbers),
        resolution=parameters.resolution,
        sensitivity=parameters.sensitivity,
        monotonic=parameters.monotonic,
        releases=releases,
        rows=tuple(simulate()),
        advice=advise([prepare(None, exact[0], t) for t in ts], [truth.count for truth in truths]),
        domain_size=inputs.domain_size,
        is_truncated=bounded_counts is not None,
    )
