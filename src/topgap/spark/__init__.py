"""Noisy Top-k with Gap on a Spark cluster, whatever the number of items.

    top_k(df, k, epsilon, item=…, count=…)                    from counts that are there already
    top_k_events(df, k, epsilon, person=…, item=…, domain=…)  from events: who had what
    top_k_with_estimates(…), top_k_events_with_estimates(…)   how many, too

Spark counts, and each partition draws its noise in place; the driver sees hardly more than
k + 1 rows of each. A domain can be too large to write out: the driver draws those of its items that
nobody has, once, and looks the few that may win up in the data. A call returns a `Release` or
`Estimates`, and with `by` a list for each group; what Spark runs more than once for it, because a
task failed or was slow, has the same noise each time. A session of Spark Connect will do, too.
docs/spark.md explains why.
"""

from importlib.util import find_spec

from topgap.errors import MissingExtraError

if not all(map(find_spec, ("pandas", "pyarrow", "pyspark"))):
    raise MissingExtraError("topgap.spark needs PySpark: pip install 'pyspark[sql]>=4,<5'.")

import pyspark

if int(pyspark.__version__.partition(".")[0]) < 4:
    raise MissingExtraError(
        f"topgap.spark needs PySpark 4, and {pyspark.__version__} is here: "
        f"pip install 'pyspark[sql]>=4,<5'."
    )

from topgap.spark.estimates import top_k_with_estimates
from topgap.spark.events import top_k_events, top_k_events_with_estimates
from topgap.spark.mechanism import top_k

__all__ = ["top_k", "top_k_events", "top_k_events_with_estimates", "top_k_with_estimates"]
