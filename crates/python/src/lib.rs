//! The simulator as a Python module, `hitless._native`. The crate of the module calls [`fill`].
//!
//! This crate only translates: text and numbers in, JSON text and numpy arrays out, Rust errors to Python exceptions.
//! `hitless-simulation` and `hitless-fleet` simulate; Python code reads, judges and draws the results.
//!
//! - [`simulator`]: a run from its scenario to its results, and benchmarks; read this first;
//! - [`bench_live`]: measurements of the benchmark of live forwarding;
//! - [`checkpoints`]: checkpoints of a run in a file;
//! - [`deflection`]: single steps of deflection, without a network;
//! - [`exceptions`]: exceptions for Python code;
//! - [`fleet`]: the classes of the fleet simulator, a separate crate;
//! - [`scenario`]: the Python class `CheckedScenario`, parsed once;
//! - [`simulation`]: the Python class `Simulation`, a run to the end or in steps, with commands in between;
//! - [`mechanism`]: mechanisms that are Python classes;
//! - [`congestion`]: congestion controls that are Python classes;
//! - [`live`]: the Python class `Live`, a scenario's fabric between real interfaces;
//! - [`p4`]: P4 programs without a network: packet tests, traces;
//! - [`memory`]: limits on the memory of a run, and their supervision;
//! - [`rows`]: rows of a run in progress;
//! - [`kinds`]: the registered kinds of mechanisms;
//! - [`network_interface`]: the Python class `NetworkInterface`, the interface under a port of a live run;
//! - [`tables`]: columns of results as numpy arrays, without a copy.

// Docs are required only where outsiders look: in the switch, the mechanism interface, the settings and the Python API.
#![allow(missing_docs)]

#[cfg(feature = "live")]
mod bench_live;
mod checkpoints;
mod congestion;
mod deflection;
mod exceptions;
mod fleet;
mod kept_rows;
mod kinds;
#[cfg(feature = "live")]
mod live;
mod mechanism;
mod memory;
#[cfg(feature = "live")]
mod network_interface;
mod p4;
mod rows;
mod scenario;
mod simulation;
mod simulator;
mod tables;

use hitless_mechanisms::linkguardian::copies_for;
use hitless_scenario::workload::Cdf;
use hitless_scenario::{EXAMPLES, example, schema_text};
use hitless_simulation::bench::switch::SWITCH_WORKS;
pub use kinds::Own;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use kinds::registry;
use mechanism::fault::caught;

/// Version of the simulator, equal to the Python package's.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Lists every field of a scenario file, as "text" for people or "json" (JSON Schema) for editors.
#[pyfunction]
fn scenario_schema(format: &str) -> PyResult<String> {
    match format {
        "text" => Ok(schema_text(&registry())),
        "json" => Ok(format!("{:#}", registry().schema())),
        other => Err(PyValueError::new_err(format!("unknown schema format {other:?}; it is \"text\" or \"json\""))),
    }
}

/// Names of the example scenarios, each with its one-line description.
#[pyfunction]
fn scenario_examples() -> Vec<(&'static str, &'static str)> {
    EXAMPLES.iter().map(|example| (example.name, example.summary())).collect()
}

/// Text of the example scenario `name`, or None if it does not exist.
#[pyfunction]
fn scenario_example(name: &str) -> Option<&'static str> {
    example(name)
}

/// Returns the resources of a real switch that a scenario's mechanisms need, as a JSON list with an entry for each kind
/// of switch.
#[pyfunction]
fn scenario_resources(py: Python<'_>, text: &str, file_name: &str) -> PyResult<String> {
    Ok(py.detach(|| caught(|| simulator::resources(text, file_name)))?)
}

/// Return the fabric of a scenario as one JSON object.
#[pyfunction]
fn scenario_fabric(py: Python<'_>, text: &str, file_name: &str) -> PyResult<String> {
    Ok(py.detach(|| caught(|| simulator::fabric(text, file_name)))?)
}

/// Checks a scenario for a live run; returns it with all defaults written out, and its hosts, switches and links as
/// JSON text.
#[pyfunction]
fn scenario_check_live(py: Python<'_>, text: &str, file_name: &str) -> PyResult<(String, String)> {
    Ok(py.detach(|| caught(|| simulator::check_live(text, file_name)))?)
}

/// Number of copies that LinkGuardian retransmits of each lost packet: Equation 2, rounded up. Both rates must be
/// between 0 and 1.
#[pyfunction]
fn linkguardian_copies(actual_loss_rate: f64, target_loss_rate: f64) -> PyResult<u32> {
    let is_rate = |rate: f64| rate > 0.0 && rate < 1.0;
    let are_rates = is_rate(actual_loss_rate) && is_rate(target_loss_rate);
    let copies = are_rates.then(|| copies_for(actual_loss_rate, target_loss_rate));
    copies.ok_or_else(|| PyValueError::new_err("both loss rates must lie strictly between 0 and 1"))
}

/// The MTU for hosts if their frames, with at most `vlan_tags` VLAN tags, cross a protected link with MTU `outer_mtu`.
#[pyfunction]
fn link_inner_mtu(outer_mtu: usize, vlan_tags: usize) -> Option<usize> {
    hitless_core::wire::link::inner_mtu(outer_mtu, vlan_tags)
}

/// The MTU that a protected link needs for hosts with MTU `inner_mtu`.
#[pyfunction]
fn link_outer_mtu(inner_mtu: usize, vlan_tags: usize) -> usize {
    hitless_core::wire::link::outer_mtu(inner_mtu, vlan_tags)
}

