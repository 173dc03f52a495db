"""Made-up data sets of any size, to try, test and measure with; there is nobody behind them.

`quest` makes shopping baskets: `baskets(T40I10D100K, seed=1)` is like the public file of that name.
"""

from topgap.datasets.quest import T40I10D100K, Quest, baskets, write

__all__ = ["T40I10D100K", "Quest", "baskets", "write"]
