"""A real Spark cluster on this machine: a master, two workers with an executor each, and a session.

The workers have host names of their own, or Spark would never run a second copy of a slow task.
Everything that the cluster writes lies in one folder, and all its processes end with it.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
import pytest
from pyspark import SparkContext
from pyspark.sql import SparkSession

import topgap

HOME = Path(pyspark.__file__).parent
ROOT = Path(__file__).parents[2]
PACKAGE = Path(topgap.__file__).parents[1]
HOSTS = ("127.0.0.1", "127.0.0.2")
PARTITIONS = 2
QUICK = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
_SETTINGS = {
    "spark.driver.bindAddress": HOSTS[0],
    "spark.driver.host": HOSTS[0],
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.driver.extraJavaOptions": QUICK,
    "spark.executor.extraJavaOptions": QUICK,
    "spark.executorEnv.PYTHONPATH": os.pathsep.join(map(str, (ROOT, PACKAGE))),
    "spark.cores.max": str(len(HOSTS)),  # of which all must be there before a job is run
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.locality.wait": "100ms",
    "spark.sql.adaptive.coalescePartitions.enabled": "false",  # so many partitions as are asked for
    "spark.sql.shuffle.partitions": str(PARTITIONS),
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # A copy of each task that is slower than this, and than the others; none is so by chance alone.
    "spark.speculation": "true",
    "spark.speculation.minTaskRuntime": "2s",
}
LOGGING = """\
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
appender.file.type = Console
appender.file.name = file
appender.file.target = SYSTEM_OUT
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %p %c{1}: %m%n%ex
"""


@contextmanager
def cluster(folder: Path) -> Iterator[SparkSession]:
    """Start the cluster, all of whose files are in this folder, and stop it at the end."""
    settings = folder / "settings"
    settings.mkdir()
    (settings / "log4j2.properties").write_text(LOGGING)
    warehouse = {"spark.sql.warehouse.dir": str(folder / "warehouse")}
    lines = [f"{name} {value}\n" for name, value in {**_SETTINGS, **warehouse}.items()]
    (settings / "spark-defaults.conf").write_text("".join(lines))
    started: list[subprocess.Popen[bytes]] = []
    with pytest.MonkeyPatch.context() as patch:
        for name in ("MASTER", "PYSPARK_SUBMIT_ARGS", "SPARK_REMOTE"):
            patch.delenv(name, raising=False)
        for name, value in _environment(folder, settings).items():
            patch.setenv(name, value)
        try:
            master, log = _daemon("master.Master", HOSTS[0], [], folder)
            started.append(master)
            address = find_in_log(log, r"Starting Spark master at (spark://\S+)", master)
            for host in HOSTS:
                given = ["--cores", "1", "--memory", "600m", "--work-dir", str(folder / "work")]
                started.append(_daemon("worker.Worker", host, [*given, address], folder)[0])
            session = SparkSession.builder.master(address).appName("topgap").getOrCreate()
            try:
                yield session
            finally:
                session.stop()
                _end_gateway()
        finally:
            for process in started:
                process.terminate()
            for process in started:
                process.wait(60)


def end_own_executor() -> None:
    """Called in a task: end the process that runs it, at once."""
    daemon = os.getppid()
    executor = int(Path(f"/proc/{daemon}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(executor, signal.SIGKILL)
    time.sleep(60)


def require_java() -> None:
    """Skip the test if there is no Java 17 here or newer; with TOPGAP_NEEDS_JAVA=1 it fails."""
    try:
        shown = subprocess.run([_java(), "-version"], capture_output=True, text=True).stderr
    except OSError:
        shown = ""
    version = re.search(r'version "(\d+)', shown)
    if version is None or int(version[1]) < 17:
        refuse = pytest.fail if os.environ.get("TOPGAP_NEEDS_JAVA") == "1" else pytest.skip
        where = "in JAVA_HOME" if os.environ.get("JAVA_HOME") else "here"
        refuse(f"There is no Java 17 {where}, or newer.")


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    return str(Path(home, "bin", "java")) if home else "java"


def _environment(folder: Path, settings: Path) -> dict[str, str]:
    [core] = (HOME / "jars").glob("spark-core_*.jar")
    return {
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_CONF_DIR": str(settings),
        "SPARK_HOME": str(HOME),
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_LOCAL_IP": HOSTS[0],
        "SPARK_SCALA_VERSION": core.name.split("_")[1].split("-")[0],
    }


def _daemon(
    name: str, host: str, given: list[str], folder: Path
) -> tuple[subprocess.Popen[bytes], Path]:
    log = folder / f"{name} {host}.log"
    classes = f"{os.environ['SPARK_CONF_DIR']}:{HOME}/jars/*"
    command = [_java(), "-Xmx128m", *QUICK.split(), "-cp", classes]
    command += [f"org.apache.spark.deploy.{name}", "--host", host, "--port", "0"]
    command += ["--webui-port", "0", *given]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, cwd=folder,
            env={**os.environ, "SPARK_LOCAL_IP": host},
        )  # fmt: skip
    return process, log


def find_in_log(log: Path, pattern: str, process: "subprocess.Popen[bytes]") -> str:
    """What a process writes into its log once it is there."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        if found := re.search(pattern, log.read_text()):
            return found[1]
        time.sleep(0.05)
    raise RuntimeError(f"Spark did not start:\n{log.read_text()}")


def _end_gateway() -> None:
    """End the driver's own JVM too, which PySpark keeps for the next session."""
    gateway = SparkContext._gateway
    assert gateway is not None
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(60)
    SparkContext._gateway = SparkContext._jvm = None
