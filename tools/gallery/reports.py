"""What each of the reports shows: its data, its release, and the words of its page."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import topgap
from tools.gallery.made_up import DIAGNOSES, REGIONS, count_patients
from topgap import Domain, Estimates, GroupedEstimates, GroupedRelease, Release

Result: TypeAlias = Release | Estimates | GroupedRelease | GroupedEstimates


@dataclass(frozen=True, kw_only=True)
class Report:
    """A report of the gallery.

    Attributes:
        name: That of its file.
        title: Its heading.
        question: What a reader asks, for the gallery's page.
        counted: What was counted, and where the data come from.
        source: Where the data come from, for the gallery's page.
        release: Makes the release from the folder with the public files.
        caveat: What ε does not cover, if there is such a thing.
    """

    name: str
    title: str
    question: str
    counted: str
    source: str
    release: Callable[[Path], Result]
    caveat: str | None = None


def _diagnoses(_: Path) -> Estimates:
    everyone = sum(count_patients().values(), Counter())
    return topgap.top_k_with_estimates(
        everyone, k=10, epsilon=1, monotonic=True, domain=Domain(DIAGNOSES)
    )


def _pages(folder: Path) -> Release:
    counts = topgap.datasets.read(folder / "kosarak.counts.csv", form="counts").counts
    return topgap.top_k(
        counts, k=10, epsilon="1/10", monotonic=True, domain=Domain.range(1, 41_271)
    )


def _products(folder: Path) -> Estimates:
    counts = topgap.datasets.read(folder / "retail.counts.csv", form="counts").counts
    return topgap.top_k_with_estimates(
        counts, k=10, epsilon=1, monotonic=True, domain=Domain.range(0, 16_470)
    )


def _pairs(folder: Path) -> Release:
    pairs = topgap.counting.count_transactions(
        folder / "retail.dat.gz", domain=range(16_470), together=2
    )
    return topgap.top_k(pairs, k=10, epsilon="1/2", monotonic=True)


def _regions(_: Path) -> GroupedRelease:
    return topgap.top_k_by_group(
        count_patients(), k=5, epsilon=1, groups_per_person=1, monotonic=True,
        groups=[*REGIONS], domain=Domain(DIAGNOSES),
    )  # fmt: skip


def _threshold(folder: Path) -> Release:
    counts = topgap.datasets.read(folder / "bms-pos.partial-275k.counts.csv", form="counts").counts
    return topgap.top_k(
        counts, k=20, epsilon=1, monotonic=True, threshold=25_000, domain=Domain.range(0, 1_657)
    )


MADE_UP = "Made-up data: 24,000 patients of no real hospital, with one to four of 30 diagnoses each"

REPORTS = (
    Report(
        name="diagnoses",
        title="The ten most common diagnoses",
        question="Which diagnoses are the most common, and how many patients have each?",
        counted=f"For each diagnosis, the patients who have it. {MADE_UP}.",
        source=f"{MADE_UP} (`tools/gallery/made_up.py`).",
        release=_diagnoses,
    ),
    Report(
        name="pages",
        title="The ten most visited pages",
        question="Which pages of a news portal are visited most, and by how much?",
        counted="For each page, the sessions that visited it, of 990,002 sessions of a Hungarian "
        "news portal: the public data set Kosarak, given to the FIMI repository by F. Bodon.",
        caveat="The public file counts visits. About 40 of the 990,002 sessions visited a page "
        "more than once, and ε does not hold for these.",
        source="Kosarak, 990,002 sessions of a Hungarian news portal, given to the FIMI repository "
        "by F. Bodon. Pages have numbers in place of names.",
        release=_pages,
    ),
    Report(
        name="products",
        title="The ten most bought products",
        question="Which products of a supermarket are bought most, and how often?",
        counted="For each product, the baskets that hold it, of 88,162 baskets of a Belgian "
        "supermarket: the public data set Retail, by T. Brijs and others.",
        source="Retail, 88,162 baskets of a Belgian supermarket, by T. Brijs and others. Products "
        "have numbers in place of names.",
        release=_products,
    ),
    Report(
        name="pairs",
        title="The ten pairs of products that are bought together most",
        question="Which two products are in the same basket most often?",
        counted="For each of 135,622,215 pairs of products, the baskets that hold both, of 88,162 "
        "baskets of a Belgian supermarket: the public data set Retail, by T. Brijs and others.",
        source="Retail again. The domain is all pairs of 16,470 products, 135,622,215 of them, and "
        "is never written out.",
        release=_pairs,
    ),
    Report(
        name="regions",
        title="The five most common diagnoses of each region",
        question="Which diagnoses are the most common in each of five regions, for one ε?",
        counted=f"For each region, the patients with each diagnosis. {MADE_UP}, in five made-up "
        "regions.",
        source="The same made-up patients, in five made-up regions. All five lists cost ε once, "
        "for each patient is in one region.",
        release=_regions,
    ),
    Report(
        name="threshold",
        title="Products in more than 25,000 baskets",
        question="Which products are in more than 25,000 baskets, and in how many?",
        counted="For each product, the baskets that hold it, of 275,000 of the 515,597 baskets of "
        "BMS-POS: KDD Cup 2000, by Blue Martini Software. This is a part, not the whole data set.",
        source="A part of BMS-POS, 275,000 of its 515,597 baskets (KDD Cup 2000, by Blue Martini "
        "Software; used with acknowledgement). Products have numbers in place of names.",
        release=_threshold,
    ),
)  # fmt: skip
