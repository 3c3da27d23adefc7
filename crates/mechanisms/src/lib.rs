//! The mechanisms that a switch can run, one folder each: what implements
//! [`Mechanism`](hitless_switch::Mechanism), and its [`Kind`](hitless_scenario::kind::Kind), which is all that
//! scenarios and runs know of it. [`builtin`] has a line for each.

pub mod afq;
pub mod bolt;
mod by_port;

mod configured_ports;
pub mod deflection;
mod detours;
mod every_nth;
pub mod link_layer_retry;
pub mod linkguardian;
mod neighbours;
mod one_link;
mod port_choice;
mod queue_limit;
pub mod rank_guard;
pub mod rimm;
pub mod sqr;
#[cfg(test)]
mod triangle;
pub mod trimming;
pub mod vertigo;
pub mod wharf;

use std::sync::LazyLock;

use hitless_scenario::kind::Registry;

pub use afq::Afq;
pub use bolt::Bolt;
pub use deflection::{Aifo, Dibs, Pabo, PreemptiveDeflection, SimpleDeflection};
pub use link_layer_retry::LinkLayerRetry;
pub use linkguardian::LinkGuardian;
pub use rank_guard::RankGuard;
pub use rimm::Rimm;
pub use sqr::Sqr;
pub use trimming::Trimming;
pub use vertigo::Vertigo;
pub use wharf::Wharf;

static BUILTIN: LazyLock<Registry> = LazyLock::new(|| {
    Registry::new()
        .with::<LinkGuardian>()
        .with::<LinkLayerRetry>()
        .with::<Wharf>()
        .with::<Sqr>()
        .with::<Afq>()
        .with::<Rimm>()
        .with::<Dibs>()
        .with::<SimpleDeflection>()
        .with::<PreemptiveDeflection>()
        .with::<Aifo>()
        .with::<Pabo>()
        .with::<RankGuard>()
        .with::<Vertigo>()
        .with::<Trimming>()
        .with::<Bolt>()
        .with::<every_nth::EveryNth>()
});

/// The kinds of this crate, a line for each.
pub fn builtin() -> &'static Registry {
    &BUILTIN
}
