"""Public data sets, and made-up ones of any size, to try, test and measure with.

    load("Kosarak")                a data set of the paper: a Dataset, which says if it is verified
    read(path)                     any other public file of transactions, or of precomputed counts
    transactions(path)             the transactions of such a file, one by one
    baskets(T40I10D100K, seed=1)   made-up ones, by the Quest generator; there is nobody behind them
    write(path, baskets)           transactions as a file

All this is for public data alone: errors may show what a file has in it. Data about people who are
to be protected go through `topgap.counting`.
"""

from topgap.datasets.catalogue import CATALOGUE, CatalogueEntry, Source
from topgap.datasets.dataset import Dataset, read
from topgap.datasets.fimi import FORMS, Form, transactions
from topgap.datasets.folders import data_folder
from topgap.datasets.loading import find, load
from topgap.datasets.quest import T40I10D100K, Quest, baskets, write

__all__ = [
    "CATALOGUE",
    "FORMS",
    "T40I10D100K",
    "CatalogueEntry",
    "Dataset",
    "Form",
    "Quest",
    "Source",
    "baskets",
    "data_folder",
    "find",
    "load",
    "read",
    "transactions",
    "write",
]
