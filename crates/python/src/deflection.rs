//! Single steps of deflection, for exhibits without a network.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use hitless_mechanisms::deflection::ScanStart;
use hitless_mechanisms::deflection::exercise::{relative_priorities, scan_counts};

/// Computes the relative priority of each of some packets that enter a queue one after the other: by the quantile among
/// the last `window`, and by the exponential distribution with the mean of the queue, which holds `queue_packets`.
#[pyfunction]
pub fn deflection_relative_priorities(
    ranks: Vec<u32>,
    window: usize,
    queue_packets: usize,
) -> PyResult<Vec<(f64, f64)>> {
    if window == 0 {
        return Err(PyValueError::new_err("a window has at least one entry"));
    }
    let estimates = relative_priorities(&ranks, window, queue_packets);
    Ok(estimates.into_iter().map(|estimate| (estimate.quantile, estimate.distribution)).collect())
}

/// Counts how often the scan for the first port that is not full chooses each port, and how often no port is free.
/// `start` is "uniform" or "five-bit".
#[pyfunction]
pub fn deflection_scan_counts(
    py: Python<'_>,
    full_probabilities: Vec<f64>,
    draws: u64,
    seed: u64,
    start: &str,
) -> PyResult<(Vec<u64>, u64)> {
    let start = match start {
        "uniform" => ScanStart::Uniform,
        "five-bit" => ScanStart::FiveBit,
        other => {
            return Err(PyValueError::new_err(format!("unknown start {other:?}; it is \"uniform\" or \"five-bit\"")));
        }
    };
    let are_probabilities = full_probabilities.iter().all(|probability| (0.0..=1.0).contains(probability));
    if full_probabilities.is_empty() || !are_probabilities {
        return Err(PyValueError::new_err("at least one port, each full with a probability between 0 and 1"));
    }
    Ok(py.detach(|| scan_counts(&full_probabilities, draws, seed, start)))
}
