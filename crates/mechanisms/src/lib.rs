//! Mechanisms that a switch can run, one folder each. A folder implements [`Mechanism`](hitless_switch::Mechanism) and
//! a [`Kind`](hitless_scenario::kind::Kind); scenarios and runs see only the kind. Start with the folder's `mod.rs`,
//! then its `settings.rs`.

// Users see a mechanism's settings and the Python API; only these need docs. Scenarios and runs reach the types below
// through `Kind` alone.
#![allow(missing_docs)]

mod by_port;
mod configured_ports;
mod detours;
mod link_checker;
mod neighbours;
mod one_link;
mod port_choice;
mod queue_limit;
#[cfg(test)]
mod small_world;

use std::sync::LazyLock;

use hitless_scenario::kind::Registry;

/// Folders with their kinds. Hooks of kinds of the same stage run in this order.
macro_rules! mechanisms {
    ($($folder:ident: $($kind:ident),+;)*) => {
        $(
            pub mod $folder;
            pub use $folder::{$($kind),+};
        )*
        static BUILTIN: LazyLock<Registry> = LazyLock::new(|| Registry::new()$($(.with::<$kind>())+)*);
    };
}

mechanisms! {
    linkguardian: LinkGuardian;
    link_layer_retry: LinkLayerRetry;
    wharf: Wharf;
    sqr: Sqr;
    afq: Afq;
    rimm: Rimm;
    deflection: Dibs, SimpleDeflection, PreemptiveDeflection, Aifo, Pabo;
    rank_guard: RankGuard;
    vertigo: Vertigo;
    trimming: Trimming;
    bolt: Bolt;
    every_nth: EveryNth;
    p4: P4;
}

pub fn builtin() -> &'static Registry {
    &BUILTIN
}
