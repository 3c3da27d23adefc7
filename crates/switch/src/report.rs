//! A mechanism's report at the end of a run.

use hdrhistogram::Histogram;
use hitless_core::wire::Time;

/// Scope, quantity, and the steps of its value: each value holds from its time onwards.
pub type Series = (String, &'static str, Vec<(Time, u64)>);

/// Counters and histograms of a mechanism on a switch.
#[derive(Default)]
pub struct Report {
    /// The mechanism's name.
    pub mechanism: &'static str,
    /// `(scope, counter, value)`; the scope names the port or link that the counter belongs to.
    pub counters: Vec<(String, &'static str, u64)>,
    /// `(scope, quantity with its unit, values)`.
    pub histograms: Vec<(String, &'static str, Histogram<u64>)>,
    /// `(scope, quantity, steps)`: each value holds from its time onwards.
    pub series: Vec<Series>,
    /// Violated invariants, each in one sentence.
    pub violated_invariants: Vec<String>,
    /// Features of the user's program or settings that cannot be simulated, each in one sentence. A run with any is
    /// refused; this is not a bug.
    pub limits: Vec<String>,
    /// Warnings about the results, each in one sentence without the switch's name.
    pub warnings: Vec<String>,
    /// Whether the mechanism did anything. A mechanism that was enabled and never acted is reported.
    pub acted: bool,
}

impl Report {
    /// Creates an empty report of `mechanism`.
    pub fn new(mechanism: &'static str) -> Self {
        Self { mechanism, ..Self::default() }
    }

    /// Creates a report with counters of the whole switch. The mechanism acted if one of them is above zero.
    pub fn of_counters<const N: usize>(mechanism: &'static str, counters: [(&'static str, u64); N]) -> Self {
        let mut report = Self { acted: counters.iter().any(|(_, value)| *value > 0), ..Self::new(mechanism) };
        counters.into_iter().for_each(|(counter, value)| report.count("switch", counter, value));
        report
    }

    /// Adds a counter.
    pub fn count(&mut self, scope: &str, counter: &'static str, value: u64) {
        self.counters.push((scope.to_owned(), counter, value));
    }
}

/// Declares a struct of counters, each with its name in `report`, in this order. A comment above a field adds details
/// that the name does not give.
///
/// ```
/// hitless_switch::counters! {
///     /// What is counted of one port.
///     pub struct PortCounters {
///         seen = "packets seen",
///         /// Of those, the ones whose queue was full.
///         refused = "packets refused",
///     }
/// }
///
/// let mut report = hitless_switch::Report::new("gate");
/// PortCounters { seen: 3, refused: 1 }.report("port 0", &mut report);
/// assert_eq!(report.counters[1], ("port 0".to_owned(), "packets refused", 1));
/// ```
#[macro_export]
macro_rules! counters {
    ($(#[$about:meta])* $visible:vis struct $type:ident {
        $($(#[$more:meta])* $field:ident = $name:literal),+ $(,)?
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, $crate::state::State, $crate::state::Value)]
        $visible struct $type {
            $(#[doc = $name] $(#[$more])* pub $field: u64),+
        }

        impl $type {
            /// Adds all counters to a report.
            $visible fn report(&self, scope: &str, report: &mut $crate::Report) {
                let Self { $($field),+ } = *self;
                $(report.count(scope, $name, $field);)+
            }
        }
    };
}
