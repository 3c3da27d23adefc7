//! What a mechanism tells about itself at the end of a run.

use hdrhistogram::Histogram;
use hitless_core::wire::Time;

/// Scope, quantity, and its value from each of these times on.
pub type Series = (String, &'static str, Vec<(Time, u64)>);

/// Counters and histograms of one mechanism on one switch.
#[derive(Default)]
pub struct Report {
    /// The mechanism's name.
    pub mechanism: &'static str,
    /// `(scope, counter, value)`; the scope names the port or link that the counter belongs to.
    pub counters: Vec<(String, &'static str, u64)>,
    /// `(scope, quantity with its unit, values)`.
    pub histograms: Vec<(String, &'static str, Histogram<u64>)>,
    /// `(scope, quantity, its value from each of these times on)`.
    pub series: Vec<Series>,
    /// Promises that were broken, each in one sentence.
    pub violated_invariants: Vec<String>,
    /// Requests of the user's program or settings that cannot be simulated, each in one sentence. A run with any is
    /// refused; it is no bug.
    pub limits: Vec<String>,
    /// Warnings about the results, each in one sentence without the switch's name.
    pub warnings: Vec<String>,
    /// Whether the mechanism did anything at all: one that was switched on and never acted is reported.
    pub acted: bool,
}

impl Report {
    /// An empty report of `mechanism`.
    pub fn new(mechanism: &'static str) -> Self {
        Self { mechanism, ..Self::default() }
    }

    /// Counters of the whole switch. The mechanism acted if one of them is above zero.
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

/// A struct of counters, each with the name by which `report` tells it, in this order. What the name leaves open is
/// said above the field.
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
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        $visible struct $type {
            $(#[doc = $name] $(#[$more])* pub $field: u64),+
        }

        impl $crate::state::Value for $type {
            fn write(&self, out: &mut $crate::state::Writer) {
                $(out.value(&self.$field);)+
            }

            fn read(from: &mut $crate::state::Reader<'_>) -> Result<Self, $crate::state::Damaged> {
                Ok(Self { $($field: from.value()?),+ })
            }
        }

        $crate::state!($type { values: $($field),+ });

        impl $type {
            /// Adds each counter to a report.
            $visible fn report(&self, scope: &str, report: &mut $crate::Report) {
                let Self { $($field),+ } = *self;
                $(report.count(scope, $name, $field);)+
            }
        }
    };
}
