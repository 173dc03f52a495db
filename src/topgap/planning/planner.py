"""The public function `plan`."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain

from topgap.numbers.parse import Number, read_whole
from topgap.parameters import TopK
from topgap.planning.bounded_counts import read_bounds
from topgap.planning.input_counts import InputCounts
from topgap.planning.progress import Progress, count_releases
from topgap.planning.public_counts import PublicCounts
from topgap.planning.result import Plan
from topgap.planning.simulation import simulate, simulate_bound
from topgap.planning.validation import EPSILONS, check_noise, read_epsilons
from topgap.selection.measurement import Shares

RELEASES = 10_000
RELEASES_WITH_BOUNDS = 2_000


def plan(
    counts: object,
    k: int,
    epsilons: "Number | Iterable[Number]" = EPSILONS,
    *,
    releases: int | None = None,
    selection_share: "Number" = "1/2",
    resolution: "Number | None" = None,
    sensitivity: "Number" = 1,
    monotonic: bool = False,
    domain: object = None,
    items_per_person: object = None,
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
            Default: 10,000, and 2,000 with contribution bounds, which are kinds of their own.
        selection_share: The part of ε that selects where counts are released too, as in
            `topgap.top_k_with_estimates`; between 0 and 1.
        resolution: Gaps and measurements are multiples of this; one divided by an integer. Default:
            1/10, and 1 with a contribution bound, as of `topgap.TopK`.
        sensitivity: How far one person can move any one count; a multiple of the resolution.
        monotonic: Whether one person's arrival moves all counts the same way; see `topgap.top_k`.
        domain: The domain of the releases that are planned: what `topgap.top_k` takes, whose
            members take part, those without a count with 0; or the size of a domain that has all
            items of the counts, as an int.
        items_per_person: Contribution bounds to compare: one L or several, where `topgap.top_k`
            with `items_per_person=L` is planned beside the others. Counts do not say what a bound
            leaves out, so that is missing in the figures; to have it there, give a dict from each L
            to the counts of at most L items of each person, as `topgap.counting` makes them from
            public events by `items_per_person=L`.
        progress: Called now and then with what is being done and the share of it that is done.

    Returns:
        For each ε: the probability that the list is right, and in the right order; how many of the
        named are among the k largest; the error of the winners' counts, with and without the gaps.
        With a domain also how many of the named nobody has, and how many people an item needs. With
        contribution bounds, for each of them the same of such lists, and the errors of the counts.

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
    >>> kept = {"ash": 900_000, "elm": 0, "oak": 10**5}   # of each person the first kind of tree
    >>> (row,) = plan(made_up, k=2, epsilons=1, releases=100, items_per_person={1: kept}).rows
    >>> (bound,) = row.bounds
    >>> bound.noise, bound.lists.right.value, round(bound.errors.bias.value, -2)
    ('laplace', 1.0, -50000.0)
    """
    exact = read_epsilons(epsilons)
    bounds, bounded_counts = read_bounds(items_per_person)
    if releases is None:
        releases = RELEASES_WITH_BOUNDS if bounds else RELEASES
    releases = read_whole(releases, "releases", least=2)

    def list_parameters(bound: int | None) -> list[TopK]:
        return [
            TopK(
                k, epsilon, resolution=resolution, sensitivity=sensitivity, monotonic=monotonic,
                items_per_person=bound,
            )
            for epsilon in exact
        ]  # fmt: skip

    wholes, bounded = list_parameters(None), [*map(list_parameters, bounds)]
    all_shares = [Shares.of(whole, selection_share) for whole in wholes]
    parameters = wholes[0]
    inputs = InputCounts.read(counts, domain, bounded_counts, parameters)
    if inputs.unlisted:
        selections = (shares.selection for shares in all_shares)
        check_noise([*wholes, *selections, *chain(*bounded)])
    public = PublicCounts.of(inputs.shuffle(), parameters, inputs.domain_size)
    kept = [
        inputs.prepare_bound(bound, public, first)[1]
        for bound, (first, *_) in zip(bounds, bounded, strict=True)
    ]
    report = count_releases(progress, (2 + len(bounds)) * releases * len(wholes))
    rows = []
    for place, whole in enumerate(wholes):
        row = simulate(public, all_shares[place], whole, releases, report)
        bound_rows = (
            simulate_bound(public, each, of_bound[place], releases, report)
            for each, of_bound in zip(kept, bounded, strict=True)
        )
        rows.append(replace(row, bounds=tuple(bound_rows)))
    return Plan(
        k=parameters.k,
        items=len(inputs.numbers),
        resolution=parameters.resolution,
        sensitivity=parameters.sensitivity,
        monotonic=parameters.monotonic,
        selection_share=all_shares[0].selection.epsilon / parameters.epsilon,
        releases=releases,
        rows=tuple(rows),
        domain_size=inputs.domain_size,
        is_truncated=bounded_counts is not None,
    )
