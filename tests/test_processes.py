"""A release among threads, forks, signals and interpreters, and the memory it takes."""

import _thread
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from operator import call

import numpy as np
import pytest

import topgap
from topgap import TopK

RELEASES = """
import os, topgap
parameters = topgap.TopK(20, 1)
topgap.select(parameters, [0] * 64)
for _ in range(8):
    if os.fork() == 0:
        for _ in range(4):
            os.write(1, (topgap.select(parameters, [0] * 64).to_json() + "\\n").encode())
        os._exit(0)
for _ in range(8):
    os.wait()
for _ in range(4):
    os.write(1, (topgap.select(parameters, [0] * 64).to_json() + "\\n").encode())
"""


@pytest.mark.slow
@pytest.mark.posix
@pytest.mark.statistical(false_alarm=1e-20)
def test_forked_processes_share_no_noise() -> None:
    """Of 64 equal answers, the 20 first in their order agree with probability 64^−20 or so."""
    assert len({*_run(RELEASES).splitlines()}) == 36


@pytest.mark.statistical(false_alarm=1e-20)
def test_threads_share_no_noise() -> None:
    parameters = TopK(20, 1)
    with ThreadPoolExecutor(8) as pool:
        releases = [*pool.map(lambda _: topgap.select(parameters, [0] * 64), range(400))]
    assert len({*releases}) == 400


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize(
    ("n", "k"), [(2**23, 10), (40_000, 30_000)], ids=["many answers", "many winners"]
)
def test_ctrl_c_ends_long_work(n: int, k: int, threads: int) -> None:
    """The signal waits when the kernel starts, and no Python runs before it ends."""
    kernel = TopK(k, 1).kernel
    assert kernel is not None
    answers = np.zeros(n, dtype=np.int64)
    went_on: list[bool] = []
    steps: list[Callable[[], object]] = [
        _thread.interrupt_main,
        partial(kernel.release, answers, in_steps=False, threads=threads),
        partial(went_on.append, True),
    ]
    with pytest.raises(KeyboardInterrupt):
        list(map(call, steps))
    assert went_on == []


UNLOCKED = """
import sys, threading, numpy as np, topgap
answers = np.zeros(30_000_000, dtype=np.int64)
parameters = topgap.TopK(10, 1)
sys.setswitchinterval(1000)  # a thread runs on until it lets others run
seen = set()
for _ in range(20):
    began, done = threading.Event(), threading.Event()
    def work():
        began.set()
        topgap.select(parameters, answers)
        done.set()
    thread = threading.Thread(target=work)
    thread.start()
    began.wait()
    seen.add("after" if done.is_set() else "during")
    thread.join()
print("during" in seen)
"""


@pytest.mark.slow
def test_other_threads_run_during_long_work() -> None:
    assert _run(UNLOCKED).split() == ["True"]


SUBINTERPRETER = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
import topgap
topgap.noisy_max  # which loads the kernel
name = interpreters.create()
try:
    found = interpreters.run_string(name, "import topgap; topgap.noisy_max")
    print("excepted" if found is not None else "ran")
except Exception as error:
    print("excepted")
print(topgap.noisy_max([10**9, 0], 1).items)
"""


@pytest.mark.slow
def test_a_subinterpreter_is_refused_and_the_main_one_goes_on() -> None:
    assert _run(SUBINTERPRETER).split("\n")[:2] == ["excepted", "(0,)"]


# Linux tells the peak since it was last reset.
MEMORY = """
import numpy as np, topgap

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

answers = np.arange(10_000_000)
parameters = topgap.TopK(100, 1)
topgap.select(parameters, answers[:5000])
open("/proc/self/clear_refs", "w").write("5")
before = peak()
topgap.select(parameters, {answers})
print(peak() - before)
"""


@pytest.mark.deep
@pytest.mark.linux
def test_ten_million_answers_need_little_more_memory() -> None:
    assert int(_run(MEMORY.format(answers="answers"))) < 16 * 1024  # KiB
    copied = int(_run(MEMORY.format(answers="answers.astype('u8')")))
    assert copied > 70 * 1024  # so a copy would be seen


def _run(script: str) -> str:
    run = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    assert run.returncode == 0, run.stderr
    return run.stdout
