"""The paper's tables with ours beside them, as Markdown for the page and as rows for CSV files."""

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.pages import format_table
from benchmarks.paper.probabilities import Spread, as_written, calls_of_a_geometric
from benchmarks.paper.published import (
    CALLS,
    DATASETS,
    KS,
    PARTS,
    PUBLISHED_CALLS,
    TIMES,
    implied_rounds,
)
from benchmarks.paper.runs import Measured, Parts, Run
from topgap import TopK

WAYS = ("Secure", "Opt. Secure", "Baseline")
PRIMITIVES = ("geometric", "bernoulli", "uniform", "argsort")
MOST_ROUNDS = 4  # that have a line of their own


class Figures(NamedTuple):
    """One file's rows, unrounded."""

    header: Sequence[str]
    rows: Sequence[Sequence[object]]


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """The mean, and its standard error; none of a single value."""
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else math.nan
    return statistics.fmean(values), error


def format_mean(values: Sequence[float], unit: float) -> str:
    """A mean with its standard error, to the error's second digit."""
    mean, error = (each * unit for each in mean_and_error(values))
    if not error > 0:
        return f"{mean:.3g}"
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{mean:,.{digits}f} ± {error:,.{digits}f}"


def times(found: Measured) -> str:
    """Mean running times in milliseconds, and the kernel's median in microseconds."""
    header = ["k"]
    for way in WAYS:
        header += [f"{way}, paper", "ours"]
    rows = []
    for at, k in enumerate(KS):
        row = [str(k)]
        for way in WAYS:
            row += [
                f"{TIMES[found.source.paper][way][at]:,.2f}",
                format_mean(found.times[way, k], 1e3),
            ]
        rows.append([*row, f"{found.typical('Kernel', k) * 1e6:,.1f}"])
    return format_table([*header, "kernel, median (µs)"], rows, text_columns=0)


def ratios(all_found: Sequence[Measured]) -> str:
    """Times divided by each other, which depend less on the machine."""
    pairs = [("Secure", "Baseline"), ("Opt. Secure", "Baseline"), ("Secure", "Opt. Secure")]
    header = ["data", "k"]
    for over, under in pairs:
        header += [f"{over} / {under}, paper", "ours"]
    rows = []
    for found in all_found:
        paper = TIMES[found.source.paper]
        for at, k in enumerate(KS):
            row = [found.source.label, str(k)]
            for over, under in pairs:
                row.append(f"{paper[over][at] / paper[under][at]:.2f}")
                row.append(f"{ratio(found, over, under, k):.2f}")
            rows.append([*row, f"{ratio(found, 'Baseline', 'Kernel', k):,.0f}"])
    return format_table([*header, "Baseline / kernel's median"], rows)


def ratio(found: Measured, over: str, under: str, k: int) -> float:
    """The mean time of one way, divided by that of another; of the kernel the median."""
    return found.typical(over, k) / found.typical(under, k)


def parts(found: Measured) -> str:
    """The three parts of the pruned algorithm, in milliseconds."""
    paper = PARTS[found.source.paper]
    header = ["k"]
    for part in paper:
        header += [f"{part}, paper", "ours"]
    rows = []
    for at, k in enumerate(KS):
        row = [str(k)]
        for name, part in zip(paper, Parts._fields, strict=True):
            ours = [getattr(run.parts, part) for run in found.runs[k]]
            row += [f"{paper[name][at]}", format_mean(ours, 1e3)]
        rows.append(row)
    return format_table(header, rows, text_columns=0)


def rounds(all_found: Sequence[Measured]) -> str:
    """How often ties made a run refine its resolution, on average."""
    rows = []
    for found in all_found:
        for k in KS:
            law = [len(pools) for pools in found.pools[k]]
            ours = [run.rounds for run in found.runs[k]]
            implied = format_signed(implied_rounds(found.source.paper, k), ".2f")
            means = [format_mean(each, 1) for each in (ours, law, found.script_rounds[k])]
            rows.append([found.source.label, k, implied, *means])
    header = ["data", "k", "paper, from its times", "ours", "law", "law, with the script's coins"]
    return format_table(header, rows)


def calls(kosarak: Measured) -> str:
    """The calls of a run with k = 800: the paper's one run, ours, and what the law expects."""
    expected = expected_calls(kosarak)
    rows = []
    for call in PRIMITIVES:
        seen = [run.calls[call] for run in kosarak.runs[800]]
        spread = f"{statistics.stdev(seen):,.1f}" if len(seen) > 1 else "–"
        rows.append(
            [
                call,
                f"{CALLS[call]:,}",
                f"{statistics.fmean(seen):,.1f}",
                spread,
                f"{min(seen):,} to {max(seen):,}",
                f"{expected[call].mean:,.1f}",
                f"{expected[call].deviation:,.1f}",
            ]
        )
    header = ["calls", "paper", "ours, mean", "sd", "range", "law, mean", "sd"]
    return format_table(header, rows)


def expected_calls(kosarak: Measured) -> dict[str, Spread]:
    """The calls of a run with k = 800: its ties simulated, all else reckoned."""
    each = calls_of_a_geometric(TopK(800, 1).rate.denominator)
    drawn = [kosarak.source.n + sum(pools) for pools in kosarak.pools[800]]
    geometric = _spread(drawn)
    return {
        "geometric": geometric,
        "bernoulli": each["bernoulli"].of(geometric),
        "uniform": each["uniform"].of(geometric) + Spread(800, 0),  # the shuffle of k + 1
        "argsort": _spread([1 + len(pools) for pools in kosarak.pools[800]]),
    }


