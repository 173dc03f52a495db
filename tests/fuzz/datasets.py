"""Made-up baskets, and public files of transactions, whole, damaged or of another kind."""

import gzip
import io
import itertools
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tests.fuzz.judge import Judge
from topgap import datasets
from topgap.errors import DatasetError, ParameterError, ParameterTypeError

PARAMETERS = (ParameterError, ParameterTypeError)
READING = (ParameterError, DatasetError)

_SIZES = st.sampled_from(
    [0, 1, 2, 5, 0.5, 40, -1, None, True, "3", float("nan"), float("inf"), 1e9]
)


@st.composite
def made_up(draw: st.DrawFn) -> dict[str, Any]:
    """What baskets are made with."""
    names = ["transactions", "mean_size", "mean_pattern", "patterns", "items", "correlation"]
    names += ["corruption", "corruption_variance", "equal_items"]
    chosen = draw(st.lists(st.sampled_from(names), max_size=3, unique=True))
    small = {"transactions": 3, "patterns": 5, "items": 20, "mean_size": 3, "mean_pattern": 2}
    return {
        "quest": {**small, **{name: draw(_SIZES) for name in chosen}},
        "seed": draw(st.sampled_from([0, 1, 2**70, -1, None, "1", 1.0, True])),
    }


def fuzz_made_up(given: dict[str, Any], call: Judge) -> None:
    """Make baskets, and write them."""
    quest = call("topgap.datasets.Quest", PARAMETERS, datasets.Quest, **given["quest"])
    if quest is None or quest.items > 10**6 or quest.patterns > 10**4 or quest.mean_size > 1000:
        return
    if quest.mean_pattern > 1000:
        return
    baskets = call("topgap.datasets.baskets", PARAMETERS, datasets.baskets, quest, given["seed"])
    if baskets is None:
        return
    some = [*itertools.islice(baskets, 5)]
    assert all(basket == sorted({*basket}) for basket in some)
    assert all(0 <= item < quest.items for basket in some for item in basket)
    with tempfile.TemporaryDirectory() as folder:
        call("topgap.datasets.write", (), datasets.write, Path(folder, "x"), some)
        lines = io.StringIO(Path(folder, "x").read_text()).readlines()
        assert len(lines) == len(some)


_LINES = st.lists(
    st.one_of(
        st.sampled_from([b"1 2 3", b"", b"7 -1 3 -1 -2", b"-2", b"1,2", b"1\t7", b"2\t7"]),
        st.sampled_from([b"9" * 30, b"-4", b"+1", b"1_0", b"\xff", b"\x1f\x8b\x08", b"3,0"]),
        st.binary(max_size=12),
    ),
    max_size=8,
)


@st.composite
def public_files(draw: st.DrawFn) -> dict[str, Any]:
    """A file of transactions, of any form or none, and what it is said to be."""
    content = draw(st.sampled_from([b"\n", b"\r\n"])).join(draw(_LINES))
    packed = draw(st.sampled_from(["not", "packed", "cut short"]))
    if packed != "not":
        content = gzip.compress(content)[: None if packed == "packed" else -6]
    return {
        "content": content,
        "form": draw(st.sampled_from([*datasets.FORMS, "counts", "csv", "", None, 3])),
        "name": draw(st.sampled_from(["Kosarak", "bms pos", "t40i10d100k", "x", "", None, 3])),
        "file": draw(st.sampled_from(["x.dat", "Kosarak.dat", "kosarak.csv", "nothing", "."])),
        "records": draw(st.integers(0, 3)),
        "url": draw(st.sampled_from(["https://localhost/x", "ftp://x", "", "x"])),
    }


def fuzz_public_files(given: dict[str, Any], call: Judge) -> None:
    """Read the file in every way, also as a data set that is known by name."""
    form, name = given["form"], given["name"]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "x.dat").write_bytes(given["content"])
        Path(folder, "Kosarak.dat").write_bytes(given["content"])
        path = Path(folder, given["file"])
        found = call("topgap.datasets.find", (ParameterError,), datasets.find, name, cache=folder)
        assert found is None or found.parent == Path(folder)
        read = call("topgap.datasets.read", READING, datasets.read, path, form=form)
        one_by_one = call("topgap.datasets.transactions", READING, _all_of, path, form)
        if read is not None:
            assert all(count > 0 for count in read.counts.values())
            again = call(
                "topgap.datasets.Dataset.transactions", READING, lambda: [*read.transactions()]
            )
            assert again == one_by_one
            assert again is None or read.records == len(again)
        call("topgap.datasets.load", READING, datasets.load, name, path, form=form)
        source = call(
            "topgap.datasets.Source", (ParameterError,), datasets.Source, url=given["url"]
        )
        entry = call(
            "topgap.datasets.CatalogueEntry", (), datasets.CatalogueEntry, name="x",
            records=given["records"], items=2, form="fimi", checksum="sha256:00",
            sources=(source,) if source else (),
        )  # fmt: skip
        known = {"x": entry} if entry else {}
        mine = call(
            "topgap.datasets.load", READING, datasets.load, "x", cache=folder, catalogue=known
        )
        assert mine is None or (mine.records, mine.items) == (given["records"], 2)
    call("topgap.datasets.data_folder", (), datasets.data_folder, {"TOPGAP_DATA": folder})


def _all_of(path: Path, form: Any) -> list[list[int]]:
    return [*datasets.transactions(path, form=form)]
