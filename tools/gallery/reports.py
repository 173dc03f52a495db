"""What each of the reports shows: its data, its release, and the words of its page."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import topgap
from tools.gallery.made_up import DIAGNOSES, REGIONS, count_patients
from topgap import Domain, Estimates, GroupedEstimates, GroupedRelease, Release
from topgap.report import Details

Result: TypeAlias = Release | Estimates | GroupedRelease | GroupedEstimates


@dataclass(frozen=True, kw_only=True)
class Report:
    """A report of the gallery.

    Attributes:
        name: That of its file.
        question: What a reader asks, for the gallery's page.
        source: Where the data come from, for the gallery's page.
        release: Makes the release from the folder with the public files.
        details: What the page says.
    """

    name: str
    question: str
    source: str
    release: Callable[[Path], Result]
    details: Details


def _diagnoses(_: Path) -> Estimates:
    everyone = sum(count_patients().values(), Counter())
    return topgap.top_k_with_estimates(
        everyone, k=10, epsilon=1, monotonic=True, domain=Domain([*DIAGNOSES])
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
        groups=[*REGIONS], domain=Domain([*DIAGNOSES]),
    )  # fmt: skip


def _threshold(folder: Path) -> Release:
    counts = topgap.datasets.read(folder / "bms-pos.partial-275k.counts.csv", form="counts").counts
    return topgap.top_k(
        counts, k=20, epsilon=1, monotonic=True, threshold=25_000, domain=Domain.range(0, 1_657)
    )


MADE_UP = "Made-up data: 24,000 patients of no real hospital, with one to four of 30 diagnoses each"
_KOSARAK = (
    "Kosarak: 990,002 sessions of a Hungarian news portal, given to the FIMI repository by F. Bodon"
)
_RETAIL = "Retail: 88,162 baskets of a Belgian supermarket, by T. Brijs and others"
_BMS_POS = (
    "A part of BMS-POS: 275,000 of its 515,597 baskets (KDD Cup 2000, by Blue Martini Software; "
    "used with acknowledgement)"
)
_NUMBERED = "Products have numbers instead of names."

REPORTS = (
    Report(
        name="diagnoses",
        question="Which diagnoses are the most common, and how many patients have each?",
        source=f"{MADE_UP} (`tools/gallery/made_up.py`).",
        release=_diagnoses,
        details=Details(
            title="The ten most common diagnoses",
            publisher="A made-up hospital",
            period="2025",
            labels=DIAGNOSES,
            person_word="patients",
            item_word="diagnoses",
            source_note=f"{MADE_UP}.",
        ),
    ),
    Report(
        name="pages",
        question="Which pages of a news portal are visited most, and by how much?",
        source=f"{_KOSARAK}. Pages have numbers instead of names.",
        release=_pages,
        details=Details(
            title="The ten most visited pages",
            person_word="sessions",
            item_word="pages",
            source_note=f"{_KOSARAK}.",
            caveat="The public file counts visits. About 40 of the 990,002 sessions visited a page "
            "more than once, and ε does not hold for these.",
        ),
    ),
    Report(
        name="products",
        question="Which products of a supermarket are bought most, and how often?",
        source=f"{_RETAIL}. {_NUMBERED}",
        release=_products,
        details=Details(
            title="The ten most bought products",
            person_word="baskets",
            item_word="products",
            source_note=f"{_RETAIL}.",
        ),
    ),
    Report(
        name="pairs",
        question="Which two products are in the same basket most often?",
        source="Retail again. The domain has all 135,622,215 pairs of 16,470 products and is never "
        "written out.",
        release=_pairs,
        details=Details(
            title="The ten pairs of products that are bought together most",
            person_word="baskets",
            item_word="pairs of products",
            source_note=f"{_RETAIL}.",
        ),
    ),
    Report(
        name="regions",
        question="Which diagnoses are the most common in each of five regions, for one ε?",
        source="The same made-up patients, in five made-up regions. All five lists cost ε once, "
        "because each patient is in one region.",
        release=_regions,
        details=Details(
            title="The five most common diagnoses of each region",
            publisher="A made-up hospital",
            period="2025",
            labels=DIAGNOSES,
            person_word="patients",
            item_word="diagnoses",
            source_note=f"{MADE_UP}, in five made-up regions.",
        ),
    ),
    Report(
        name="threshold",
        question="Which products are in more than 25,000 baskets, and in how many?",
        source=f"{_BMS_POS}. {_NUMBERED}",
        release=_threshold,
        details=Details(
            title="Products in more than 25,000 baskets",
            person_word="baskets",
            item_word="products",
            source_note=f"{_BMS_POS}.",
        ),
    ),
)
