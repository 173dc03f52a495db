"""A list for each of many groups, with measured winners: `top_k_by_group_with_estimates`."""

from typing import Any, Literal, Unpack, overload

from topgap.estimates.grouped import GroupedEstimates
from topgap.estimates.noise import Noise
from topgap.grouped_parameters import TopKByGroup
from topgap.ledger.charging import LedgerLike, PendingCharge, prepare_charge
from topgap.numbers.parse import Number, read_flag
from topgap.parameters import Neighbours, TopK
from topgap.release.construction import pack_units
from topgap.selection.check import Check, describe_check
from topgap.selection.grouped_answers import PreparedGroups, read_groups
from topgap.selection.measurement import GroupedShares
from topgap.selection.options import GroupEstimatesOptions
from topgap.selection.top_k_by_group import build_release, draw_groups, read_winner_steps


@overload
def top_k_by_group_with_estimates(
    answers: object,
    k: int,
    epsilon: "Number",
    *,
    check: Literal[False] = False,
    **options: Unpack[GroupEstimatesOptions],
) -> GroupedEstimates: ...


@overload
def top_k_by_group_with_estimates(
    answers: object,
    k: int,
    epsilon: "Number",
    *,
    check: Literal[True],
    **options: Unpack[GroupEstimatesOptions],
) -> Check: ...


def top_k_by_group_with_estimates(
    answers: object,
    k: int,
    epsilon: "Number",
    *,
    selection_share: "Number" = "1/2",
    groups_per_person: int = 1,
    groups: object = None,
    by: object = None,
    item: object = None,
    count: object = None,
    resolution: "Number" = "1/10",
    sensitivity: "Number" = 1,
    monotonic: bool = False,
    items: object = None,
    domain: object = None,
    threads: int | None = None,
    constant_work: bool = False,
    ledger: "LedgerLike | None" = None,
    dataset: str | None = None,
    check: bool = False,
) -> GroupedEstimates | Check:
    """Name the k largest answers of each group under ε-differential privacy, and how many.

    A part of ε selects the winners of each group, as `topgap.top_k_by_group` does. The rest is for
    the measurements, as of `topgap.top_k_with_estimates`: each winner's answer, rounded down to a
    multiple of the resolution, plus discrete Laplace noise on such multiples.

    `epsilon` is the cost of all of it, for all groups together. With c = `groups_per_person`, each
    measurement gets the rest divided by c·k if the answers are monotonic. If they are not, ε holds
    between replace-one neighbours, too: a person can leave c groups and another can enter c others.
    Selections cost no more for that if each person moves all answers the same way, as counts do;
    otherwise give twice the c. Measurements cost twice, so each gets the rest divided by 2·c·k.

    Args:
        answers: The answers of each group; see `topgap.top_k_by_group`.
        k: How many winners are named and measured in each group.
        epsilon: The privacy loss ε of all of it.
        selection_share: The part of ε that selects; between 0 and 1.
        groups_per_person: c, in how many groups one person is at most; see `topgap.top_k_by_group`.
        groups: The public groups; see there.
        by: The column of a data frame with the groups; see there.
        item: Its column with the items.
        count: Its column with the answers.
        resolution: Gaps and measurements are multiples of this; one divided by an integer.
        sensitivity: How far one person can move any one answer; a multiple of the resolution.
        monotonic: Whether one person's arrival moves all answers the same way; see `topgap.top_k`.
        items: The names of the columns of an array.
        domain: The public items, which all take part in each group; see `topgap.top_k_by_group`.
        threads: How many groups are drawn at once; see there.
        constant_work: Whether the work is the same for any answers; see there.
        ledger: The budget ledger, charged once with all of ε; see `topgap.top_k`.
        dataset: The data set in it.
        check: Read and check everything, and stop; see `topgap.top_k`.

    Returns:
        A mapping from each group to its `Estimates`. With `check`, a `Check`.

    Raises:
        ParameterError, ParameterTypeError, AnswersError: As of `topgap.top_k_by_group`.
        AnswersTypeError, ItemsError, DomainError: As of `topgap.top_k_by_group`.
        BudgetExceeded, LedgerError, KernelError: As of `topgap.top_k_by_group`.

    >>> regions = {"North": {"flu": 10**9, "cold": 0}, "South": {"flu": 0, "cold": 10**6}}
    >>> made = top_k_by_group_with_estimates(regions, k=1, epsilon=1, monotonic=True)
    >>> [(region, item, round(count, -3)) for region in made for item, count in made[region]]
    [('North', 'flu', 1000000000.0), ('South', 'cold', 1000000.0)]
    >>> made.release.epsilon, made.noise.epsilon, made.epsilon
    (Fraction(1, 2), Fraction(1, 2), Fraction(1, 1))
    """
    whole = TopKByGroup(
        k, epsilon, groups_per_person=groups_per_person, resolution=resolution,
        sensitivity=sensitivity, monotonic=monotonic,
    )  # fmt: skip
    shares, check = GroupedShares.of(whole, selection_share), read_flag(check, "check")
    pending = prepare_charge_for_groups(
        ledger, dataset, "topgap.top_k_by_group_with_estimates", whole, shares
    )
    data = read_groups(
        shares.selection, answers, groups=groups, by=by, item=item, count=count, items=items,
        domain=domain, threads=threads, constant_work=constant_work,
    )  # fmt: skip
    pending.note_groups(len(data.groups))
    if check:
        return describe_check(
            TopK(**{**whole.each.to_dict(), "epsilon": shares.each.epsilon}), pending, data.size,
            data.count_occurring(), measured=True, domain_from_data=data.domain_from_data,
            by=whole, groups=len(data.groups),
        )  # fmt: skip
    return estimate_groups(shares, data, pending)


def prepare_charge_for_groups(
    ledger: "LedgerLike | None",
    dataset: str | None,
    mechanism: str,
    whole: TopKByGroup,
    shares: GroupedShares,
    stated: Neighbours | None = None,
    **more: Any,
) -> PendingCharge:
    """How the estimates of all groups with these shares of the whole are charged.

    Raises:
        ParameterError, ParameterTypeError, BudgetExceeded, LedgerError: As of `topgap.top_k`.
    """
    return prepare_charge(
        ledger, dataset, mechanism, whole, stated,
        selection_epsilon=str(shares.selection.epsilon),
        measurement_epsilon=str(shares.measurement_epsilon),
        **more,
    )  # fmt: skip


def estimate_groups(
    shares: GroupedShares, data: PreparedGroups, pending: PendingCharge
) -> GroupedEstimates:
    """The estimates of prepared groups, with these shares of ε, charged in this way."""
    # Before, for nothing may go wrong after the winners have been drawn.
    noise = Noise.for_one_winner(shares.selection.each, shares.measurement_epsilon)
    return pending.charge_then_run(lambda: _select_and_measure(shares, data, noise))


def _select_and_measure(
    shares: GroupedShares, data: PreparedGroups, noise: Noise
) -> GroupedEstimates:
    drawn = draw_groups(shares.selection, data)
    steps = read_winner_steps(shares.selection, data, drawn)
    measured = pack_units(shares.each.add_noise(steps))
    release = build_release(shares.selection, data, drawn, gaps=True)
    return GroupedEstimates.from_mechanism(release, measured, noise)
