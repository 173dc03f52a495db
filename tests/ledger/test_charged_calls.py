"""Calls that release: charged before the first random bit, recorded after, never otherwise."""

import io
import shutil
import sqlite3
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import date
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest

import topgap
from tests.checking import interruptions
from tests.checking.mutants import Mutant
from tests.ledger.sample_ledgers import is_found, put_in_place, quick_folder, refused
from tests.selection.sample_selectors import FAR
from tests.streams.sample_streams import a_pipe, file_of, stream_of
from topgap import (
    AnswersError,
    BudgetExceeded,
    Estimates,
    ItemsError,
    KernelError,
    LedgerError,
    LedgerWarning,
    ParameterError,
    ParameterTypeError,
    Release,
    SelectorError,
    TopgapError,
    TopK,
    parameters,
    spark,
    streams,
)
from topgap._core import Kernel, Laplace, Streams
from topgap.ledger import Charge, Ledger, Quote, charging
from topgap.ledger.storage import exclusive_access
from topgap.sampling import bit_source
from topgap.sampling import sampler as sampler_module
from topgap.selection import (
    arrow_partition,
    candidate_pool,
    item_names,
    measurement,
    mechanism,
    selector,
    top_k_with_estimates,
)
from topgap.spark import drawing as spark_drawing
from topgap.streams import one_pass_release, rows

EPSILON = Fraction(1, 3)
TREES = {"ash": 3 * FAR, "elm": 0, "oak": FAR}
TABLE = pa.table({"what": [*TREES], "people": [*TREES.values()]})
_COLUMNS: dict[str, Any] = {"item": "what", "count": "people"}
_GIVEN = {"k": 2, "epsilon": "1/3", "resolution": "1/10", "sensitivity": "1", "monotonic": False}
_SHARES = {"selection_epsilon": "1/6", "measurement_epsilon": "1/12"}


class Call(NamedTuple):
    """A way to release.

    Attributes:
        mechanism: What the ledger calls it.
        prepare: From the data to what is called with a ledger, a data set and more.
        data: Some that it can use.
        parameters: What the ledger keeps of it.
    """

    mechanism: str
    prepare: Callable[[Any], Callable[..., Any]]
    data: Any
    parameters: dict[str, Any]


def _selector(data: Any) -> Callable[..., Any]:
    made = topgap.Selector(TopK(2, EPSILON))
    made.add(data)
    return made.release


def _measuring_selector(data: Any) -> Callable[..., Any]:
    made = topgap.Selector(TopK(2, EPSILON), selection_share="1/2")
    made.add(data)
    return made.release_with_estimates


CALLS = {
    "top_k": Call(
        "topgap.top_k", lambda data: partial(topgap.top_k, data, 2, EPSILON), TREES,
        {**_GIVEN, "gaps": True},
    ),
    "noisy_max": Call(
        "topgap.top_k", lambda data: partial(topgap.noisy_max, data, EPSILON), TREES,
        {**_GIVEN, "k": 1, "gaps": True},
    ),
    "select": Call(
        "topgap.top_k", lambda data: partial(topgap.select, TopK(2, EPSILON), data), TREES,
        {**_GIVEN, "gaps": True},
    ),
    "top_k of large numbers": Call(
        "topgap.top_k", lambda data: partial(topgap.top_k, data, 2, EPSILON),
        {"ash": 3 * 10**40, "elm": 0, "oak": 10**40}, {**_GIVEN, "gaps": True},
    ),
    "top_k_with_estimates": Call(
        "topgap.top_k_with_estimates",
        lambda data: partial(topgap.top_k_with_estimates, data, 2, EPSILON), TREES,
        {**_GIVEN, **_SHARES},
    ),
    "Selector.release": Call("topgap.Selector", _selector, TREES, {**_GIVEN, "gaps": True}),
    "Selector.release_with_estimates": Call(
        "topgap.Selector", _measuring_selector, TREES, {**_GIVEN, **_SHARES}
    ),
    "streams.top_k": Call(
        "topgap.streams.top_k",
        lambda data: partial(streams.top_k, data, 2, EPSILON, **_COLUMNS), TABLE,
        {**_GIVEN, "gaps": True},
    ),
    "streams.top_k_with_estimates": Call(
        "topgap.streams.top_k_with_estimates",
        lambda data: partial(streams.top_k_with_estimates, data, 2, EPSILON, **_COLUMNS), TABLE,
        {**_GIVEN, **_SHARES},
    ),
}  # fmt: skip

ON_SPARK: dict[str, Callable[[Any], Callable[..., Any]]] = {
    "spark.top_k": lambda data: partial(spark.top_k, data, 2, EPSILON, **_COLUMNS),
    "spark.top_k_events": lambda data: partial(
        spark.top_k_events, data, 2, EPSILON, person="who", item="what", domain=data
    ),
    "spark.top_k_with_estimates": lambda data: partial(
        spark.top_k_with_estimates, data, 2, EPSILON, **_COLUMNS
    ),
    "spark.top_k_events_with_estimates": lambda data: partial(
        spark.top_k_events_with_estimates, data, 2, EPSILON, person="who", item="what", domain=data
    ),
}

each_call = pytest.mark.parametrize("name", CALLS)


