"""The paper's table of data sets beside what is at hand: counted where there are transactions."""

from collections.abc import Sequence

from benchmarks.data import SHARED, find_whole
from benchmarks.pages import format_table
from benchmarks.paper.published import DATASETS
from benchmarks.paper.runs import Source
from topgap import datasets

TRANSACTIONS = {"T40I10D100K": SHARED / "t40i10d100k.dat.gz"}

# What is known of counts whose transactions are not available.
TOLD = {
    "Kosarak": "not available: only counts of occurrences",
    "part of BMS-POS": "275,000 of 515,597, as its source says",
}


def records(source: Source) -> str:
    """How many records are behind these counts, or why that is not known."""
    if not source.real:
        return "none: made up"
    dataset = find_whole(source.paper)
    if dataset is not None:
        return format_counted(source, dataset)
    path = TRANSACTIONS.get(source.label)
    if path is not None and path.exists():
        return format_counted(source, datasets.read(path))
    return TOLD.get(source.label, "not available: only counts")


def format_counted(source: Source, dataset: datasets.Dataset) -> str:
    """The number of records, if they have just the counts that are measured on."""
    if sorted(dataset.counts.values()) != sorted(source.counts.tolist()):
        raise ValueError(f"What {dataset.path.name} holds does not have the counts measured on.")
    if dataset.records is None:
        return "not available: only counts"
    return f"{dataset.records:,}, counted"


def all_records(sources: Sequence[Source]) -> str:
    """The table."""
    rows = []
    for source in sources:
        records_there, items_there = DATASETS[source.paper]
        there = [f"{records_there:,}", f"{items_there:,}"]
        rows.append([source.paper, *there, source.label, records(source), f"{source.n:,}"])
    return format_table(["paper", "records", "items", "measured here", "records", "items"], rows)
