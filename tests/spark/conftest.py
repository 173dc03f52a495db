"""What the tests on a cluster share, the cluster first of all."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark.cluster import PARTITIONS, cluster, require_java
from tests.spark.nearly_noiseless import CERTAIN
from topgap.ledger import Ledger


@pytest.fixture(scope="package")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session on a cluster of two workers."""
    require_java()
    with cluster(tmp_path_factory.mktemp("cluster")) as session:
        yield session


@pytest.fixture
def in_partitions(spark: SparkSession) -> Iterator[Callable[[int], None]]:
    """Sets how many partitions a shuffle makes."""
    yield lambda number: spark.conf.set("spark.sql.shuffle.partitions", number)
    spark.conf.set("spark.sql.shuffle.partitions", PARTITIONS)


@pytest.fixture
def no_job(spark: SparkSession) -> Iterator[None]:
    """Makes sure that Spark ran nothing."""
    tracker = spark.sparkContext.statusTracker()
    before = tracker.getJobIdsForGroup()
    yield
    assert tracker.getJobIdsForGroup() == before


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger with a total that is enough for three releases with hardly any noise."""
    made = Ledger(tmp_path / "budget.db")
    made.add_dataset("visits", 3 * CERTAIN)
    return made