@pytest.fixture
def path() -> Iterator[Path]:
    """A ledger with a total that is enough for three releases."""
    with quick_folder() as folder:
        Ledger(folder / "budget.db", who="ana").add_dataset("visits", 1)
        yield folder / "budget.db"


def entries(path: Path) -> int:
    return Ledger(path).verify().entries


def only_charge(path: Path) -> Charge:
    history = Ledger(path).history()
    assert len(history) == 1
    return history[0]


def made_of(text: str | None) -> Release | Estimates:
    """What was recorded."""
    assert text is not None
    return Estimates.from_json(text) if '"estimates"' in text else Release.from_json(text)


class Untouchable:
    """Data that nobody may look at."""

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return Untouchable
        pytest.fail(f"The data were looked at: {name}.")


# --- Where random bits come from


class Watched:
    """The kernel, and whoever wants to know when it is used."""

    def __init__(self, kernel: Any, draws: set[str], seen: Callable[[], None]) -> None:
        self._kernel, self._draws, self._seen = kernel, draws, seen

    def __getattr__(self, name: str) -> Any:
        if name in self._draws:
            self._seen()
        return getattr(self._kernel, name)


def watch_randomness(patch: pytest.MonkeyPatch, seen: Callable[[], None]) -> None:
    """Have `seen` called before any random bit is drawn, from whatever there is to draw from."""

    def kernel(*given: Any, is_laplace: bool) -> Watched:
        made = Kernel(*given, is_laplace=is_laplace)
        return Watched(made, {"release", "candidates"}, seen)

    def laplace(*given: Any) -> Watched:
        return Watched(Laplace(*given), {"draw"}, seen)

    def sampler(*given: Any) -> Any:
        seen()
        return sampler_module.Sampler(*given)

    def take(self: bit_source.SystemBits, count: int) -> int:
        seen()
        return original_take(self, count)

    def its_streams() -> Any:
        seen()
        return Streams()

    original_take = bit_source.SystemBits.take
    for cached in (mechanism._read_once, measurement._kernel):
        patch.setattr(sys.modules[cached.__module__], cached.__name__, cached.__wrapped__)
    patch.setattr(parameters, "Kernel", kernel)
    patch.setattr(measurement, "Laplace", laplace)
    patch.setattr(candidate_pool, "Sampler", sampler)
    patch.setattr(bit_source.SystemBits, "take", take)
    patch.setattr(spark_drawing, "Streams", its_streams)


LOOK = """
import sqlite3, sys
connection = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
for kind in ("charge", "result"):
    print(*connection.execute("SELECT count(*) FROM entries WHERE kind = ?", [kind]).fetchone())
"""


