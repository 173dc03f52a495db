"""The public function `audit`: makes releases, checks them and collects the results."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from topgap.auditing.cases.default_cases import FULL_CASES, QUICK_CASES
from topgap.auditing.cases.neighbours import Cost, Neighbours, ReleaseFunction, read_cases
from topgap.auditing.checks import epsilon_bounds, law_test
from topgap.auditing.mechanisms.suite import Mechanism, make_broken, make_own
from topgap.auditing.observing.gap_bins import make_gap_bins
from topgap.auditing.observing.observables import Tally
from topgap.auditing.observing.sampling import Task, sample
from topgap.auditing.results.audit import Audit
from topgap.auditing.results.findings import Bound, LawCheck, MechanismAudit
from topgap.errors import ParameterError, ParameterTypeError
from topgap.numbers.parse import Number, read_flag, read_parameter, read_whole
from topgap.parameters import TopK

Progress = Callable[[str, float | None], None]
"""Called with what is being done and the share of it that is done."""

FAILURE = "1e-9"
_SMALLEST_FAILURE = Fraction(1, 10**200)  # a tail is never taken for less than e^−700
_RELEASES = {False: 10_000_000, True: 300_000}
_RELEASES_OF_YOURS = {False: 400_000, True: 40_000}
_RELEASES_OF_BROKEN = 20_000
_ROUNDS = (1, 3, 10)  # factors of the releases; a further round only if nothing was found
LEAST_RELEASES = 1_000
_SELECTION_DIVISOR = 5  # one release in 5 serves to choose events


def audit(
    function: ReleaseFunction | None = None,
    *,
    cases: Iterable[Neighbours] | None = None,
    releases: int | None = None,
    failure: "Number" = FAILURE,
    gaps: bool = True,
    law: bool = True,
    cost: Cost | None = None,
    quick: bool = False,
    processes: int = 1,
    progress: Progress | None = None,
) -> Audit:
    """Compare a release function with the exact law and with the ε that it promises.

    Without a function, topgap itself is audited in all its forms, together with mechanisms that are
    broken on purpose and must all be found.

    An audit checks two things. *The law*: the frequencies of winners, of ranges of gaps and, with
    Laplace noise, of ranges of noisy values, against their exact probabilities. *Privacy*: how well
    an event, chosen on other releases, distinguishes two neighbouring data sets; Clopper–Pearson
    bounds turn its frequencies into a lower bound of ε. A function with another law may still be
    private, so the two results are separate.

    Args:
        function: Called with answers, a tuple of ints, and parameters, a `TopK`. It returns a
            `topgap.Release`, k pairs (index, gap) with gaps as int, Fraction, float or Decimal, k
            triples (index, gap, noisy value) where the parameters ask for Laplace noise, or k
            indices if `gaps` is False; with a threshold k or fewer. All bounds assume that its
            calls are independent.
        cases: The pairs of neighbours to audit on. Default: a grid of small ones.
        releases: The approximate number of releases of the function. Without a function: of our own
            mechanisms together, each of which makes at least 6,000; each broken one makes 20,000.
        failure: The largest probability of a false positive, over the whole audit.
        gaps: Whether the function releases gaps.
        law: Whether the function must also have the law of topgap.
        cost: What it says that an output cost, from the parameters and the number of winners. This
            is a promise of its own, for outputs with so many winners. Default: `TopK.cost`, which
            is ε, or less if a threshold ended the list early.
        quick: Whether to make fewer releases on fewer cases.
        processes: The number of processes. With more than 1, a script must call this under
            `if __name__ == "__main__"`. A function that other processes cannot import by its name
            runs in this process alone. So does one that makes the same releases in two processes,
            for instance because its module sets a seed.
        progress: Called now and then with what is being done and the share of it that is done.

    Returns:
        What was found; `as_expected` is True if there is no surprise.

    Raises:
        ParameterError, ParameterTypeError: A parameter cannot be used; the sentence says why.
        AuditError: The function raised an error, which is this one's cause.
        ReleaseError: The function returned something that is not a release.

    >>> from topgap import TopK
    >>> pair = Neighbours((1, 0), (0, 0), TopK(k=1, epsilon=1, resolution=1))
    >>> noiseless = audit(lambda answers, p: [(0, answers[0])], cases=[pair], releases=2_000)
    >>> noiseless.as_expected, noiseless.mechanisms[0].privacy_violated
    (False, True)
    """
    promised = read_failure(failure)
    law, quick = read_flag(law, "law"), read_flag(quick, "quick")
    if releases is not None:
        releases = read_whole(releases, "releases", least=LEAST_RELEASES)
    processes = read_whole(processes, "processes", least=1)
    if function is None:
        if cases is not None or not read_flag(gaps, "gaps") or not law or cost is not None:
            raise ParameterError(
                "cases, gaps, law and cost are for a function of your own; give one."
            )
        own = make_own(releases or _RELEASES[quick], quick=quick)
        mechanisms: Sequence[Mechanism] = (*own, *make_broken(_RELEASES_OF_BROKEN))
    else:
        if isinstance(function, type):
            raise ParameterTypeError(
                f"{function.__qualname__} is a class; name a function or an object."
            )
        if not callable(function):
            raise ParameterTypeError(
                f"function must be a function of answers and parameters, not "
                f"{type(function).__name__}."
            )
        chosen_cases = (
            (QUICK_CASES if quick else FULL_CASES) if cases is None else read_cases(cases)
        )
        number = releases or _RELEASES_OF_YOURS[quick]
        name = str(getattr(function, "__qualname__", type(function).__name__))
        mechanisms = (
            Mechanism(name, "Your function.", function, read_flag(gaps, "gaps"),
                      chosen_cases, number, law=law, yours=True, cost=_read_cost(cost)),
        )  # fmt: skip
    return audit_mechanisms(mechanisms, promised, processes, progress)


def _read_cost(cost: Cost | None) -> Cost:
    if cost is not None and not callable(cost):
        raise ParameterTypeError(
            f"cost must be a function of parameters and a number of winners, not "
            f"{type(cost).__name__}."
        )
    return TopK.cost if cost is None else cost


def read_failure(failure: "Number") -> Fraction:
    """Read the failure probability exactly.

    Raises:
        ParameterError, ParameterTypeError: It is not a probability below 1, or it is so small that
            no tail, which is a float, could be below it.

    >>> read_failure("1e-9")
    Fraction(1, 1000000000)
    """
    read = read_parameter(failure, "failure")
    if read >= 1:
        raise ParameterError("failure must be a probability below 1, such as 1e-9.")
    if read < _SMALLEST_FAILURE:
        raise ParameterError(
            "failure must be at least 1e-200; nothing can be shown with a smaller one."
        )
    return read


def audit_mechanisms(
    mechanisms: Sequence[Mechanism],
    failure: Fraction,
    processes: int,
    progress: Progress | None = None,
) -> Audit:
    """Audit these mechanisms; all binomial tails get equal parts of the failure probability."""
    for mechanism in mechanisms:
        epsilon_bounds.check_cost(mechanism.cases, mechanism.cost)
    tails = sum(_count_tails(each) * len(_rounds(each)) for each in mechanisms)
    level = failure / tails
    found = _audit_once(mechanisms, level, processes, progress)
    for more in _ROUNDS[1:]:
        again = {
            number: each._replace(releases=more * each.releases)
            for number, each in enumerate(mechanisms)
            if more in _rounds(each) and not found[number].as_expected
        }
        longer = _audit_once([*again.values()], level, processes, progress)
        for number, each in zip(again, longer, strict=True):
            found[number] = replace(each, releases=found[number].releases + each.releases)
    return Audit(tuple(found), failure, tails)


def _rounds(mechanism: Mechanism) -> Sequence[int]:
    """The rounds of a mechanism: a broken one that is not found gets more, with their own tails."""
    return _ROUNDS[:1] if mechanism.should_be == "private" else _ROUNDS


def _audit_once(
    mechanisms: Sequence[Mechanism], level: Fraction, processes: int, progress: Progress | None
) -> list[MechanismAudit]:
    tasks = [task for number, each in enumerate(mechanisms) for task in _make_tasks(number, each)]
    done, all_of = 0, sum(task.releases for task in tasks)

    def report(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress("making releases", done / all_of)

    tallies = sample(tasks, processes, report)
    found = []
    for number, each in enumerate(mechanisms):
        if progress is not None:
            progress("judging them", number / len(mechanisms))
        found.append(_evaluate(number, each, tallies, level))
    return found


def _count_tails(mechanism: Mechanism) -> int:
    gaps = mechanism.gaps
    return sum(
        epsilon_bounds.count_tails(case, gaps=gaps)
        + (law_test.count_tails(case, gaps=gaps) if mechanism.law else 0)
        for case in mechanism.cases
    )


def _make_tasks(number: int, mechanism: Mechanism) -> list[Task]:
    """For each side of each case: releases that choose events, and others that measure them."""
    each_side = max(_SELECTION_DIVISOR, mechanism.releases // (2 * len(mechanism.cases)))
    learnt = each_side // _SELECTION_DIVISOR
    return [
        Task(
            (number, at, side, part), mechanism.release, answers, case.parameters,
            mechanism.gaps, make_gap_bins(case), releases,
        )
        for at, case in enumerate(mechanism.cases)
        for side, answers in enumerate(case.sides)
        for part, releases in enumerate((learnt, each_side - learnt))
    ]  # fmt: skip


def _evaluate(
    number: int, mechanism: Mechanism, tallies: dict[tuple[int, ...], Tally], level: Fraction
) -> MechanismAudit:
    checks: list[LawCheck] = []
    bounds: list[Bound] = []
    releases = 0
    gaps = mechanism.gaps
    for at, case in enumerate(mechanism.cases):
        learnt, measured = ([tallies[number, at, side, part] for side in (0, 1)] for part in (0, 1))
        both = [a + b for a, b in zip(learnt, measured, strict=True)]
        releases += sum(each.releases for each in both)
        bounds += epsilon_bounds.bound_epsilon(
            case, learnt, measured, level, gaps=gaps, cost=mechanism.cost
        )
        if mechanism.law:
            checks += law_test.check_law(case, both, level, gaps=gaps)
    return MechanismAudit(
        name=mechanism.name,
        what=mechanism.what,
        should_be=mechanism.should_be,
        releases=releases,
        laws=tuple(checks),
        bounds=tuple(bounds),
        gaps=gaps,
        yours=mechanism.yours,
    )
