"""Hand every public entry point anything, a million times: `make fuzz`, or a little in `make test`.

    python -m tests.fuzz.run 1000000      so many calls, on all cores
    python -m tests.fuzz.run 1000 laws    of those scenarios whose names have this in them

A scenario draws what a user might hand in, and makes calls with it. Each call must end with what
its docstring promises, or with an error that its docstring names. What fails is shrunk, printed,
and kept in `.hypothesis` to be tried first the next time.
"""

import faulthandler
import importlib
import inspect
import multiprocessing
import os
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from tests.fuzz import (
    accounts,
    commands,
    datasets,
    documents,
    domains,
    events,
    groups,
    laws,
    monitors,
    releases,
    sources,
)
from tests.fuzz.judge import Judge

MODULES = ("auditing", "counting", "datasets", "estimates", "law", "ledger", "opendp", "planning",
           "reference", "report", "spark", "streams")  # fmt: skip

VALUES = {
    "topgap.auditing.MechanismAudit", "topgap.auditing.Bound", "topgap.auditing.LawCheck",
    "topgap.auditing.Misfit", "topgap.auditing.Neighbours", "topgap.law.Bounds",
    "topgap.counting.Counts", "topgap.counting.GroupedCounts", "topgap.counting.Occurring",
    "topgap.datasets.Dataset", "topgap.ledger.Budget", "topgap.ledger.Charge",
    "topgap.ledger.Quote", "topgap.ledger.Verification", "topgap.Check",
    "topgap.planning.BoundRow", "topgap.planning.DomainPlan", "topgap.planning.DomainRow",
    "topgap.planning.Figure", "topgap.planning.Lists", "topgap.planning.ReleasedErrors",
    "topgap.planning.Row", "topgap.planning.ThresholdPlan", "topgap.planning.ThresholdRow",
    "topgap.Audit", "topgap.Estimates", "topgap.Plan", "topgap.reference.BitSource",
    "topgap.reference.SystemBits", "topgap.estimates.Ordered",
}  # fmt: skip
"""Values that calls give, and that nobody makes by hand: of some, the methods are called."""

PLAIN = {
    "topgap.Audit.plot", "topgap.Check.lines", "topgap.TopK.to_dict", "topgap.counting.Counts.copy",
    "topgap.counting.Counts.setdefault", "topgap.counting.Counts.update",
    "topgap.reference.BitSource.take", "topgap.report.Details.write_date",
    "topgap.auditing.MechanismAudit.evidence", "topgap.auditing.MechanismAudit.to_dict",
    "topgap.auditing.Bound.to_dict", "topgap.auditing.LawCheck.to_dict",
}  # fmt: skip
"""Methods that take nothing and are called with the value that they belong to, or draw a plot."""


class Scenario(NamedTuple):
    """What is drawn, the calls that are made with it, and which share of all examples it gets."""

    drawn: Callable[[], st.SearchStrategy[dict[str, Any]]]
    calls: Callable[[dict[str, Any], Judge], None]
    share: int


SCENARIOS = {
    "releases": Scenario(releases.releasing, releases.fuzz_releasing, 220),
    "groups": Scenario(groups.grouping, groups.fuzz_groups, 120),
    "selectors": Scenario(releases.selecting, releases.fuzz_selector, 120),
    "monitors": Scenario(monitors.monitored, monitors.fuzz_monitor, 100),
    "reference": Scenario(releases.referring, releases.fuzz_reference, 100),
    "compiled": Scenario(releases.compiled, releases.fuzz_compiled, 150),
    "domains": Scenario(domains.describing, domains.fuzz_domains, 60),
    "showing": Scenario(documents.showing, documents.fuzz_showing, 80),
    "reading": Scenario(documents.reading, documents.fuzz_reading, 150),
    "estimating": Scenario(documents.estimating, documents.fuzz_estimating, 60),
    "laws": Scenario(laws.lawful, laws.fuzz_law, 10),
    "samplers": Scenario(laws.sampling, laws.fuzz_sampling, 100),
    "plans": Scenario(laws.planned, laws.fuzz_planning, 30),
    "made-up data": Scenario(datasets.made_up, datasets.fuzz_made_up, 40),
    "public files": Scenario(datasets.public_files, datasets.fuzz_public_files, 60),
    "counting": Scenario(sources.sources, sources.fuzz_counting, 3),
    "events": Scenario(events.calls, events.fuzz_events, 3),
    "streams": Scenario(sources.sources, sources.fuzz_streams, 20),
    "ledger": Scenario(accounts.accounting, accounts.fuzz_ledger, 20),
    "opendp": Scenario(accounts.measuring, accounts.fuzz_opendp, 30),
    "audits": Scenario(commands.audited, commands.fuzz_audit, 2),
    "spark": Scenario(accounts.without_spark, accounts.fuzz_spark, 20),
    "command": Scenario(commands.commanding, commands.fuzz_command, 3),
}
_BATCH = 400
"""So many examples at most are drawn in a row: what Hypothesis remembers of them takes memory."""


