import os
import uuid

import pytest

from boxes import Boxes
from labs import Lab, why_no_labs


@pytest.fixture(scope="session")
def permitted():
    reason = why_no_labs()
    if reason is not None:
        pytest.skip(reason)


@pytest.fixture
def make_lab(permitted):
    labs = []

    def make():
        lab = Lab(f"t{os.getpid()}-{uuid.uuid4().hex[:6]}")
        labs.append(lab)
        return lab

    yield make
    for lab in labs:
        lab.clear()


@pytest.fixture
def lab(make_lab):
    return make_lab()


@pytest.fixture
def boxes(permitted):
    boxes = Boxes()
    yield boxes
    boxes.clear()


@pytest.fixture
def two_boxes(boxes):
    """Make h1 - left - right - h2; the MTU has room for protected frames."""
    boxes.two_boxes()
    boxes.cable("left", "outside", "right", "outside", mtu=1600)
    return boxes