/// The built-in distribution of flow sizes `name`: sizes in bytes, and the share of flows up to each.
#[pyfunction]
fn size_table(name: &str) -> Option<Vec<(f64, f64)>> {
    Cdf::named(name).map(|table| table.points().to_vec())
}

/// Runs `discipline` in one switch under "high" load or "over" it, for a fraction of the time; returns measurements as
/// JSON.
#[pyfunction]
fn bench_switch(py: Python<'_>, discipline: &str, load: &str, fraction: f64, seed: u64) -> PyResult<String> {
    Ok(py.detach(|| simulator::bench_switch(discipline, load, fraction, seed))?)
}

/// Disciplines and mechanisms that `bench_switch` knows, each with its baseline.
#[pyfunction]
fn bench_switch_disciplines() -> Vec<(&'static str, &'static str)> {
    SWITCH_WORKS.iter().map(|work| (work.name, work.base)).collect()
}

/// Runs benchmark workload `work` with a fraction of each flow's packets on up to `threads` threads; returns the
/// measurements as JSON.
#[pyfunction]
#[pyo3(signature = (work, fraction, seed, threads=1))]
fn bench_engine(py: Python<'_>, work: &str, fraction: f64, seed: u64, threads: usize) -> PyResult<String> {
    Ok(py.detach(|| simulator::bench_engine(work, fraction, seed, threads))?)
}

/// Fills the extension module `hitless._native`, once in a process. Scenarios can name the built-in kinds of mechanisms
/// and those of the `own` crates.
///
/// # Errors
/// If two kinds have the same name, or on an error in Python.
pub fn fill(module: &Bound<'_, PyModule>, own: &[Own]) -> PyResult<()> {
    let py = module.py();
    kinds::register(own)?;
    module.add_function(wrap_pyfunction!(kinds::mechanism_kinds, module)?)?;
    module.add_function(wrap_pyfunction!(kinds::mechanism_counters, module)?)?;
    module.add_function(wrap_pyfunction!(kinds::mechanism_quantities, module)?)?;
    module.add_function(wrap_pyfunction!(kinds::congestion_kinds, module)?)?;
    module.add("ScenarioError", py.get_type::<exceptions::ScenarioError>())?;
    module.add("SimulationError", py.get_type::<exceptions::SimulationError>())?;
    module.add("CheckpointError", py.get_type::<exceptions::CheckpointError>())?;
    module.add("MechanismError", py.get_type::<exceptions::MechanismError>())?;
    module.add("Cancelled", py.get_type::<exceptions::Cancelled>())?;
    module.add("FleetError", py.get_type::<exceptions::FleetError>())?;
    module.add_function(wrap_pyfunction!(deflection::deflection_relative_priorities, module)?)?;
    module.add_function(wrap_pyfunction!(deflection::deflection_scan_counts, module)?)?;
    module.add_class::<simulation::Simulation>()?;
    module.add_class::<checkpoints::Checkpoints>()?;
    module.add_class::<scenario::CheckedScenario>()?;
    module.add_class::<fleet::FleetTopology>()?;
    module.add_class::<fleet::FleetProtection>()?;
    module.add_class::<fleet::FleetTrace>()?;
    module.add_class::<fleet::FleetYear>()?;
    mechanism::add_to(module)?;
    congestion::add_to(module)?;
    #[cfg(feature = "live")]
    add_live(module)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(memory::memory_limit, module)?)?;
    module.add_function(wrap_pyfunction!(p4::p4_test, module)?)?;
    module.add_function(wrap_pyfunction!(p4::p4_trace, module)?)?;
    module.add_function(wrap_pyfunction!(p4::p4_bench, module)?)?;
    module.add_function(wrap_pyfunction!(fleet::fleet_policies, module)?)?;
    module.add_function(wrap_pyfunction!(fleet::fleet_policy_protects, module)?)?;
    module.add_function(wrap_pyfunction!(scenario_schema, module)?)?;
    module.add_function(wrap_pyfunction!(scenario_examples, module)?)?;
    module.add_function(wrap_pyfunction!(scenario_example, module)?)?;
    module.add_function(wrap_pyfunction!(scenario_check_live, module)?)?;
    module.add_function(wrap_pyfunction!(scenario_fabric, module)?)?;
    module.add_function(wrap_pyfunction!(scenario_resources, module)?)?;
    module.add_function(wrap_pyfunction!(linkguardian_copies, module)?)?;
    module.add_function(wrap_pyfunction!(link_inner_mtu, module)?)?;
    module.add_function(wrap_pyfunction!(link_outer_mtu, module)?)?;
    module.add_function(wrap_pyfunction!(size_table, module)?)?;
    module.add_function(wrap_pyfunction!(bench_switch, module)?)?;
    module.add_function(wrap_pyfunction!(bench_switch_disciplines, module)?)?;
    module.add_function(wrap_pyfunction!(bench_engine, module)?)
}

/// Adds the parts that need Linux.
#[cfg(feature = "live")]
fn add_live(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<live::Live>()?;
    module.add_class::<network_interface::NetworkInterface>()?;
    module.add_class::<bench_live::TrafficEnds>()?;
    module.add_class::<bench_live::PlainForwarder>()?;
    module.add_function(wrap_pyfunction!(bench_live::switch_off_offloads_in, module)?)?;
    module.add_function(wrap_pyfunction!(live::live_replay, module)?)
}
