"""What is known about the public data sets: their numbers, where they are, and their checksums.

The numbers are those of the first table of the paper. A checksum is of what the file *holds*,
unpacked, so that any packing is right.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from topgap.datasets.fimi import Form
from topgap.errors import ParameterError


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where a data set can be downloaded.

    Attributes:
        url: Its address, by https or http: the checksum guards either.
        member: The name of the file in the ZIP archive that is there, with or without `.gz`. None
            if there is no archive.
    """

    url: str
    member: str | None = None

    def __post_init__(self) -> None:
        if not self.url.startswith(("https://", "http://")):
            raise ParameterError("A source's url must start with https:// or http://.")


@dataclass(frozen=True, kw_only=True)
class CatalogueEntry:
    """A public data set by name.

    Attributes:
        name: As the paper writes it.
        records: How many transactions there are.
        items: How many items somebody has.
        form: The form of the file that is downloaded.
        checksum: Of what that file holds: `sha256:` or `sha1:` and the sum.
        sources: Where it is; tried in this order.
    """

    name: str
    records: int
    items: int
    form: Form
    checksum: str
    sources: tuple[Source, ...]

    @property
    def file(self) -> str:
        """What the file is called in the cache."""
        return f"{self.name}.dat"


# The FIMI repository itself, and the copy of its workshop's data at the RPI. The latter is said to
# be the one that is left, and so comes first.
_FIMI = ("https://www.cs.rpi.edu/~zaki/Workshops/FIMI/data", "http://fimi.uantwerpen.be/data")

CATALOGUE: Mapping[str, CatalogueEntry] = {
    entry.name: entry
    for entry in (
        CatalogueEntry(
            name="T40I10D100K",
            records=100_000,
            items=942,
            form="fimi",
            # Computed from a copy whose hash as a git blob is that of the public file,
            # da470ce37e1a10e726a71aed02a1ce8f5b67a582.
            checksum="sha256:9c3c95de0c2cc08111978354fe159a3c5c2bd48c83ec7527490e5b216db52ed4",
            sources=tuple(
                Source(url=f"{base}/T40I10D100K.dat{end}")
                for base, end in zip(_FIMI, (".gz", ""), strict=True)
            ),
        ),
        CatalogueEntry(
            name="BMS-POS",
            records=515_597,
            items=1_657,
            form="pairs",
            # Published by one user of the file, in BMS-POS.dat.sha1 of the repository
            # mitakas/flink-apriori-java; of BMS-POS.dat from the archive below, unpacked. Not
            # computed here. No SHA-256 is known.
            checksum="sha1:b9fa6e98dbd3088bc76662660b44ed62d80564d5",
            sources=tuple(
                Source(url=f"{scheme}://www.kdd.org/cupfiles/KDDCup2000.zip", member="BMS-POS.dat")
                for scheme in ("https", "http")
            ),
        ),
        CatalogueEntry(
            name="Kosarak",
            records=990_002,
            items=41_270,
            form="fimi",
            # Published by one user of the file, in a script that downloads the first of these
            # sources, unpacks it and compares kosarak.dat with this sum. Not computed here.
            checksum="sha256:b7855ba155567d52390aa2a9eb09bb91ca27b5c737d358010501038f42d13dcf",
            sources=tuple(
                Source(url=f"{base}/kosarak.dat{end}")
                for base, end in zip(_FIMI, (".gz", ""), strict=True)
            ),
        ),
    )
}


def find_entry(name: str, catalogue: Mapping[str, CatalogueEntry] = CATALOGUE) -> CatalogueEntry:
    """The data set that a name means, however it is spelt.

    Raises:
        ParameterError: There is none.

    >>> find_entry("bmspos").name, find_entry("KOSARAK").name
    ('BMS-POS', 'Kosarak')
    """
    for known, entry in catalogue.items():
        if isinstance(name, str) and _normalize(known) == _normalize(name):
            return entry
    raise ParameterError(
        f"The data sets that are known by name are {', '.join(catalogue)}; "
        f"topgap.datasets.read takes any file."
    )


def _normalize(name: str) -> str:
    return re.sub(r"[-_ ]", "", name).casefold()
