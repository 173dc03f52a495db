"""The demonstration: made-up baskets, counted and released, with an explanation."""

import shlex
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from rich.console import Console

from topgap.cli import files
from topgap.cli.progress import Bar
from topgap.cli.release.publication import Publication
from topgap.cli.release.terminal import TerminalTable
from topgap.counting import count_transactions
from topgap.datasets import Quest, baskets, write
from topgap.display.text import format_path
from topgap.parameters import TopK
from topgap.selection.mechanism import select

K, EPSILON = 25, 1
_SEED = 1994
_TOLD_EVERY = 1_000


def run_demo(transactions: int, save: Path | None) -> None:
    """Make up the baskets, release the most bought products, and explain the output."""
    quest = Quest(transactions=transactions)
    if save is not None:
        files.check([save], [], overwrite=False)
    console = Console(highlight=False)
    console.print(
        "\nWhich products are bought most, and by how much, without revealing any one customer?\n\n"
        f"The data: {transactions:,} made-up shopping baskets, the same at each run, of "
        f"{quest.items:,} products, numbered from 0.\n"
        f"The release: the {K} most bought at ε = {EPSILON}, with new noise at each run.\n"
    )
    parameters = TopK(K, EPSILON, monotonic=True)
    with tempfile.TemporaryDirectory(prefix="topgap-") as directory, Bar() as bar:
        path = Path(directory, "baskets.dat")
        write(path, _report_progress(baskets(quest, _SEED), transactions, bar))
        counts = count_transactions(path, domain=range(quest.items), progress=bar)
        if save is not None:
            files.write({save: path.read_bytes()}, overwrite=False)
    release = select(parameters, counts)
    console.print(TerminalTable(Publication(release)))
    right = len({*release.items} & {*sorted(counts, key=counts.__getitem__)[-K:]})
    console.print(
        "\nThis list may be published: it is ε-differentially private, gaps included, and the gaps "
        f"cost nothing extra. Each count got noise of mean {parameters.scale}. Nobody is "
        f"behind these baskets, so this can be said, too: {right} of the {K} truly are among the "
        f"{K} most bought."
    )
    if save is not None:
        shown = format_path(save)
        console.print(f"\nThe baskets are in {shown}; the same release from them:\n", markup=False)
        command = f"topgap release {shlex.quote(shown)} --domain-range 0:{quest.items - 1}"
        print(f"{command} -k {K} --epsilon {EPSILON}")


def _report_progress(made: Iterable[list[int]], total: int, bar: Bar) -> Iterator[list[int]]:
    for number, basket in enumerate(made):
        if number % _TOLD_EVERY == 0:
            bar("making baskets", number / total)
        yield basket
