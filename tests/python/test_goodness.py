"""Chi-square tests compared with tables, and with counts that are known to fit."""

import math

import numpy as np
import pytest

from hitless.analysis import chi_square_p_value


@pytest.mark.parametrize(
    ("counts", "expected", "p_value"),
    [
        # Two cells: the square of a normal variable, which exceeds 3.841 once in 20 times (any table).
        ([50, 50], None, 1.0),
        ([60, 40], None, math.erfc(math.sqrt(4.0 / 2.0))),
        # Two degrees of freedom: exp(-x/2).
        ([30, 20, 10], None, math.exp(-5.0)),
        ([30, 20, 10], [3, 2, 1], 1.0),
        # Mendel's peas, 9:3:3:1: 0.470 with three degrees, p about 0.925.
        ([315, 108, 101, 32], [9, 3, 3, 1], 0.9254),
    ],
)
def test_known_values(counts, expected, p_value):
    assert chi_square_p_value(counts, expected) == pytest.approx(p_value, abs=1e-4)


def test_of_fair_dice_the_p_value_is_uniform():
    random = np.random.Generator(np.random.PCG64(7))
    values = [chi_square_p_value(random.multinomial(600, [1 / 6] * 6).tolist()) for _ in range(400)]
    assert 0.44 < float(np.mean(values)) < 0.56
    assert 0.05 < float(np.mean(np.array(values) < 0.1)) < 0.15


@pytest.mark.parametrize(("counts", "expected"), [([3], None), ([0, 0], None), ([1, 2], [1.0]), ([1, 2], [1.0, 0.0])])
def test_what_cannot_be_tested_is_refused(counts, expected):
    with pytest.raises(ValueError, match="chi-square"):
        chi_square_p_value(counts, expected)
