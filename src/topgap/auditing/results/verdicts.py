"""Verdicts in words, on each mechanism and on the whole audit."""

from collections.abc import Sequence

from topgap.auditing.results.findings import MechanismAudit


def describe_verdict(found: MechanismAudit) -> str:
    """The verdict on one mechanism, in a few words.

    Our own mechanisms are proved to be private, so they are called clean. Of a user's function the
    verdict says only that nothing was found, or that nothing could be.
    """
    if found.should_be != "private":
        return "broken, and found" if found.as_expected else "BROKEN, NOT FOUND"
    if found.privacy_violated:
        return "ε BROKEN"
    if found.law_violated:
        return "ANOTHER LAW"
    if not found.yours:
        return "clean"
    return "nothing found" if found.shows_anything else "too few releases to show anything"


def conclude(mechanisms: Sequence[MechanismAudit]) -> list[str]:
    """The conclusion of an audit: a sentence, or one for each kind of fault.

    Args:
        mechanisms: What was found of each mechanism.
    """
    private = [each for each in mechanisms if each.should_be == "private"]
    broken = [each for each in mechanisms if each.should_be != "private"]
    leaking = [each for each in private if each.privacy_violated]
    of_another_law = [each for each in private if each.law_violated and not each.privacy_violated]
    missed = [each for each in broken if not each.as_expected]
    said = []
    if leaking:
        said.append(f"ε BROKEN: {_join_names(leaking)}.")
    if of_another_law:
        said.append(f"ANOTHER LAW: {_join_names(of_another_law)}.{_explain_law(of_another_law)}")
    if missed:
        said.append(f"BROKEN BUT NOT FOUND: {_join_names(missed)}.")
    if said:
        return said
    releases = f"{count_private_releases(mechanisms):,} releases"
    if any(each.yours for each in private):
        if all(each.shows_anything for each in private):
            return [f"No violation found in {releases} (this is not a proof)."]
        return [f"{releases} are too few to show anything; run more."]
    found = f"; {len(broken)} of {len(broken)} broken on purpose were found" if broken else ""
    return [f"As expected: no violation found in {releases}{found}."]


def count_private_releases(mechanisms: Sequence[MechanismAudit]) -> int:
    """The number of releases of mechanisms that must be private."""
    return sum(each.releases for each in mechanisms if each.should_be == "private")


def _explain_law(found: Sequence[MechanismAudit]) -> str:
    """Explain another law, for a function that need not have the law of topgap."""
    if not all(each.yours for each in found):
        return ""
    return (
        " Its law is not topgap's; no violation of its ε was found. If it need not have that law, "
        "give --privacy-only (law=False)."
    )


def _join_names(found: Sequence[MechanismAudit]) -> str:
    return ", ".join(each.name for each in found)
