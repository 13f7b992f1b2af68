import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))

from bus import Bus  # noqa: E402
from house import BINARIES, House  # noqa: E402


def pytest_configure():
    if not (BINARIES / "fusionctl").exists():
        raise pytest.UsageError(
            f"there is no {BINARIES}/fusionctl: swift build -c release, or set FUSION_BIN"
        )


@pytest.fixture(scope="session")
def shared():
    """All daemons under `fusionctl up`, for tests that leave them as they were."""
    house = House("fe")
    try:
        house.up()
        yield house
    finally:
        house.close()


@pytest.fixture(scope="module")
def own():
    """All daemons under `fusionctl up`, for one file's tests alone."""
    house = House("fo")
    try:
        house.up()
        yield house
    finally:
        house.close()


@pytest.fixture
def empty():
    """A home in which nothing runs yet."""
    house = House("fn")
    try:
        yield house
    finally:
        house.close()


@pytest.fixture
def bus(shared):
    with Bus(shared.ipc) as client:
        yield client
