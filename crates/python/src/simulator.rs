//! What Python needs of the simulator, in one file: the only one that names `hitless-fabric`.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Why there is no result.
#[derive(Debug)]
pub enum Failure {
    /// The scenario is refused; the message is complete and formatted for people.
    Scenario(String),
    /// A run broke one of its own checks.
    Simulation(String),
    /// [`Control::cancel`] was called.
    Cancelled,
}

/// An example scenario that ships with the simulator.
pub struct Example {
    /// What `hitless scenario example NAME` calls it.
    pub name: &'static str,
    /// One line for the list of examples.
    pub description: &'static str,
    /// The scenario file itself.
    pub text: &'static str,
}

/// One column of a table of results. The unit is the last word of the column's name.
pub enum Column {
    /// Counts, bytes, identifiers.
    Unsigned(Vec<u64>),
    /// Picoseconds, where -1 means "never happened".
    Signed(Vec<i64>),
    /// Ratios and rates.
    Real(Vec<f64>),
    /// Names.
    Text(Vec<String>),
}

/// A table of results: columns of equal length.
pub struct Table {
    /// "messages", "flows", "links", "queues", "mechanisms", "histograms".
    pub name: String,
    /// Name and values of each column, in the order to show.
    pub columns: Vec<(String, Column)>,
}

/// What a finished run hands over.
pub struct Outcome {
    /// Drops by reason, counters, trace hash, events, transmissions, times, warnings, as one JSON object.
    pub summary_json: String,
    /// Every table of results.
    pub tables: Vec<Table>,
}

/// What another thread may see of a run, and ask of it.
#[derive(Default)]
pub struct Control {
    progress: AtomicU64,
    cancelled: AtomicBool,
}

impl Control {
    /// Called by the run, now and then: the share of the simulated time that has passed, 0 to 1.
    pub fn set_progress(&self, fraction: f64) {
        self.progress.store(fraction.to_bits(), Ordering::Relaxed);
    }

    /// The share last told.
    pub fn progress(&self) -> f64 {
        f64::from_bits(self.progress.load(Ordering::Relaxed))
    }

    /// Asks the run to end with [`Failure::Cancelled`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Asked by the run, now and then.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

/// A scenario that was read and found sound.
pub struct Prepared {
    effective: String,
}

impl Prepared {
    /// Reads and checks a scenario; `seed` overrides the scenario's own.
    pub fn new(_text: &str, file_name: &str, _seed: Option<u64>) -> Result<Self, Failure> {
        Err(Failure::Scenario(format!("{file_name}: {NOT_BUILT}")))
    }

    /// The scenario as TOML with every default spelled out.
    pub fn effective(&self) -> String {
        self.effective.clone()
    }

    /// Runs to the end, telling `control` of its progress and asking it whether to stop.
    pub fn run(&self, control: &Control) -> Result<Outcome, Failure> {
        control.set_progress(0.0);
        if control.is_cancelled() {
            return Err(Failure::Cancelled);
        }
        let _shape = [Column::Unsigned(vec![]), Column::Signed(vec![]), Column::Real(vec![]), Column::Text(vec![])];
        Err(Failure::Simulation(NOT_BUILT.into()))
    }
}

/// Every field of a scenario file, for people.
pub fn schema_text() -> Result<String, Failure> {
    Err(Failure::Scenario(NOT_BUILT.into()))
}

/// Every field of a scenario file, as JSON Schema.
pub fn schema_json() -> Result<String, Failure> {
    Err(Failure::Scenario(NOT_BUILT.into()))
}

/// The example scenarios, in the order to show.
pub fn examples() -> &'static [Example] {
    &[]
}

/// Runs a benchmark workload; returns its measurements as a JSON object.
pub fn bench_engine(_work: &str, _fraction: f64, _seed: u64) -> Result<String, Failure> {
    Err(Failure::Simulation(NOT_BUILT.into()))
}

const NOT_BUILT: &str = "the simulator is not built into this version yet";
