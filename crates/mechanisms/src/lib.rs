//! The mechanisms that a switch can run, one folder each: what implements
//! [`Mechanism`](hitless_switch::Mechanism), and its [`Kind`](hitless_scenario::kind::Kind), which is all that
//! scenarios and runs know of it.

mod by_port;
mod configured_ports;
mod detours;
mod neighbours;
mod one_link;
mod port_choice;
mod queue_limit;
#[cfg(test)]
mod small_world;
#[cfg(test)]
mod triangle;

use std::sync::LazyLock;

use hitless_scenario::kind::Registry;

/// Folders, each with the kinds that are in it. The hooks of kinds of one stage run in this order.
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

/// The kinds of this crate.
pub fn builtin() -> &'static Registry {
    &BUILTIN
}