def seen_by_others(path: Path) -> list[str]:
    """How many charges and results another process sees."""
    command = [sys.executable, "-I", "-S", "-c", LOOK, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


# --- What is charged, when, and what is recorded


@each_call
@pytest.mark.parametrize("kind", [str, Path, Ledger])
def test_it_charges_epsilon_and_records_the_release(
    name: str, kind: Callable[[Path], Any], path: Path
) -> None:
    call = CALLS[name]
    release = call.prepare(call.data)(ledger=kind(path), dataset="visits")
    charge = only_charge(path)
    assert charge.epsilon == release.epsilon == EPSILON
    assert (charge.mechanism, charge.parameters) == (call.mechanism, call.parameters)
    assert charge.left == Ledger(path).budget("visits").left == Fraction(2, 3)
    assert type(made_of(charge.result)) is type(release)
    if name not in {"top_k_with_estimates", "streams.top_k_with_estimates"}:
        assert made_of(charge.result) == release
    assert charge.result == release.to_json()
    assert entries(path) == 3


@each_call
def test_who_pays_and_what_for_is_kept(name: str, path: Path) -> None:
    call = CALLS[name]
    call.prepare(call.data)(ledger=Ledger(path, who="bo", note="weekly"), dataset="visits")
    charge = only_charge(path)
    assert (charge.who, charge.note) == ("bo", "weekly")


@each_call
def test_without_a_ledger_nothing_is_charged(name: str, path: Path) -> None:
    call = CALLS[name]
    assert call.prepare(call.data)().items[0] == "ash"
    assert entries(path) == 1


@each_call
def test_the_charge_is_on_the_disk_before_the_first_random_bit(
    name: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A selector has drawn its noise by then, of which it has given nothing away."""
    charged_first(name, path, monkeypatch)


def charged_first(name: str, path: Path, patch: pytest.MonkeyPatch) -> None:
    told: list[list[str]] = []

    def seen() -> None:
        if not told:
            told.append(seen_by_others(path))

    call = CALLS[name]
    watch_randomness(patch, seen)
    prepared = call.prepare(call.data)
    told.clear()
    prepared(ledger=path, dataset="visits")
    assert told == [["1", "0"]]
    assert seen_by_others(path) == ["1", "1"]


@each_call
@pytest.mark.parametrize("error", [KernelError, KeyboardInterrupt, MemoryError, SystemExit])
def test_what_ends_between_charge_and_result_leaves_a_charge(
    name: str, error: type[BaseException], path: Path
) -> None:
    """It is not given back, and the next release is charged anew."""
    call = CALLS[name]

    def fails() -> None:
        if ready:
            raise error

    ready: list[bool] = []
    with pytest.MonkeyPatch.context() as patch:
        watch_randomness(patch, fails)
        prepared = call.prepare(call.data)
        ready.append(True)
        with pytest.raises(error):
            prepared(ledger=path, dataset="visits")
    orphan = only_charge(path)
    assert (orphan.epsilon, orphan.result) == (EPSILON, None)
    assert Ledger(path).budget("visits").without_result == 1
    call.prepare(call.data)(ledger=path, dataset="visits")
    assert Ledger(path).budget("visits").left == Fraction(1, 3)
    assert [each.result is None for each in Ledger(path).history()] == [True, False]
    assert entries(path) == 4


def is_counted(code: CodeType) -> bool:
    """Whether it pays; but what Python calls at an object's end goes on when it is interrupted."""
    return code.co_filename.startswith(PAYING) and code.co_name != "close"


def interrupted(at: int, call: Callable[[], object]) -> bool:
    """Whether the call was interrupted, at this of the lines that pay for it."""
    return interruptions.interrupted(at, call, is_counted) is not None


@pytest.mark.slow
def test_an_interruption_at_any_line_leaves_a_true_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is drawn without a charge, and nobody finds the file in use afterwards."""
    outcomes = Counter[str]()
    drawn: list[bool] = []
    watch_randomness(monkeypatch, lambda: drawn.append(True))
    with quick_folder() as folder:
        Ledger(folder / "original.db", who="ana").add_dataset("visits", 1)
        path = folder / "budget.db"
        call = partial(topgap.top_k, TREES, 2, EPSILON, dataset="visits")
        for at in range(1, 10_000, 2):
            shutil.copy(folder / "original.db", path)
            drawn.clear()
            if not interrupted(at, partial(call, ledger=Ledger(path, who="ana", wait=0))):
                break
            budget = Ledger(path, wait=0).budget("visits")
            assert budget.charges >= bool(drawn)
            outcomes[f"{budget.charges} {budget.without_result} {bool(drawn)}"] += 1
            Ledger(path, wait=0).charge("visits", "1/100", mechanism="m")
            assert entries(path) == 2 + 2 * budget.charges - budget.without_result
    assert {*outcomes} <= {"0 0 False", "1 1 False", "1 1 True", "1 0 True"}
    assert len(outcomes) >= 3
    assert min(outcomes["0 0 False"], outcomes["1 1 True"]) > 20


def test_a_reading_that_was_interrupted_leaves_nothing_open(path: Path) -> None:
    """Or a fork would be told that a ledger is in use."""
    for at in range(1, 1000):
        if not interrupted(at, lambda: Ledger(path, wait=0).budget("visits")):
            break
        assert [*exclusive_access._held] == []
    assert at > 20


def test_a_release_that_could_not_be_recorded_is_in_the_warning_too(path: Path) -> None:
    """For those who turn warnings into errors; and it tells the line that asked for the release."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Ledger, "_record_drawn", failing)
        with pytest.warns(topgap.LedgerWarning) as told:
            topgap.top_k(TREES, 2, EPSILON, ledger=path, dataset="visits")
        assert told[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(topgap.LedgerWarning) as raised:
                topgap.top_k(TREES, 2, "1/10", ledger=path, dataset="visits")
    release = raised.value.result
    assert isinstance(release, Release)
    assert release.epsilon == Fraction(1, 10)


def failing(*_: object) -> None:
    raise topgap.LedgerError("The disk is full.")


# --- Refusals come before the data


def refusals(prepared: Callable[..., Any], path: Path) -> None:
    with refused("left for little, 0.25 of 0.25", BudgetExceeded):
        prepared(ledger=path, dataset="little")
    with refused("There is no data set none"):
        prepared(ledger=path, dataset="none")
    with refused("There is no ledger"):
        prepared(ledger=path.with_name("none.db"), dataset="visits")
    with refused("ledger and dataset go together", ParameterError):
        prepared(ledger=path)
    with refused("ledger and dataset go together", ParameterError):
        prepared(dataset="visits")
    with refused("A ledger is given by the path", ParameterTypeError):
        prepared(ledger=7, dataset="visits")
    with refused("dataset must be text, not int", ParameterTypeError):
        prepared(ledger=path, dataset=7)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with refused("has been in use by other processes"):
            prepared(ledger=Ledger(path, wait=0), dataset="visits")


@pytest.mark.parametrize(
    "name", [each for each in CALLS if not each.startswith("Selector")] + [*ON_SPARK]
)
def test_a_refusal_comes_before_any_data_are_looked_at(
    name: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Ledger(path).add_dataset("little", "1/4")
    watch_randomness(monkeypatch, lambda: pytest.fail("A random bit was drawn."))
    prepare = ON_SPARK[name] if name in ON_SPARK else CALLS[name].prepare
    refusals(prepare(Untouchable()), path)
    assert entries(path) == 2


def test_a_refused_selector_is_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Ledger(path).add_dataset("little", "1/4")
    made = topgap.Selector(TopK(2, EPSILON))
    made.add(TREES)
    with monkeypatch.context() as patch:
        watch_randomness(patch, lambda: pytest.fail("A random bit was drawn."))
        refusals(made.release, path)
    assert entries(path) == 2
    made.add({"yew": 5 * FAR})
    assert made.release(ledger=path, dataset="visits").items == ("yew", "ash")
    assert entries(path) == 4


@each_call
def test_what_others_spend_meanwhile_is_seen_when_it_is_charged(
    name: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the check, which comes first, and the charge there are all the data."""
    check = Ledger.check

    def checked(self: Ledger, dataset: str, epsilon: Any, **more: Any) -> Quote:
        seen = check(self, dataset, epsilon, **more)
        Ledger(path).charge(dataset, Fraction(5, 6), mechanism="another")
        return seen

    call = CALLS[name]
    prepared = call.prepare(call.data)
    monkeypatch.setattr(Ledger, "check", checked)
    watch_randomness(monkeypatch, lambda: pytest.fail("A random bit was drawn."))
    with refused("left for visits, 1/6 of 1", BudgetExceeded):
        prepared(ledger=path, dataset="visits")
    assert [each.mechanism for each in Ledger(path).history()] == ["another"]


# --- Bad input charges nothing


BAD_ANSWERS: dict[str, tuple[Any, dict[str, Any], type[TopgapError]]] = {
    "not a number": ([1.0, float("nan"), 3.0], {}, AnswersError),
    "infinite": (np.array([1.0, np.inf, 3.0]), {}, AnswersError),
    "missing": ({"a": 1, "b": None, "c": 2}, {}, AnswersError),
    "missing in Arrow": (pa.array([1, None, 3]), {}, AnswersError),
    "far too large": ([10**40, float("inf"), 1], {}, AnswersError),
    "too few": ([1], {}, AnswersError),
    "none": ([], {}, AnswersError),
    "text": ("1, 2, 3", {}, TopgapError),
    "words": (["a", "b", "c"], {}, TopgapError),
    "a table": ([[1, 2], [3, 4], [5, 6]], {}, AnswersError),
    "too few names": ([1, 2, 3], {"items": ["a", "b"]}, ItemsError),
    "a name twice": ([1, 2, 3], {"items": ["a", "b", "a"]}, ItemsError),
    "names of both": ({"a": 1, "b": 2, "c": 3}, {"items": ["a", "b", "c"]}, ItemsError),
    "names that cannot be": ([1, 2, 3], {"items": pa.array([2**30, 1, 2], pa.date32())},
                             ItemsError),
    "no threads": ([1, 2, 3], {"threads": 0}, ParameterError),
}  # fmt: skip


@pytest.mark.parametrize("bad", BAD_ANSWERS)
@pytest.mark.parametrize("name", ["top_k", "noisy_max", "select", "top_k_with_estimates"])
def test_bad_answers_charge_nothing(name: str, bad: str, path: Path) -> None:
    data, more, error = BAD_ANSWERS[bad]
    before = path.read_bytes()
    with pytest.raises(error):
        CALLS[name].prepare(data)(ledger=path, dataset="visits", **more)
    assert path.read_bytes() == before


BAD_PARAMETERS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (topgap.top_k, {"k": 0}),
    (topgap.top_k, {"k": 3}),
    (topgap.top_k, {"epsilon": 0}),
    (topgap.top_k, {"epsilon": float("nan")}),
    (topgap.top_k, {"resolution": "2/3"}),
    (topgap.top_k, {"sensitivity": "1/3"}),
    (topgap.top_k, {"monotonic": 1}),
    (topgap.top_k, {"gaps": "no"}),
    (topgap.top_k_with_estimates, {"selection_share": 1}),
    (topgap.top_k_with_estimates, {"selection_share": 0}),
    (topgap.top_k_with_estimates, {"k": 3}),
    (partial(streams.top_k, **_COLUMNS), {"gaps": 1}),
    (partial(streams.top_k, **_COLUMNS), {"item": ""}),
    (partial(streams.top_k, **_COLUMNS), {"count": "what"}),
    (partial(streams.top_k, **_COLUMNS), {"progress": 7}),
    (partial(streams.top_k, **_COLUMNS), {"threads": 0}),
    (partial(streams.top_k_with_estimates, **_COLUMNS), {"selection_share": 1}),
]


@pytest.mark.parametrize(
    ("call", "wrong"), BAD_PARAMETERS, ids=[str(wrong) for _, wrong in BAD_PARAMETERS]
)
def test_bad_parameters_charge_nothing(
    call: Callable[..., Any], wrong: dict[str, Any], path: Path
) -> None:
    before = path.read_bytes()
    data = TABLE if isinstance(call, partial) else TREES
    right = {"k": 2, "epsilon": "1/3", "ledger": path, "dataset": "visits"}
    with pytest.raises(TopgapError):
        call(data, **{**right, **wrong})
    assert path.read_bytes() == before


def table(**changed: Any) -> pa.Table:
    return pa.table({"what": [*TREES], "people": [*TREES.values()], **changed})


BAD_TABLES: dict[str, tuple[pa.Table, type[TopgapError]]] = {
    "a count missing": (table(people=[1, None, 3]), AnswersError),
    "not a number": (table(people=[1.0, 2.0, float("nan")]), AnswersError),
    "an item missing": (table(what=["ash", None, "oak"]), ItemsError),
    "an item twice": (table(what=["ash", "elm", "ash"]), ItemsError),
    "an item twice, far apart": (
        pa.concat_tables([TABLE, TABLE.slice(0, 1)]), ItemsError,
    ),
    "too few": (TABLE.slice(0, 2), AnswersError),
    "none": (TABLE.slice(0, 0), AnswersError),
    "no such column": (TABLE.select(["what"]), TopgapError),
    "no counts": (table(people=["a", "b", "c"]), TopgapError),
}  # fmt: skip
PAYING = str(Path(topgap.__file__).parent / "ledger")
STREAMS = ["streams.top_k", "streams.top_k_with_estimates"]


def in_parquet(table: pa.Table, folder: Path) -> Any:
    pq.write_table(table, folder / "counts.parquet")
    return folder / "counts.parquet"


def in_two_files(table: pa.Table, folder: Path) -> Any:
    half = len(table) // 2
    for i, part in enumerate((table.slice(0, half), table.slice(half))):
        pq.write_table(part, folder / f"part-{i}.parquet")
    return [folder / "part-0.parquet", folder / "part-1.parquet"]


def in_an_open_file(table: pa.Table, _: Path) -> Any:
    return io.BytesIO(stream_of(table))


def in_an_arrow_file(table: pa.Table, folder: Path) -> Any:
    (folder / "counts.arrow").write_bytes(file_of(table))
    return folder / "counts.arrow"


def in_a_dataset(table: pa.Table, folder: Path) -> Any:
    in_parquet(table, folder)
    return pads.dataset(folder / "counts.parquet")


def in_polars(table: pa.Table, _: Path) -> Any:
    return pl.from_arrow(table)


def in_pandas(table: pa.Table, _: Path) -> Any:
    return table.to_pandas()


def as_it_is(table: pa.Table, _: Path) -> Any:
    return table


@pytest.mark.parametrize("bad", BAD_TABLES)
@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("source", [as_it_is, in_parquet, in_two_files, in_an_open_file])
def test_bad_rows_that_can_be_read_twice_charge_nothing(
    bad: str, name: str, source: Callable[[pa.Table, Path], Any], path: Path
) -> None:
    data, error = BAD_TABLES[bad]
    before = path.read_bytes()
    with pytest.raises(error):
        CALLS[name].prepare(source(data, path.parent))(ledger=path, dataset="visits")
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize(
    "source", [in_an_open_file, in_an_arrow_file, in_a_dataset, in_polars, in_pandas]
)
def test_whatever_can_be_read_twice_is_looked_at_first(
    name: str, source: Callable[[pa.Table, Path], Any], path: Path
) -> None:
    for bad in ("an item twice", "too few"):
        with pytest.raises(BAD_TABLES[bad][1]):
            CALLS[name].prepare(source(BAD_TABLES[bad][0], path.parent))(
                ledger=path, dataset="visits"
            )
        assert entries(path) == 1
    made = CALLS[name].prepare(source(TABLE, path.parent))(ledger=path, dataset="visits")
    assert made.items == ("ash", "oak")
    assert only_charge(path).result == made.to_json()


def test_a_file_that_is_missing_or_damaged_charges_nothing(path: Path) -> None:
    before = path.read_bytes()
    whole = in_parquet(TABLE, path.parent).read_bytes()
    (path.parent / "half.parquet").write_bytes(whole[: len(whole) // 2])
    for source in (path.parent / "none.parquet", path.parent / "half.parquet", 7):
        for name in STREAMS:
            with pytest.raises(TopgapError):
                CALLS[name].prepare(source)(ledger=path, dataset="visits")
    assert path.read_bytes() == before


def batch(**changed: Any) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"item": ["a", "b"], "value": [1.0, 2.0], **changed})


ROWS_ON_SPARK = {
    "right": ([batch(), batch(item=["c", "d"])], "4"),
    "an item missing": ([batch(), batch(item=["c", None])], "ItemsError"),
    "an item twice": ([batch(times=[1, 2])], "ItemsError"),
    "a count missing": ([batch(value=[1.0, None])], "AnswersError"),
    "not a number": ([batch(value=[1.0, float("nan")])], "AnswersError"),
    "of no use": ([batch(value=["x", "y"])], "AnswersTypeError"),
}


@pytest.mark.parametrize("name", ROWS_ON_SPARK)
def test_an_executor_finds_without_noise_what_it_would_complain_of(name: str) -> None:
    looked_at_on_spark(name)


def looked_at_on_spark(name: str) -> None:
    rows, said = ROWS_ON_SPARK[name]
    [looked] = arrow_partition.find_candidates(iter(rows), 0, TopK(1, 1), None)
    assert looked["item"].to_pylist() == [None]
    assert looked["value"][0].as_py().partition(":")[0] == said
    if said != "4":
        [drawn] = arrow_partition.find_candidates(iter(rows), 0, TopK(1, 1), Streams())
        assert drawn == looked


# --- What is read once


def through_a_pipe(table: pa.Table) -> Any:
    return a_pipe(stream_of(table))


def through_a_reader(table: pa.Table) -> Any:
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches())


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("through", [through_a_pipe, through_a_reader])
def test_a_late_row_of_what_is_read_once_has_cost_epsilon(
    name: str, through: Callable[[pa.Table], Any], path: Path
) -> None:
    """Its noise has been drawn; only what is told before the rows is free."""
    for table, error, cost in (
        (BAD_TABLES["no such column"], TopgapError, 0),
        (BAD_TABLES["a count missing"], AnswersError, 1),
        (BAD_TABLES["too few"], AnswersError, 1),
    ):
        before = len(Ledger(path).history())
        source = through(table[0])
        with pytest.raises(error):
            CALLS[name].prepare(source)(ledger=path, dataset="visits")
        if through is through_a_pipe:
            source.close()
        assert len(Ledger(path).history()) == before + cost
    assert Ledger(path).budget("visits").without_result == 2
    source = through(TABLE)
    assert CALLS[name].prepare(source)(ledger=path, dataset="visits").items == ("ash", "oak")
    if through is through_a_pipe:
        source.close()
    assert Ledger(path).budget("visits").left == 0


@pytest.mark.parametrize("name", STREAMS)
def test_an_interrupted_reading_costs_when_noise_is_drawn_and_not_before(
    name: str, path: Path
) -> None:
    heard: list[str] = []

    def interrupt(at: str) -> Callable[[str, Any], None]:
        def told(doing: str, _: Any) -> None:
            heard.append(doing.split()[0])
            if doing.startswith(at):
                raise KeyboardInterrupt

        return told

    for at, charges in (("looking at", 0), ("reading", 1)):
        with pytest.raises(KeyboardInterrupt):
            CALLS[name].prepare(TABLE)(ledger=path, dataset="visits", progress=interrupt(at))
        assert len(Ledger(path).history()) == charges
    assert heard == ["looking", "looking", "reading"]
    heard.clear()
    CALLS[name].prepare(TABLE)(progress=interrupt("never"))
    assert heard == ["reading"]


def test_an_item_twice_among_very_many_is_found_late(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When names are not remembered any more, it is found among those that can still win."""
    monkeypatch.setattr(item_names, "MOST_REMEMBERED", 2)
    twice = pa.concat_tables([TABLE, TABLE.slice(0, 1)])
    with pytest.raises(ItemsError, match="given twice"):
        CALLS["streams.top_k"].prepare(twice)(ledger=path, dataset="visits")
    assert Ledger(path).budget("visits").without_result == 1


# --- Results


@each_call
def test_a_release_that_cannot_be_recorded_is_given_with_a_warning(
    name: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For it has been paid for."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        call = CALLS[name]

        def seen() -> None:
            if ready and not other.in_transaction:
                other.execute("BEGIN EXCLUSIVE")

        ready: list[bool] = []
        watch_randomness(monkeypatch, seen)
        prepared = call.prepare(call.data)
        ready.append(True)
        with pytest.warns(
            LedgerWarning, match="charged, but its result is not in the ledger: .*use"
        ):
            release = prepared(ledger=Ledger(path, wait=0), dataset="visits")
    assert release.items[0] == "ash"
    charge = only_charge(path)
    assert charge.result is None
    Ledger(path).record(charge, release)
    assert Ledger(path).history()[0].result == release.to_json()


class Odd:
    """A name that cannot be shown."""

    def __str__(self) -> str:
        raise ZeroDivisionError

    __repr__ = __str__


def test_each_release_that_is_not_recorded_is_told_with_its_charge(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python keeps silent about a warning that it has shown before."""

    def refuses(*_: object) -> None:
        raise LedgerError("It is in use.")

    monkeypatch.setattr(Ledger, "_record_drawn", refuses)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for _ in range(3):
            topgap.noisy_max(TREES, EPSILON, ledger=path, dataset="visits")
    assert [str(each.message) for each in told] == [
        f"The release was charged, but its result is not in the ledger: It is in use. Record it as "
        f"that of charge {number}."
        for number in (2, 3, 4)
    ]


def test_names_that_fail_when_they_are_shown_do_not_lose_the_release(path: Path) -> None:
    names = [Odd(), Odd(), Odd()]
    release = topgap.top_k([FAR, 0, 1], 1, 1, items=names, ledger=path, dataset="visits")
    assert release.items[0] is names[0]
    [charge] = Ledger(path).history()
    assert Release.from_json(str(charge.result)).items == ("<Odd>",)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("flu", "flu"),
        ("日本\n", "日本\n"),
        ("\ud800", "\ud800"),
        (7, 7),
        (2**70, 2**70),
        (True, True),
        (2.5, 2.5),
        (("flu", 2026), ("flu", 2026)),
        (date(2026, 3, 1), "2026-03-01"),
        (b"flu", "b'flu'"),
        (Fraction(1, 3), "1/3"),
        (float("inf"), "inf"),
    ],
    ids=ascii,
)
def test_names_that_json_cannot_hold_are_recorded_as_text(name: Any, kept: Any, path: Path) -> None:
    answers = {name: FAR, "elm": 0, "oak": 1}
    for call in (topgap.top_k, topgap.top_k_with_estimates):
        made = call(answers, 1, EPSILON, ledger=path, dataset="visits")
        assert made.items == (name,)
        recorded = made_of(Ledger(path).history()[-1].result)
        assert recorded.items == (kept,)
        assert type(recorded.items[0]) is type(kept)
    assert entries(path) == 5


def test_positions_and_missing_gaps_are_recorded_too(path: Path) -> None:
    made = topgap.top_k([0, FAR, 1], 1, EPSILON, gaps=False, ledger=path, dataset="visits")
    charge = only_charge(path)
    assert made_of(charge.result) == made
    assert charge.parameters["gaps"] is False


def test_a_float_costs_the_decimal_that_was_written(path: Path) -> None:
    for _ in range(10):
        topgap.noisy_max(TREES, 0.1, ledger=path, dataset="visits")
    assert Ledger(path).budget("visits").left == 0
    with refused("left for visits, 0 of 1", BudgetExceeded):
        topgap.noisy_max(TREES, "1e-30", ledger=path, dataset="visits")


# --- Selectors


def asked_twice(path: Path) -> None:
    made = topgap.Selector(TopK(2, EPSILON))
    made.add(TREES)
    first = made.release(ledger=path, dataset="visits")
    assert made.release(ledger=path, dataset="visits") is first
    assert made.release() is first
    without = made.release(gaps=False, ledger=path, dataset="visits")
    assert (without.items, without.gaps) == (first.items, None)
    assert Ledger(path).budget("visits").left == Fraction(2, 3)
    assert len(Ledger(path).history()) == 1


def test_a_selector_that_is_asked_twice_is_charged_once(path: Path) -> None:
    asked_twice(path)


def released_before(path: Path) -> None:
    made = topgap.Selector(TopK(2, EPSILON))
    made.add(TREES)
    made.release()
    with refused("was released already, but not with this ledger and data set", SelectorError):
        made.release(ledger=path, dataset="visits")
    assert entries(path) == 1
    Ledger(path).record(Ledger(path).charge("visits", EPSILON, mechanism="late"), made.release())
    assert entries(path) == 3


def test_a_selector_is_not_said_to_be_charged_where_it_is_not(path: Path) -> None:
    Ledger(path).add_dataset("stays", 1)
    made = topgap.Selector(TopK(2, EPSILON))
    made.add(TREES)
    release = made.release(ledger=path, dataset="visits")
    before = entries(path)
    for ledger in (path, str(path), Ledger(path)):
        assert made.release(ledger=ledger, dataset="visits") is release
    assert made.release() is release
    for ledger, dataset in ((path, "stays"), (path, "none"), (path.with_name("other"), "visits")):
        with refused("but not with this ledger and data set", SelectorError):
            made.release(ledger=ledger, dataset=dataset)
    for half in ({"ledger": path}, {"dataset": "visits"}):
        with refused("ledger and dataset go together", ParameterError):
            made.release(**half)
    assert entries(path) == before


def test_a_selector_that_was_released_before_is_charged_by_hand(path: Path) -> None:
    released_before(path)


def test_a_selector_that_is_not_ready_charges_nothing(path: Path) -> None:
    few, merged, whole = (topgap.Selector(TopK(2, EPSILON)) for _ in range(3))
    few.add({"ash": 1})
    merged.add({"ash": 1})
    whole.merge(merged)
    for made, error in ((few, AnswersError), (merged, SelectorError)):
        with pytest.raises(error):
            made.release(ledger=path, dataset="visits")
    with pytest.raises(ParameterTypeError):
        whole.release(gaps=1, ledger=path, dataset="visits")  # type: ignore[arg-type]
    assert entries(path) == 1
    few.add({"elm": 0, "oak": FAR})
    few.release(ledger=path, dataset="visits")
    assert entries(path) == 3


# --- And if the code were another


def look_at_order(path: Path) -> None:
    for name in ("top_k", "top_k_with_estimates", "Selector.release", "streams.top_k"):
        with quick_folder() as folder, pytest.MonkeyPatch.context() as patch:
            Ledger(folder / "budget.db").add_dataset("visits", 1)
            charged_first(name, folder / "budget.db", patch)
    assert entries(path) == 1


def look_at_refusals(path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        test_a_refusal_comes_before_any_data_are_looked_at("top_k", path, patch)


def look_at_bad_answers(path: Path) -> None:
    for name in ("top_k", "top_k_with_estimates"):
        test_bad_answers_charge_nothing(name, "missing", path)


def look_at_bad_rows(path: Path) -> None:
    for name in STREAMS:
        test_bad_rows_that_can_be_read_twice_charge_nothing("an item twice", name, as_it_is, path)


def look_at_few_rows(path: Path) -> None:
    test_bad_rows_that_can_be_read_twice_charge_nothing("too few", STREAMS[0], as_it_is, path)


def look_at_bad_counts(path: Path) -> None:
    test_bad_rows_that_can_be_read_twice_charge_nothing("not a number", STREAMS[0], as_it_is, path)


def look_at_pipes(path: Path) -> None:
    test_a_late_row_of_what_is_read_once_has_cost_epsilon(STREAMS[0], through_a_reader, path)


def look_at_results(path: Path) -> None:
    test_it_charges_epsilon_and_records_the_release("top_k", Path, path)


def look_at_estimates(path: Path) -> None:
    test_it_charges_epsilon_and_records_the_release("top_k_with_estimates", Path, path)


def look_at_warnings(path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        test_a_release_that_cannot_be_recorded_is_given_with_a_warning("top_k", path, patch)


def look_at_spark(_: Path) -> None:
    for name in ROWS_ON_SPARK:
        looked_at_on_spark(name)


def look_at_others(path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        test_what_others_spend_meanwhile_is_seen_when_it_is_charged("top_k", path, patch)


_CHARGE = """        self.charge = self._ledger.charge(
            self.dataset,
            self.epsilon,
            mechanism=self._mechanism,
            parameters=self.parameters,
            neighbours=self._neighbours,
        )
"""
Look = Callable[[Path], None]
MUTANTS: list[tuple[Any, Mutant, Look]] = [
    (charging, Mutant("charges after the draw", f"{_CHARGE}        result = self._run(draw)\n",
                     f"        result = self._run(draw)\n{_CHARGE}"), look_at_order),
    (charging, Mutant("does not check first",
                     "ledger.check(dataset, epsilon, neighbours=neighbours)", "(epsilon, epsilon)"),
     look_at_refusals),
    (charging, Mutant("charges what was free when it looked", "self._ledger.charge(\n",
                     "(type(self._ledger)(self._ledger.path).history() or (None,))[-1] or "
                     "self._ledger.charge(\n"),
     look_at_others),
    (charging, Mutant("records nothing",
                     "self.charge = self._ledger._record_drawn(self.charge, result)", "pass"),
     look_at_results),
    (charging, Mutant("records before the draw", "        result = self._run(draw)\n",
                     "        self._ledger.record(self.charge, 0)\n"
                     "        result = self._run(draw)\n"),
     look_at_order),
    (charging, Mutant("loses what it cannot record", "except Exception as error:",
                     "except ZeroDivisionError as error:"), look_at_warnings),
    (charging, Mutant("keeps silent", "            warnings.warn(", "            str("),
     look_at_warnings),
    (charging, Mutant("takes a ledger alone", "if ledger is None or dataset is None:", "if False:"),
     look_at_refusals),
    (charging, Mutant("is always free", "if ledger is None and dataset is None:", "if True:"),
     look_at_results),
    (mechanism, Mutant("charges before it looks",
                       "    data = prepare(\n",
                       "    pending.charge_then_run(\n"
                       "        lambda: Release(parameters, [*range(parameters.k)]))\n"
                       "    data = prepare(\n"),
     look_at_bad_answers),
    (mechanism, Mutant("draws before it pays",
                       "return pending.charge_then_run("
                       "lambda: select_prepared(parameters, data, gaps=gaps))",
                       "made = select_prepared(parameters, data, gaps=gaps)\n"
                       "    return pending.charge_then_run(lambda: made)"),
     look_at_order),
    (mechanism, Mutant("looks before it asks",
                       "        pending = prepare_charge(",
                       "        prepare(parameters, answers, items)\n"
                       "        pending = prepare_charge("),
     look_at_refusals),
    (top_k_with_estimates, Mutant("charges for the selection alone",
                             "return prepare_charge(ledger, dataset, mechanism, whole, stated, "
                             "**parts, **more)",
                             "return prepare_charge(ledger, dataset, mechanism, shares.selection)"),
     look_at_estimates),
    (top_k_with_estimates, Mutant("draws before it pays",
                             "return pending.charge_then_run("
                             "lambda: Estimates(*select_and_measure(), noise.repeat(k)))",
                             "made = Estimates(*select_and_measure(), noise.repeat(k))\n"
                             "    return pending.charge_then_run(lambda: made)"), look_at_order),
    (selector, Mutant("draws before it pays", "        pending.charge_then_run(draw_charged)\n",
                      "        made = draw_charged()\n"
                      "        pending.charge_then_run(lambda: made)\n"), look_at_order),
    (selector, Mutant("forgets that it was charged", "self._charged = account",
                      "self._charged = None"), asked_twice),
    (selector, Mutant("lets a ledger come late",
                      "if _account(ledger, dataset) not in (None, self._charged):",
                      "if False:"),
     released_before),
    (rows, Mutant("does not look", "return all(part.can_be_reread for part in self._parts)",
                  "return False"), look_at_bad_rows),
    (rows, Mutant("looks at what is read once",
                  "return all(part.can_be_reread for part in self._parts)", "return True"),
     look_at_pipes),
    (rows, Mutant("does not count what it looks at",
                  "            check_enough(found, fewest_winners)\n", "            pass\n"),
     look_at_few_rows),
    (rows, Mutant("does not look at counts", "            check_finite(numbers)\n", ""),
     look_at_bad_counts),
    (rows, Mutant("does not look at names", "            if len({*names}) < len(names):",
                  "            if False:"),
     look_at_bad_rows),
    (arrow_partition, Mutant("does not look at counts", "            check_finite(numbers)\n", ""),
     look_at_spark),
    (arrow_partition, Mutant("does not look at items",
                        "            _check_items(rows)\n            num", "            num"),
     look_at_spark),
    (arrow_partition, Mutant("does not count what it looks at", "count += len(rows)", "count += 1"),
     look_at_spark),
    (one_pass_release, Mutant("draws before it pays",
                       "            rows.dry_run(parameters.fewest_winners)\n"
                       "        return pending.charge_then_run(draw)",
                       "            rows.dry_run(parameters.fewest_winners)\n"
                       "        made = draw()\n"
                       "        return pending.charge_then_run(lambda: made)"), look_at_order),
]  # fmt: skip


@pytest.mark.parametrize(
    ("module", "mutant", "look"),
    MUTANTS,
    ids=[f"{module.__name__}: {mutant.name}" for module, mutant, _ in MUTANTS],
)
def test_code_that_pays_otherwise_is_found(
    module: Any, mutant: Mutant, look: Look, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_in_place(monkeypatch, module, mutant)
    assert is_found(lambda: look(path))


def test_the_code_as_it_is_passes_what_finds_them(path: Path) -> None:
    for look in (look_at_order, look_at_bad_answers, look_at_bad_rows, look_at_bad_counts):
        look(path)
    assert issubclass(BudgetExceeded, LedgerError)
