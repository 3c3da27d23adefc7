//! Sets of hooks, and the subscriptions at a port.

/// A set of hooks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HookSet(u8);

impl HookSet {
    /// The empty set.
    pub const NONE: HookSet = HookSet(0);
    /// [`rx`](crate::Mechanism::rx) for packets that enter by the port.
    pub const RX: HookSet = HookSet(1);
    /// [`ingress`](crate::Mechanism::ingress) for packets that enter by the port.
    pub const INGRESS_FROM: HookSet = HookSet(2);
    /// [`ingress`](crate::Mechanism::ingress) for packets that routing wants to send out of the port.
    pub const INGRESS_TOWARDS: HookSet = HookSet(4);
    /// [`egress`](crate::Mechanism::egress).
    pub const EGRESS: HookSet = HookSet(8);
    /// [`tx`](crate::Mechanism::tx).
    pub const TX: HookSet = HookSet(16);
    /// [`Event::QueueEmpty`](crate::Event::QueueEmpty).
    pub const QUEUE_EMPTY: HookSet = HookSet(32);
    /// [`on_tm_drop`](crate::Mechanism::on_tm_drop) for packets that nobody owns.
    pub const TM_DROP: HookSet = HookSet(64);

    /// Returns the union of both sets.
    pub const fn with(self, other: HookSet) -> HookSet {
        HookSet(self.0 | other.0)
    }

    /// Returns the names of the hooks in the set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        const NAMES: [(HookSet, &str); 7] = [
            (HookSet::RX, "rx"),
            (HookSet::INGRESS_FROM, "ingress from a port"),
            (HookSet::INGRESS_TOWARDS, "ingress towards a port"),
            (HookSet::EGRESS, "egress"),
            (HookSet::TX, "tx"),
            (HookSet::QUEUE_EMPTY, "a queue is empty"),
            (HookSet::TM_DROP, "the traffic manager drops a packet"),
        ];
        NAMES.into_iter().filter(move |(hook, _)| self.contains(*hook)).map(|(_, name)| name)
    }

    /// Returns whether the set contains all of `other`.
    pub const fn contains(self, other: HookSet) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Mechanisms subscribed at a port, per hook (one bit each).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PortHooks {
    pub rx: u8,
    pub ingress_from: u8,
    pub ingress_towards: u8,
    pub egress: u8,
    pub tx: u8,
    pub queue_empty: u8,
    pub tm_drop: u8,
}

impl PortHooks {
    /// Returns the mechanisms with any hook, one bit each.
    pub fn mechanisms(&self) -> u8 {
        let Self { rx, ingress_from, ingress_towards, egress, tx, queue_empty, tm_drop } = *self;
        rx | ingress_from | ingress_towards | egress | tx | queue_empty | tm_drop
    }

    pub fn subscribe(&mut self, mechanism: u8, hooks: HookSet) {
        let bit = 1 << mechanism;
        let fields = [
            (HookSet::RX, &mut self.rx),
            (HookSet::INGRESS_FROM, &mut self.ingress_from),
            (HookSet::INGRESS_TOWARDS, &mut self.ingress_towards),
            (HookSet::EGRESS, &mut self.egress),
            (HookSet::TX, &mut self.tx),
            (HookSet::QUEUE_EMPTY, &mut self.queue_empty),
            (HookSet::TM_DROP, &mut self.tm_drop),
        ];
        for (hook, mask) in fields {
            if hooks.contains(hook) {
                *mask |= bit;
            }
        }
    }

    /// Returns whether a hook may hold, change or consume a packet after the traffic manager.
    pub const fn acts_after_queueing(&self) -> bool {
        (self.egress | self.tx | self.queue_empty | self.tm_drop) != 0
    }
}
