//! A mechanism's report at the end of a run.

use hdrhistogram::Histogram;
use hitless_core::wire::Time;

/// Scope, quantity, and the steps of its value: each value holds from its time onwards.
pub type Series = (String, Quantity, Vec<(Time, u64)>);

/// Declaration of a counter; [`counters!`](crate::counters) makes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Name in files and programs: unique in its mechanism, in snake_case, the unit last: `packets_lost`.
    pub key: &'static str,
    /// Name in tables and reports: "packets lost".
    pub label: &'static str,
    /// Details beyond the label, or "".
    pub meaning: &'static str,
}

/// Declaration of the quantity in a histogram or a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// Name in files and programs, as for a counter: `recovery_delay_ns`.
    pub key: &'static str,
    /// Name in tables and reports: "recovery delay (ns)".
    pub label: &'static str,
}

impl Quantity {
    /// Declares a quantity.
    pub const fn new(key: &'static str, label: &'static str) -> Self {
        Self { key, label }
    }
}

/// Lists of declarations, one for each call of [`counters!`](crate::counters).
pub type Declared = &'static [&'static [Counter]];

/// Counters and histograms of a mechanism on a switch.
#[derive(Default)]
pub struct Report {
    /// The mechanism's name.
    pub mechanism: &'static str,
    /// `(scope, counter, value)`; the scope names the port or link that the counter belongs to.
    pub counters: Vec<(String, Counter, u64)>,
    /// `(scope, quantity, values)`.
    pub histograms: Vec<(String, Quantity, Histogram<u64>)>,
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
    pub fn of_counters(mechanism: &'static str, counters: impl IntoIterator<Item = (Counter, u64)>) -> Self {
        let mut report = Self::new(mechanism);
        report.count("switch", counters);
        report.acted = report.counters.iter().any(|(.., value)| *value > 0);
        report
    }

    /// Adds counters with their values.
    pub fn count(&mut self, scope: &str, counters: impl IntoIterator<Item = (Counter, u64)>) {
        self.counters.extend(counters.into_iter().map(|(counter, value)| (scope.to_owned(), counter, value)));
    }

    /// Returns the quantities of its histograms and series.
    pub fn quantities(&self) -> impl Iterator<Item = &Quantity> {
        self.histograms.iter().map(|one| &one.1).chain(self.series.iter().map(|one| &one.1))
    }
}

/// Declares counters, each with its key and its label, in the order of reports. A comment above a counter gives details
/// that the label does not. `ALL` has the declarations, for `Kind::COUNTERS`.
///
/// A struct has a field for each counter; `as` gives the key if the field has another name. A struct with arguments has
/// no fields: its `values` are computed from the arguments.
///
/// ```
/// hitless_switch::counters! {
///     /// Counters of a port.
///     pub struct PortCounters {
///         seen as packets_seen = "packets seen",
///         /// The queue was full.
///         packets_refused = "packets refused",
///     }
/// }
/// hitless_switch::counters! {
///     /// Counters of a whole switch.
///     pub struct SwitchCounters(ports: &[PortCounters]) {
///         packets_seen_max = "most packets at a port": ports.iter().map(|port| port.seen).max().unwrap_or(0),
///     }
/// }
///
/// let mut report = hitless_switch::Report::new("gate");
/// let counters = PortCounters { seen: 3, packets_refused: 1 };
/// counters.report("port 0", &mut report);
/// report.count("switch", SwitchCounters::values(&[counters]));
/// let keys: Vec<_> = report.counters.iter().map(|(scope, counter, value)| (&**scope, counter.key, *value)).collect();
/// assert_eq!(keys[..2], [("port 0", "packets_seen", 3), ("port 0", "packets_refused", 1)]);
/// assert_eq!(keys[2..], [("switch", "packets_seen_max", 3)]);
/// assert_eq!(PortCounters::ALL[1].meaning.trim(), "The queue was full.");
/// ```
#[macro_export]
macro_rules! counters {
    ($(#[$about:meta])* $visible:vis struct $type:ident {
        $($(#[doc = $more:literal])* $field:ident $(as $key:ident)? = $label:literal),+ $(,)?
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, $crate::state::State, $crate::state::Value)]
        $visible struct $type {
            $(#[doc = $label] $(#[doc = $more])* pub $field: u64),+
        }

        impl $type {
            /// Declarations.
            $visible const ALL: &'static [$crate::Counter] =
                &[$($crate::counters!(@declare $label, [$($more)*], $field $($key)?)),+];

            /// Adds all counters to a report.
            $visible fn report(&self, scope: &str, report: &mut $crate::Report) {
                report.count(scope, self.values());
            }

            /// Returns the counters with their values.
            $visible fn values(&self) -> impl Iterator<Item = ($crate::Counter, u64)> {
                Self::ALL.iter().copied().zip([$(self.$field),+])
            }
        }
    };
    ($(#[$about:meta])* $visible:vis struct $type:ident($($argument:ident: $of:ty),+) {
        $($(#[doc = $more:literal])* $key:ident = $label:literal: $value:expr),+ $(,)?
    }) => {
        $(#[$about])*
        $visible struct $type;

        impl $type {
            /// Declarations.
            $visible const ALL: &'static [$crate::Counter] =
                &[$($crate::counters!(@declare $label, [$($more)*], $key)),+];

            /// Returns the counters with their values.
            $visible fn values($($argument: $of),+) -> impl Iterator<Item = ($crate::Counter, u64)> {
                Self::ALL.iter().copied().zip([$($value),+])
            }
        }
    };
    (@declare $label:literal, [$($more:literal)*], $field:ident $key:ident) => {
        $crate::counters!(@declare $label, [$($more)*], $key)
    };
    (@declare $label:literal, [$($more:literal)*], $key:ident) => {
        $crate::Counter { key: stringify!($key), label: $label, meaning: concat!($($more),*) }
    };
}
