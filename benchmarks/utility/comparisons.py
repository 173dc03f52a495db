"""Tables of how topgap compares with the simulated laws, and the libraries with theirs."""

from benchmarks.pages import format_table
from benchmarks.utility.libraries import WAYS
from benchmarks.utility.results import Case, Figures, peer_error


def list_differences(found: Figures) -> str:
    """How often topgap's lists are right more or less often than a law, the intervals apart."""
    rows = []
    for way in dict.fromkeys(WAYS.values()):
        for k in found.ks():
            pairs = [(found.lists_of(case), case) for case in found.cases(k)]
            more = sum(each["topgap"].low > each[way].high for each, _ in pairs)
            less = sum(each["topgap"].high < each[way].low for each, _ in pairs)
            most, case = max((each["topgap"].right - each[way].right, case) for each, case in pairs)
            points = f"{100 * most:.1f}".replace("-", "−")
            largest = f"{points} points ({case.data}, ε = {case.epsilon})"
            rows.append([f"peeled {way}", k, len(pairs), more, less, largest])
    header = ["topgap against, *simulated*", "k", "settings", "right more often"]
    return format_table([*header, "right less often", "largest difference"], rows)


def law_coverage(found: Figures) -> str:
    """How many intervals of each library hold the probability by its simulated law."""
    rows = []
    for peer, way in WAYS.items():
        held = [
            each.low <= found.lists_of(each.case)[way].right <= each.high
            for each in found.lists
            if each.who == peer
        ]
        rows.append([peer, len(held), sum(held)])
    return format_table(["library", "intervals", "that contain the simulated law"], rows)


def error_differences(found: Figures) -> str:
    """Where topgap's estimates are clearly worse than the peers' formula, and where best."""
    rows = []
    for k in found.ks():
        ratios = [
            (found.errors_of(case)["topgap, with gaps"].error / peer_error(case), case)
            for case in found.cases(k)
        ]
        least, best = min(ratios)
        worse = [f"{case.data} at {case.epsilon}" for case in found.cases(k) if harm(found, case)]
        at = f"{least:.3f} ({best.data} at {best.epsilon})"
        rows.append([k, len(ratios), len(worse), "; ".join(worse) or "–", at])
    header = ["k", "settings", "error larger by 3 standard errors", "where, at ε"]
    return format_table([*header, "smallest error / formula"], rows)


def harm(found: Figures, case: Case) -> bool:
    """Whether topgap's estimates are clearly worse than what peers tell."""
    ours = found.errors_of(case)["topgap, with gaps"]
    return ours.error - 3 * ours.standard_error > peer_error(case)
