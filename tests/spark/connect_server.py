"""A real server of Spark Connect on this machine, whose Python can be made to lack something."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.spark.cluster import HOME, HOSTS, LOGGING, PACKAGE, QUICK, ROOT, find_in_log

_SETTINGS = {
    "spark.connect.grpc.binding.address": HOSTS[0],
    "spark.connect.grpc.binding.port": "0",
    "spark.driver.bindAddress": HOSTS[0],
    "spark.driver.host": HOSTS[0],
    "spark.driver.memory": "512m",
    "spark.driver.extraJavaOptions": QUICK,
    "spark.python.worker.reuse": "false",  # a worker that has topgap would go on having it
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
}
_SITE = """\
import sys
from pathlib import Path

class Lacking:
    def find_spec(self, name, *_):
        lacks = Path({lacking!r}).read_text()
        if name.partition(".")[0] == lacks:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
        if name == "topgap" and lacks == "version":
            sys.path.insert(0, {other!r})

sys.meta_path.insert(0, Lacking())
"""


class ConnectServer(NamedTuple):
    """A server that runs.

    Attributes:
        url: Where it is.
        lacking: A file with the name of a module that its Python cannot import, or "version" for
            another version of topgap; empty if nothing is amiss.
        log: What it has written.
    """

    url: str
    lacking: Path
    log: Path


@contextmanager
def connect_server(folder: Path) -> Iterator[ConnectServer]:
    """Start the server, all of whose files are in this folder, and stop it at the end."""
    settings, lacking, log = folder / "settings", folder / "lacking", folder / "log"
    settings.mkdir()
    lacking.write_text("")
    (settings / "log4j2.properties").write_text(LOGGING)
    warehouse = {"spark.sql.warehouse.dir": str(folder / "warehouse")}
    lines = [f"{name} {value}\n" for name, value in {**_SETTINGS, **warehouse}.items()]
    (settings / "spark-defaults.conf").write_text("".join(lines))
    environment = {
        **os.environ,
        "PYSPARK_PYTHON": _write_python(folder, lacking),
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT, PACKAGE))),
        "SPARK_CONF_DIR": str(settings),
        "SPARK_HOME": str(HOME),
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_LOCAL_IP": HOSTS[0],
    }
    for name in ("MASTER", "PYSPARK_SUBMIT_ARGS", "SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED"):
        environment.pop(name, None)
    command = [str(HOME / "bin" / "spark-submit"), "--master", "local[2]", "--class"]
    command += ["org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, cwd=folder, env=environment
        )
    try:
        address = find_in_log(log, r"Spark Connect server started at: (\S+)", process)
        yield ConnectServer(f"sc://{address}", lacking, log)
    finally:
        process.terminate()
        process.wait(60)


def _write_python(folder: Path, lacking: Path) -> str:
    """A Python that lacks what the file says, and a topgap of another version."""
    site, other = folder / "site", folder / "other"
    for package in (site, other / "topgap"):
        package.mkdir(parents=True)
    (site / "sitecustomize.py").write_text(_SITE.format(lacking=str(lacking), other=str(other)))
    (other / "topgap" / "__init__.py").write_text("")
    (other / "topgap" / "_core.py").write_text('__version__ = "0.0.7"\n')
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{site}:$PYTHONPATH" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    return str(python)
