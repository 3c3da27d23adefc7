//! SQR's parameters.

use hitless_wire::{Duration, PortId, ServiceKey};

/// Where copies are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caching {
    /// In the Multi-Queue Ring: FIFO queues through which a copy goes round and round (section III-B).
    Ring,
    /// In queues that hold a packet for a time, as future chips could (section VII).
    DelayQueue,
}

/// When a copy that is due to be sent again may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// When it has been kept for the whole delay time (section III-C, algorithm 2).
    AfterDelay,
    /// As soon as there is a way for it.
    WhenRerouted,
}

/// The backstop against a full packet buffer (section VI, "Handling Traffic Surges").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backstop {
    /// No packet is cached from this occupancy of the buffer on.
    pub pause_bytes: u64,
    /// Packets are cached again when the occupancy has fallen to this.
    pub resume_bytes: u64,
}

/// Which packets are protected (section III, footnote 2). One that fits any of the lists is; when all are empty,
/// every packet is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// Traffic classes (TOS bits).
    pub classes: Vec<u8>,
    /// TCP or UDP ports, of either end.
    pub ports: Vec<u16>,
    /// VLAN identifiers.
    pub vlans: Vec<u16>,
}

impl Marks {
    /// Whether packets of this class and service are protected. `service` is asked when the class does not decide.
    pub fn protect(&self, class: u8, service: impl FnOnce() -> ServiceKey) -> bool {
        let Marks { classes, ports, vlans } = self;
        if classes.is_empty() && ports.is_empty() && vlans.is_empty() || classes.contains(&class) {
            return true;
        }
        let key = service();
        (key.port != 0 && ports.contains(&key.port)) || (key.vlan != 0 && vlans.contains(&key.vlan))
    }
}

/// SQR on one switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqrConfig {
    /// The ports whose links are protected.
    pub protected: Vec<PortId>,
    /// Ports that face a link, numbered from 0; each gets a caching queue, for any may become a backup.
    pub line_ports: u16,
    /// The ports whose caching queues make up the ring.
    pub caching_ports: Vec<PortId>,
    /// What is protected.
    pub marks: Marks,
    /// How long a copy is kept while all is well: at least the time in which a failure is detected, and that of a
    /// frame on its way (section III-C).
    pub steady_delay: Duration,
    /// How long a copy is kept while a failure is repaired: until detection and until the route is reconfigured.
    pub failure_delay: Duration,
    /// Bits of the nanosecond clock that copies are stamped with; it wraps (algorithm 1).
    pub clock_bits: u32,
    /// Over what time the bytes of a port are counted (section III-F: 150 us).
    pub utilization_window: Duration,
    /// Where copies are kept.
    pub caching: Caching,
    /// When copies are sent again.
    pub release: Release,
    /// Nothing is cached while the packet buffer is nearly full.
    pub backstop: Option<Backstop>,
    /// How long packets wait when their way changes although nothing was lost, so that none overtakes another that
    /// went the old way: back to the primary port after local rerouting.
    pub return_hold: Duration,
}