def _spread(values: Sequence[float]) -> Spread:
    return Spread(statistics.fmean(values), statistics.pvariance(values))


def explain_calls() -> str:
    """The paper's calls beside what two ways to toss the coins of a trial lead to."""
    t = TopK(800, 1).rate.denominator
    seen = {**CALLS, **PUBLISHED_CALLS}
    seen["proposals"] = seen["uniform"] - seen["bernoulli"]
    names = {
        "bernoulli_exp": "trials of e^−θ",
        "bernoulli": "Bernoulli",
        "uniform": "uniform",
        "proposals": "uniform − Bernoulli",
    }
    rows = []
    for call, name in names.items():
        row = [name, f"{seen[call]:,}"]
        for divisor in (as_written, math.factorial):
            spread = calls_of_a_geometric(t, divisor)[call].of(CALLS["geometric"])
            away = (seen[call] - spread.mean) / spread.deviation
            row += [f"{spread.mean:,.0f} ± {spread.deviation:,.0f}", format_signed(away, "+.1f")]
        rows.append(row)
    return format_table(
        ["calls", "paper", "coins of θ/k", "difference", "coins of θ/k!", "difference"], rows
    )


def rounds_on_kosarak(kosarak: Measured) -> str:
    """In which part of the runs with k = 800 there were so many rounds."""
    law = [len(pools) for pools in kosarak.pools[800]]
    ours = [run.rounds for run in kosarak.runs[800]]
    rows = []
    for count in range(MOST_ROUNDS + 1):
        last = count == MOST_ROUNDS
        rows.append(
            [
                f"{count} or more" if last else str(count),
                f"{sum(_is(each, count, last) for each in law) / len(law):.3f}",
                f"{sum(_is(each, count, last) for each in ours)} of {len(ours)}",
                "its one run" if CALLS["argsort"] - 1 == count else "",
            ]
        )
    return format_table(["rounds", "law", "ours", "paper"], rows)


def format_signed(value: float, form: str) -> str:
    """A number with a true minus sign, and none before a zero."""
    text = f"{value:{form}}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def _is(rounds: int, count: int, or_more: bool) -> bool:
    return rounds == count or (or_more and rounds > count)


def standardize_calls(run: Run, call: str) -> float:
    """How many standard deviations a run's calls are off, given its geometric draws."""
    each = calls_of_a_geometric(TopK(800, 1).rate.denominator)[call]
    expected = each.of(run.calls["geometric"])
    shuffled = 800 if call == "uniform" else 0
    return (run.calls[call] - shuffled - expected.mean) / expected.deviation


def figures_by_file(all_found: Sequence[Measured]) -> dict[str, Figures]:
    """All that was measured, by the name of its file; times in milliseconds."""
    of_times: list[Sequence[object]] = []
    of_parts: list[Sequence[object]] = []
    of_rounds: list[Sequence[object]] = []
    for found in all_found:
        source = found.source
        for at, k in enumerate(KS):
            for way in (*WAYS, "Kernel"):
                seen = [each * 1e3 for each in found.times[way, k]]
                paper = TIMES[source.paper][way][at] if way in WAYS else ""
                ours = mean_and_error(seen)
                middle = statistics.median(seen)
                of_times.append([source.label, source.n, way, k, paper, *ours, middle, len(seen)])
            for name, part in zip(PARTS[source.paper], Parts._fields, strict=True):
                seen = [getattr(run.parts, part) * 1e3 for run in found.runs[k]]
                paper = PARTS[source.paper][name][at]
                ours = mean_and_error(seen)
                of_parts.append([source.label, source.n, name, k, paper, *ours, len(seen)])
            law = mean_and_error([len(pools) for pools in found.pools[k]])
            ours = mean_and_error([run.rounds for run in found.runs[k]])
            implied = implied_rounds(source.paper, k)
            script = mean_and_error(found.script_rounds[k])
            of_rounds.append([source.label, k, implied, *ours, *law, *script])
    names = ["geometric", "bernoulli_exp", "bernoulli", "uniform", "argsort"]
    of_calls = [
        [found.source.label, *(run.calls[name] for name in names)]
        for found in all_found
        if found.source.paper == "Kosarak"
        for run in found.runs[800]
    ]
    beside = ["paper_ms", "ours_ms", "standard_error_ms"]
    return {
        "times": Figures(["data", "n", "way", "k", *beside, "median_ms", "runs"], of_times),
        "parts": Figures(["data", "n", "part", "k", *beside, "runs"], of_parts),
        "rounds": Figures(
            ["data", "k", "paper", "ours", "standard_error", "law", "standard_error_of_law",
             "script", "standard_error_of_script"],
            of_rounds,
        ),
        "calls": Figures(["data", *names], of_calls),
        "datasets": Figures(
            ["data", "stands for", "items", "paper_records", "paper_items"],
            [[f.source.label, f.source.paper, f.source.n, *DATASETS[f.source.paper]]
             for f in all_found],
        ),
    }  # fmt: skip
