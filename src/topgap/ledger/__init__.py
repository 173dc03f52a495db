"""The budget ledger: what was spent of each data set's total ε, in one SQLite file.

    Ledger(path)                              the file, which many processes may use at once
    ledger.add_dataset(name, epsilon)         a data set and its total, set once
    ledger.charge(dataset, epsilon, …)        spend some of it, or `BudgetExceeded`: a Charge
    ledger.record(charge, result)             what came of it
    ledger.budget(dataset), ledger.budgets()  what is spent and what is left
    ledger.history()                          all charges
    ledger.verify()                           whether anything was edited, deleted or reordered

Calls that release take `ledger=` and `dataset=` and do it themselves: they charge before the first
random bit is drawn, record the result, and settle the charge if the output cost less than its ε. By
basic composition the loss of all releases is at most the sum of their ε, or of what their outputs
cost, which is exact here and never more than the total. It is so between the
neighbouring data sets that were named with the total; by default, with one person more or less.
"""

from typing import TYPE_CHECKING, Any

from topgap.errors import MissingExtraError
from topgap.ledger.models import Budget, Charge, Quote, Verification

if TYPE_CHECKING:
    from topgap.ledger.ledger import Ledger

__all__ = ["Budget", "Charge", "Ledger", "Quote", "Verification"]


def __getattr__(name: str) -> Any:
    """Load `Ledger` when it is used: a Python without sqlite3 can release without it."""
    if name != "Ledger":
        raise AttributeError(f"module 'topgap.ledger' has no attribute '{name}'")
    try:
        import sqlite3 as _  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "A ledger needs sqlite3, which this Python was built without."
        ) from None
    from topgap.ledger.ledger import Ledger

    globals()["Ledger"] = Ledger
    return Ledger


def __dir__() -> list[str]:
    """Return the public names, also of what is not loaded yet."""
    return __all__
