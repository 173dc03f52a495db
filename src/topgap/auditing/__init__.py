"""Audits of release functions, of this package or of a user.

    audit(function, …)                          compares it with the exact law and with its ε
    audit()                                     audits topgap, and mechanisms broken on purpose
    Neighbours(answers, neighbour, parameters)  a pair of data sets to audit on

An audit uses made-up data, so its result is not private. It can find a violation; it cannot prove
that there is none.

The way of the data: `auditor` runs `mechanisms` on `cases`; `observing` makes the releases and
counts what an observer sees; `checks` compares the counts with the law and bounds ε, with the
mathematics of `probability`; `results` holds and shows what was found. `attacks` plays guessing
games against known mechanisms.
"""

from topgap.auditing.auditor import audit
from topgap.auditing.cases.neighbours import Cost, Neighbours, ReleaseFunction
from topgap.auditing.results.audit import Audit
from topgap.auditing.results.findings import Bound, LawCheck, MechanismAudit, Misfit
from topgap.errors import AuditError

__all__ = [
    "Audit",
    "AuditError",
    "Bound",
    "Cost",
    "LawCheck",
    "MechanismAudit",
    "Misfit",
    "Neighbours",
    "ReleaseFunction",
    "audit",
]
