"""Does a release function keep its promise? Anyone can look, at ours or at their own.

    audit(function, …)                          against the exact law, and against ε: an Audit
    audit()                                     topgap itself, and what is broken on purpose
    Neighbours(answers, neighbour, parameters)  what it is audited on

An audit makes up its data, and what it tells is of the mechanism; it shows what is broken, and
never proves that something is not.
"""

from topgap.auditing.auditor import audit
from topgap.auditing.cases.neighbours import Neighbours, ReleaseFunction
from topgap.auditing.results.audit import Audit
from topgap.auditing.results.findings import Bound, LawCheck, MechanismAudit, Misfit
from topgap.errors import AuditError

__all__ = [
    "Audit",
    "AuditError",
    "Bound",
    "LawCheck",
    "MechanismAudit",
    "Misfit",
    "Neighbours",
    "ReleaseFunction",
    "audit",
]
