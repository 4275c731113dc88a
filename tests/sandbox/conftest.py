"""A sandbox of its own for each file of tests: what they do to its accounts stays among them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sandbox.testing import RunningSandbox


@pytest.fixture(scope="module")
def running() -> Iterator[RunningSandbox]:
    with RunningSandbox() as running:
        yield running


@pytest.fixture
def sandbox(running: RunningSandbox) -> Iterator[RunningSandbox]:
    """The file's sandbox without faults and with counters at zero; no test may break it."""
    running.clear_faults()
    running.reset()
    yield running
    assert running.stats()["internal_errors"] == 0
