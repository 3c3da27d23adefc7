//! Which kinds of mechanisms scenarios may name.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use hitless_mechanisms::builtin;
use hitless_scenario::kind::Registry;
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;

/// A crate out of the tree: its name, and what adds its kinds to others.
pub type Own = (&'static str, fn(Registry) -> Registry);

/// All kinds, and of those that are not built in the crate.
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

/// The kinds of mechanisms that scenarios may name now: those that are built in until others are registered.
pub fn registry() -> Arc<Registry> {
    kinds().registry
}

/// Has scenarios name the kinds that `change` makes of those that there are.
///
/// # Errors
/// That of `change`; nothing has changed then.
pub fn change<E>(change: impl FnOnce(Registry) -> Result<Registry, E>) -> Result<(), E> {
    let mut kinds = KINDS.write().unwrap_or_else(PoisonError::into_inner);
    kinds.registry = Arc::new(change((*kinds.registry).clone())?);
    Ok(())
}

/// Adds the kinds of `own` to those that are built in.
pub fn register(own: &[Own]) -> PyResult<()> {
    let mut kinds = kinds();
    for &(name, add) in own {
        let known: Vec<&str> = kinds.registry.names().collect();
        let registry = (*kinds.registry).clone();
        let all = catch_unwind(AssertUnwindSafe(|| add(registry))).map_err(|panic| refusal(name, &*panic))?;
        kinds.registry = Arc::new(all);
        let new = kinds.registry.names().filter(|kind| !known.contains(kind)).map(|kind| (kind, name));
        kinds.own.extend(new.collect::<Vec<_>>());
    }
    *KINDS.write().unwrap_or_else(PoisonError::into_inner) = kinds;
    Ok(())
}

fn refusal(name: &str, panic: &(dyn Any + Send)) -> PyErr {
    let reason = panic.downcast_ref::<String>().map_or("its kinds cannot be registered", String::as_str);
    PyImportError::new_err(format!("{name}: {reason}"))
}

/// The kinds of mechanisms that a scenario may name: each with a sentence about it, and with the crate out of the tree
/// that it comes from, if it is not built in.
#[pyfunction]
pub fn mechanism_kinds() -> Vec<(&'static str, &'static str, Option<&'static str>)> {
    let Kinds { registry, own } = kinds();
    let of = |name| own.iter().find(|(kind, _)| *kind == name).map(|(_, origin)| *origin);
    registry.summaries().map(|(name, summary)| (name, summary, of(name))).collect()
}
