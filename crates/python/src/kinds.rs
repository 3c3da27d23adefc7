//! The kinds of mechanisms and of congestion controls that scenarios can name.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use hitless_mechanisms::builtin;
use hitless_scenario::kind::Registry;
use hitless_switch::{Counter, Quantity, ResourceCounters};
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;

/// An external crate: its name, and the function that adds its kinds.
pub type Own = (&'static str, fn(Registry) -> Registry);

/// All kinds, and the crates of the external ones.
#[derive(Clone)]
struct Kinds {
    registry: Arc<Registry>,
    own: Vec<(&'static str, &'static str)>,
}

static KINDS: LazyLock<RwLock<Kinds>> =
    LazyLock::new(|| RwLock::new(Kinds { registry: Arc::new(builtin().clone()), own: Vec::new() }));

fn kinds() -> Kinds {
    KINDS.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Returns the kinds of mechanisms that scenarios can name now: the built-in ones until others are registered.
pub fn registry() -> Arc<Registry> {
    kinds().registry
}

/// Replaces the kinds by the result of `change`.
///
/// # Errors
/// The error of `change`; nothing has changed then.
pub fn change<E>(change: impl FnOnce(Registry) -> Result<Registry, E>) -> Result<(), E> {
    let mut kinds = KINDS.write().unwrap_or_else(PoisonError::into_inner);
    kinds.registry = Arc::new(change((*kinds.registry).clone())?);
    Ok(())
}

/// Adds the kinds of `own` to the built-in ones.
pub fn register(own: &[Own]) -> PyResult<()> {
    let mut kinds = kinds();
    for &(name, add) in own {
        let known = all_names(&kinds.registry);
        let registry = (*kinds.registry).clone();
        let all = catch_unwind(AssertUnwindSafe(|| add(registry))).map_err(|panic| refusal(name, &*panic))?;
        kinds.registry = Arc::new(all);
        let new = all_names(&kinds.registry).into_iter().filter(|kind| !known.contains(kind));
        kinds.own.extend(new.map(|kind| (kind, name)));
    }
    *KINDS.write().unwrap_or_else(PoisonError::into_inner) = kinds;
    Ok(())
}

/// Returns the names of mechanisms and of congestion controls from outside the tree.
fn all_names(registry: &Registry) -> Vec<&'static str> {
    registry.names().chain(registry.congestion_facts().map(|facts| facts.name)).collect()
}

fn refusal(name: &str, panic: &(dyn Any + Send)) -> PyErr {
    let reason = panic.downcast_ref::<String>().map_or("its kinds cannot be registered", String::as_str);
    PyImportError::new_err(format!("{name}: {reason}"))
}

/// Returns the kinds of mechanisms that a scenario can name, each with a sentence about it, and with its external crate
/// unless it is built in.
#[pyfunction]
pub fn mechanism_kinds() -> Vec<(&'static str, &'static str, Option<&'static str>)> {
    let Kinds { registry, own } = kinds();
    let of = |name| own.iter().find(|(kind, _)| *kind == name).map(|(_, origin)| *origin);
    registry.summaries().map(|(name, summary)| (name, summary, of(name))).collect()
}

/// Key, label and meaning of a counter.
type Told = (&'static str, &'static str, &'static str);

/// Returns each kind of mechanism with its counters. The resources, which every mechanism reports, are last.
#[pyfunction]
pub fn mechanism_counters() -> Vec<(&'static str, Vec<Told>)> {
    let told = |counter: Counter| (counter.key, counter.label, counter.meaning);
    let registry = kinds().registry;
    let of_kinds = registry.counters().map(|(name, counters)| (name, counters.map(told).collect()));
    of_kinds.chain([("", ResourceCounters::ALL.iter().copied().map(told).collect())]).collect()
}

/// Returns key and label of the quantities in histograms and series of each kind of mechanism.
#[pyfunction]
pub fn mechanism_quantities() -> Vec<(&'static str, Vec<(&'static str, &'static str)>)> {
    let told = |quantity: &Quantity| (quantity.key, quantity.label);
    kinds().registry.quantities().map(|(name, quantities)| (name, quantities.iter().map(told).collect())).collect()
}

/// Returns the congestion controls from outside the tree that a scenario can name, each with a sentence about it, and
/// with its crate unless it is a Python class.
#[pyfunction]
pub fn congestion_kinds() -> Vec<(&'static str, &'static str, Option<&'static str>)> {
    let Kinds { registry, own } = kinds();
    let of = |name| own.iter().find(|(kind, _)| *kind == name).map(|(_, origin)| *origin);
    registry.congestion_facts().map(|facts| (facts.name, facts.summary, of(facts.name))).collect()
}
