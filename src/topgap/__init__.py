"""Which k items are the largest, and by how much, under pure ε-differential privacy.

    top_k(answers, k, epsilon, …)         the k largest and the gaps between them: a Release
    top_k_by_group(answers, k, …)         the same for each of many groups, for one ε
    noisy_max(answers, epsilon, …)        only the largest
    select(TopK(k, epsilon, …), answers)  the same, with parameters that are read once
    Selector(TopK(k, epsilon, …))         the same, from answers that come in parts
    Monitor(threshold, answers, …)        which of the answers that come one at a time are above it
    top_k_events(source, k, epsilon, …)   from a table of events: count, and release
    top_k_events_with_estimates(…)        the same, and how many
    top_k_with_estimates(answers, k, …)   how many, too: Estimates of the winners' own answers
    top_k_by_group_with_estimates(…)      both: a list for each group, and how many
    estimate(release, measurements, …)    the same from measurements that were made elsewhere
    plan(counts, k, epsilons, …)          before: what to expect of it, from public counts: a Plan
    topgap.streams                        precomputed counts of any number, in one pass
    topgap.spark                          the same on a Spark cluster
    topgap.opendp                         the same as a Measurement of OpenDP
    audit(function, …)                    any release function, against the law and ε: an Audit
    Ledger(path)                          adds up the ε of all releases, and enforces a total
    Domain                                the public items: a list, range, pattern, product
    topgap.counting                       how many persons have each item, from events in any form
    topgap.report                         a release as a page to publish
    topgap.datasets                       public data sets, and made-up baskets, to try it on
    topgap.reference                      the paper's algorithms, in plain Python
    topgap.law                            the exact probability of every possible output
    topgap.margins                        what the gaps say: leads, and which order is uncertain

The guarantee holds on a real computer: integers and exact fractions lead from answers to gaps.

What is named here is public, and so is what `__all__` of the modules named here lists. All else is
internal: `topgap.numbers`, `sampling`, `selection`, `display`, `sources` and the modules beneath.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from topgap.errors import (
    AnswersError,
    AnswersTypeError,
    AuditError,
    BudgetExceeded,
    ChargeMissingError,
    DatasetError,
    DomainError,
    DomainWarning,
    EstimatesError,
    ItemsError,
    KernelError,
    LargeEpsilonWarning,
    LedgerError,
    LedgerWarning,
    MissingExtraError,
    MonitorError,
    OutputError,
    ParameterError,
    ParameterTypeError,
    ReleaseError,
    SelectorError,
    SourceError,
    SparkError,
    TopgapError,
)

if TYPE_CHECKING:
    from topgap import (
        auditing,
        counting,
        datasets,
        law,
        margins,
        opendp,
        planning,
        reference,
        report,
        spark,
        streams,
    )
    from topgap._core import __version__
    from topgap.auditing import Audit, audit
    from topgap.domains import Domain
    from topgap.estimates import Estimates, GroupedEstimates, estimate
    from topgap.events.top_k_events import top_k_events, top_k_events_with_estimates
    from topgap.grouped_parameters import TopKByGroup
    from topgap.ledger import Ledger
    from topgap.numbers.parse import Number
    from topgap.parameters import TopK
    from topgap.planning import Plan, plan
    from topgap.release import GroupedRelease, Release
    from topgap.selection.check import Check
    from topgap.selection.mechanism import noisy_max, select, top_k
    from topgap.selection.monitor import Monitor
    from topgap.selection.selector import Selector
    from topgap.selection.sparse_vector import SparseVector
    from topgap.selection.top_k_by_group import top_k_by_group
    from topgap.selection.top_k_by_group_with_estimates import top_k_by_group_with_estimates
    from topgap.selection.top_k_with_estimates import top_k_with_estimates

# The command imports this before it can handle signals, so all but the errors waits for its use.
_MODULES = frozenset(
    {
        "auditing",
        "counting",
        "datasets",
        "law",
        "margins",
        "opendp",
        "planning",
        "reference",
        "report",
        "spark",
        "streams",
    }
)
_MODULE_OF = {
    "Audit": "auditing",
    "Check": "selection.check",
    "Domain": "domains",
    "Estimates": "estimates",
    "GroupedEstimates": "estimates",
    "GroupedRelease": "release",
    "Ledger": "ledger",
    "Monitor": "selection.monitor",
    "Number": "numbers.parse",
    "Plan": "planning",
    "Release": "release",
    "Selector": "selection.selector",
    "SparseVector": "selection.sparse_vector",
    "TopK": "parameters",
    "TopKByGroup": "grouped_parameters",
    "__version__": "_core",
    "audit": "auditing",
    "estimate": "estimates",
    "noisy_max": "selection.mechanism",
    "plan": "planning",
    "select": "selection.mechanism",
    "top_k": "selection.mechanism",
    "top_k_by_group": "selection.top_k_by_group",
    "top_k_by_group_with_estimates": "selection.top_k_by_group_with_estimates",
    "top_k_events": "events.top_k_events",
    "top_k_events_with_estimates": "events.top_k_events",
    "top_k_with_estimates": "selection.top_k_with_estimates",
}

__all__ = [
    "AnswersError",
    "AnswersTypeError",
    "Audit",
    "AuditError",
    "BudgetExceeded",
    "ChargeMissingError",
    "Check",
    "DatasetError",
    "Domain",
    "DomainError",
    "DomainWarning",
    "Estimates",
    "EstimatesError",
    "GroupedEstimates",
    "GroupedRelease",
    "ItemsError",
    "KernelError",
    "LargeEpsilonWarning",
    "Ledger",
    "LedgerError",
    "LedgerWarning",
    "MissingExtraError",
    "Monitor",
    "MonitorError",
    "Number",
    "OutputError",
    "ParameterError",
    "ParameterTypeError",
    "Plan",
    "Release",
    "ReleaseError",
    "Selector",
    "SelectorError",
    "SourceError",
    "SparkError",
    "SparseVector",
    "TopK",
    "TopKByGroup",
    "TopgapError",
    "__version__",
    "audit",
    "auditing",
    "counting",
    "datasets",
    "estimate",
    "law",
    "margins",
    "noisy_max",
    "opendp",
    "plan",
    "planning",
    "reference",
    "report",
    "select",
    "spark",
    "streams",
    "top_k",
    "top_k_by_group",
    "top_k_by_group_with_estimates",
    "top_k_events",
    "top_k_events_with_estimates",
    "top_k_with_estimates",
]


def __getattr__(name: str) -> Any:
    """Load what is asked for, and keep it."""
    if name in _MODULES:
        return import_module(f"topgap.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'topgap' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(f"topgap.{_MODULE_OF[name]}"), name)
    return value


def __dir__() -> list[str]:
    """What is public, also what is not loaded yet."""
    return __all__
