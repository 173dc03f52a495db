"""The compiled kernel, built once for all tests of a process."""

import pytest

from tests.kernel.probe import Probe


@pytest.fixture(scope="session")
def probe() -> Probe:
    return Probe.build()