def entry_points() -> set[str]:
    """Everything public that can be called, by the names that the modules list.

    Properties take nothing, and `well_formed.look_at` looks at those of every value.
    """
    found: dict[Any, str] = {}
    for module in ("topgap", *(f"topgap.{name}" for name in MODULES)):
        public = importlib.import_module(module)
        for name in public.__all__:
            each = getattr(public, name)
            is_error = inspect.isclass(each) and issubclass(each, BaseException | Warning)
            if (inspect.isclass(each) or inspect.isfunction(each)) and not is_error:
                found.setdefault(each, f"{module}.{name}")
    names = {*found.values()}
    for each, name in found.items():
        if inspect.isclass(each):
            members = [member for member in vars(each).items() if not member[0].startswith("_")]
            kinds = (classmethod, staticmethod)
            names |= {
                f"{name}.{member}"
                for member, value in members
                if inspect.isfunction(value) or isinstance(value, kinds)
            }
    return names


def to_be_called() -> set[str]:
    """The entry points that a scenario must call."""
    return entry_points() - VALUES - PLAIN


def fuzz(scenario: Scenario, examples: int, start: int) -> Judge:
    """Draw so many examples and make their calls; an error if one ends as it must not."""
    judge = Judge()

    @seed(start)
    @settings(
        max_examples=examples,
        deadline=None,
        derandomize=False,
        print_blob=True,
        report_multiple_bugs=False,
        suppress_health_check=[*HealthCheck],
    )
    @given(scenario.drawn())
    def run(drawn: dict[str, Any]) -> None:
        scenario.calls(drawn, judge)

    run()
    return judge


class Seen(NamedTuple):
    """What came of some examples of a scenario."""

    scenario: str
    judge: Judge
    seconds: float
    wrong: str | None


def _work(calls: int, only: str, start: int, to: Connection) -> None:
    """Go through the scenarios again and again until so many calls were made."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    faulthandler.enable()
    chosen = {name: each for name, each in SCENARIOS.items() if only in name}
    done = turn = 0
    while done < calls:
        for name, scenario in chosen.items():
            began = time.process_time()
            examples = min(_BATCH, max(2, scenario.share * 2))
            try:
                judge = fuzz(scenario, examples, start + turn)
            except BaseException as error:
                told = "".join(traceback.format_exception(error))
                wrong = f"{told}\nseed {start + turn}"
                to.send(Seen(name, Judge(), 0, wrong))
                return
            done += sum(judge.calls.values())
            to.send(Seen(name, judge, time.process_time() - began, None))
        turn += 1
    to.close()


def main(calls: int, only: str = "") -> int:
    """Fuzz on all cores, and say what was called how often: 0 if nothing was wrong."""
    began = time.monotonic()
    start = random.SystemRandom().getrandbits(31)
    print(f"fuzz: Python, from seed {start}", flush=True)
    spawning = multiprocessing.get_context("spawn")
    processes, ends = [], []
    cores = len(os.sched_getaffinity(0))
    for number in range(cores):
        here, there = spawning.Pipe(duplex=False)
        ends.append(here)
        given = (calls // cores + 1, only, start + number * 10**6, there)
        processes.append(spawning.Process(target=_work, args=given, daemon=True))
        processes[-1].start()
        there.close()
    whole = Judge()
    seconds: Counter[str] = Counter()
    by_scenario: Counter[str] = Counter()
    wrong: list[str] = []
    told = 0
    try:
        while ends and not wrong:
            ready: list[Any] = wait(ends)
            for end in ready:
                try:
                    seen: Seen = end.recv()
                except EOFError:
                    ends.remove(end)
                    continue
                whole.add(seen.judge)
                seconds[seen.scenario] += seen.seconds  # type: ignore[assignment]
                by_scenario[seen.scenario] += sum(seen.judge.calls.values())
                wrong += [f"{seen.scenario}: {seen.wrong}"] if seen.wrong else []
            if sum(by_scenario.values()) >= told + calls / 10:
                told = sum(by_scenario.values())
                print(f"fuzz: {told:>11,} calls, {time.monotonic() - began:,.0f} s", flush=True)
    except KeyboardInterrupt:
        print(f"fuzz: interrupted after {sum(by_scenario.values()):,} calls")
        return 130
    finally:
        for process in processes:
            if ends:
                process.terminate()
            process.join()
    for name in sorted(whole.calls):
        made, refused = whole.made[name], whole.refused[name]
        slowest = whole.slowest.get(name, 0)
        print(
            f"fuzz: {name:<40} {made + refused:>9,} calls: {made:>9,} made, {refused:>9,} refused, "
            f"{slowest:6.2f} s at most"
        )
    for name, made in by_scenario.items():
        rate = made / seconds[name] if seconds[name] else 0
        print(f"fuzz: scenario {name:<14} {made:>9,} calls, {rate:>7,.0f} a second of one core")
    total = sum(by_scenario.values())
    if not wrong and not only and total < calls:
        codes = ", ".join(str(process.exitcode) for process in processes)
        wrong.append(f"a process ended before its work; exit codes: {codes}")
    never = {*()} if only or wrong else to_be_called() - {*whole.calls}
    wrong += [f"{name} was never called" for name in sorted(never)]
    spent = time.monotonic() - began
    print(f"fuzz: Python, {total:,} calls in {spent:,.0f} s, {total / spent:,.0f} a second")
    for text, times in whole.not_mended.items():
        print(f"fuzz: not mended yet, {times:,} times: {text}")
    for each in wrong:
        print(f"fuzz: WRONG: {each}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), *sys.argv[2:3]))
