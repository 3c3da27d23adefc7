"""Fits of table 2: each finds its own distribution, and errors match a manual calculation."""

import math

import numpy as np
import pytest

from hitless_papers.deflection import fits
from hitless_papers.deflection.fits import FITS, Sample, sum_square_error

SIZE = 20_000


def sample(values):
    found, counts = np.unique(np.asarray(values, dtype=np.float64), return_counts=True)
    return Sample(found, counts.astype(np.float64))


def drawn(name):
    random = np.random.Generator(np.random.PCG64(3))
    draws = {
        "uniform": lambda: random.uniform(5.0, 9.0, SIZE),
        "normal": lambda: random.normal(50.0, 4.0, SIZE),
        "exponential": lambda: 3.0 + random.exponential(20.0, SIZE),
        "Pareto": lambda: 2.0 * (1.0 + random.pareto(3.0, SIZE)),
    }
    return sample(draws[name]())


@pytest.mark.parametrize("name", FITS)
def test_a_sample_is_fitted_best_by_what_it_was_drawn_from(name):
    of = drawn(name)
    errors = {fit: sum_square_error(of, make(of), bins=400 if name == "Pareto" else 40) for fit, make in FITS.items()}
    assert min(errors, key=errors.__getitem__) == name


@pytest.mark.parametrize("name", FITS)
def test_a_density_has_an_area_of_one(name):
    of = drawn(name)
    x = np.linspace(of.least, of.values.max() * (50 if name == "Pareto" else 2), 2_000_000)
    if name == "uniform":
        x = np.linspace(of.least, of.values.max(), 1_000)
    area = np.trapezoid(FITS[name](of)(x), x)
    # The normal distribution has some weight below the minimum value.
    assert float(area) == pytest.approx(1.0, abs=0.01)


def test_the_parameters_are_those_of_maximum_likelihood():
    of = drawn("exponential")
    at_least = FITS["exponential"](of)(np.array([of.least]))
    assert float(at_least[0]) == pytest.approx(1 / 20.0, rel=0.03)
    pareto = drawn("Pareto")
    assert float(FITS["Pareto"](pareto)(np.array([pareto.least]))[0] * pareto.least) == pytest.approx(3.0, rel=0.03)


def test_the_error_is_the_sum_over_bins():
    of = sample([0.0, 0.0, 1.0, 4.0])
    # Two bins of width 2 with three and one of four values: heights 3/8 and 1/8; the density says 1/4 at both.
    assert sum_square_error(of, FITS["uniform"](of), bins=2) == pytest.approx(2 * (1 / 8) ** 2)


def test_counts_weigh_as_repetitions_do():
    random = np.random.Generator(np.random.PCG64(5))
    values = random.integers(1, 30, 500).astype(np.float64)
    once = Sample(values, np.ones_like(values))
    for name, fit in FITS.items():
        weighed = sum_square_error(sample(values), fit(sample(values)))
        assert sum_square_error(once, fit(once)) == pytest.approx(weighed), name


def test_a_shifted_pareto_comes_near_to_any_exponential():
    of = drawn("exponential")
    error = sum_square_error(of, fits.shifted_pareto(of))
    assert error == pytest.approx(sum_square_error(of, FITS["exponential"](of)), rel=0.05)


def test_a_shifted_pareto_finds_its_scale():
    random = np.random.Generator(np.random.PCG64(9))
    of = sample(10.0 + 6.0 * random.pareto(2.5, SIZE))
    height = float(fits.shifted_pareto(of)(np.array([of.least]))[0])
    assert height == pytest.approx(2.5 / 6.0, rel=0.05)
    assert math.isfinite(height)
