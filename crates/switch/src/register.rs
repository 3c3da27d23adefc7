//! Register arrays: the state that the hardware allows a mechanism, and the checked mode.
//!
//! A packet passes through a half of the pipeline once. In that pass it may read and write one entry of a register
//! array, in one access, and only in stages that it has not yet left. In checked mode a [`Pass`] records the accesses
//! and refuses the rest; unchecked, an access costs one comparison.

use std::fmt;

use hitless_core::state::{Damaged, Reader, State, Value, Writer};
use hitless_core::wire::{PortId, QueueId};

use crate::resources::{Footprint, Kept, RegisterCell, RegisterUse};
use crate::verdict::Half;

/// An operation of a mechanism that the hardware cannot do.
#[derive(Clone, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct Violation {
    /// The register array (or the depth) accessed.
    pub what: &'static str,
    /// The violated rule.
    pub rule: &'static str,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.rule)
    }
}

const MOST_ACCESSES: usize = 32;
/// Maximum number of mechanisms in a switch.
const MECHANISMS_MAX: usize = 8;

/// Resources that packets have used so far (checked mode).
#[derive(Clone, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub struct Observed {
    /// Register arrays that packets have accessed.
    pub arrays: Vec<&'static str>,
    /// Maximum number of arrays accessed by one pass, in ingress and in egress.
    pub accesses: [usize; 2],
    /// Maximum number of stages accessed one after another by one pass, in ingress and in egress.
    pub stages: [usize; 2],
    /// Destinations of copies and of packets moved in egress.
    pub mirrored_to: Vec<(PortId, QueueId)>,
}

/// Resources that the mechanisms have stated.
#[derive(Clone, Debug)]
struct Stated {
    arrays: Vec<&'static str>,
    footprint: Footprint,
}

/// One packet's pass through one half of the pipeline.
#[derive(Debug, hitless_core::state::State)]
pub struct Pass {
    #[configured]
    checked: bool,
    half: Half,
    mechanism: u8,
    /// Last stage that the pass accessed, by mechanism. The stages of a mechanism follow the stages of the mechanism
    /// before it.
    stages: [Option<u8>; MECHANISMS_MAX],
    /// Number of different stages accessed.
    stage_count: usize,
    accessed: [&'static str; MOST_ACCESSES],
    count: usize,
    violation: Option<Violation>,
    observed: Observed,
    #[configured]
    stated: Option<Stated>,
}

impl Pass {
    /// Creates a pass that checks accesses if `checked`.
    pub const fn new(checked: bool) -> Self {
        Self {
            checked,
            half: Half::Ingress,
            mechanism: 0,
            stages: [None; MECHANISMS_MAX],
            stage_count: 0,
            accessed: [""; MOST_ACCESSES],
            count: 0,
            violation: None,
            observed: Observed { arrays: Vec::new(), accesses: [0; 2], stages: [0; 2], mirrored_to: Vec::new() },
            stated: None,
        }
    }

    /// Starts refusing accesses beyond the stated resources.
    pub(crate) fn hold_to(&mut self, arrays: Vec<&'static str>, footprint: Footprint) {
        self.stated = Some(Stated { arrays, footprint });
    }

    /// Notes that the hook of a mechanism is about to run.
    #[inline]
    pub(crate) fn enter(&mut self, mechanism: u8) {
        self.mechanism = mechanism;
    }

    /// Starts the pass of another packet through `half`.
    #[inline]
    pub fn begin(&mut self, half: Half) {
        self.half = half;
        self.count = 0;
        // Unchecked runs never read these fields, so the fast case does not reset them.
        if self.checked {
            self.stages = [None; MECHANISMS_MAX];
            self.stage_count = 0;
        }
    }

    /// The half of the pipeline that the packet is in.
    pub const fn half(&self) -> Half {
        self.half
    }

    /// The first violation since the switch started.
    pub const fn violation(&self) -> Option<&Violation> {
        self.violation.as_ref()
    }

    /// Records a violation; only the first is kept.
    pub fn refuse(&mut self, what: &'static str, rule: &'static str) {
        self.violation.get_or_insert(Violation { what, rule });
    }

    /// Whether accesses are checked.
    pub const fn is_checked(&self) -> bool {
        self.checked
    }

    /// Resources that packets have used so far; empty unless accesses are checked.
    pub const fn observed(&self) -> &Observed {
        &self.observed
    }

    /// Records that a copy goes, or a packet moves, to a queue.
    pub(crate) fn mirror(&mut self, port: PortId, queue: QueueId) {
        if !self.checked || self.observed.mirrored_to.contains(&(port, queue)) {
            return;
        }
        self.observed.mirrored_to.push((port, queue));
        let sessions = self.observed.mirrored_to.len() as u64;
        if self.stated.as_ref().is_some_and(|stated| sessions > stated.footprint.mirror_sessions) {
            self.refuse("mirroring", "more mirror sessions than the mechanisms have stated");
        }
    }

    #[inline]
    fn access(&mut self, name: &'static str, half: Half, stage: u8) {
        if self.checked {
            self.check(name, half, stage);
        }
    }

    #[cold]
    fn check(&mut self, name: &'static str, half: Half, stage: u8) {
        if half != self.half {
            self.refuse(name, "a register of one half of the pipeline was accessed in the other half");
        }
        // A packet passes the stages in order and cannot return to an earlier one.
        let before = self.stages[usize::from(self.mechanism) % MECHANISMS_MAX].replace(stage);
        if before.is_some_and(|before| stage < before) {
            self.refuse(name, "a register of an earlier stage was accessed after one of a later stage");
        }
        self.stage_count += usize::from(before != Some(stage));
        // A stage has one read-modify-write access per array and packet.
        if self.accessed[..self.count].contains(&name) {
            self.refuse(name, "a register array was accessed twice in one pass");
        }
        if self.count == MOST_ACCESSES {
            self.refuse(name, "more register arrays in one pass than a pipeline has");
        } else {
            self.accessed[self.count] = name;
            self.count += 1;
        }
        self.observe(name);
    }

    /// Records the pass so far and compares it with the stated resources.
    fn observe(&mut self, name: &'static str) {
        let half = self.half as usize;
        let observed = &mut self.observed;
        if !observed.arrays.contains(&name) {
            observed.arrays.push(name);
        }
        observed.accesses[half] = observed.accesses[half].max(self.count);
        observed.stages[half] = observed.stages[half].max(self.stage_count);
        let Some(Stated { arrays, footprint }) = &self.stated else { return };
        if !arrays.contains(&name) {
            self.refuse(name, "a register array was accessed that no mechanism has stated");
        } else if self.count as u64 > footprint.stateful_alus_of[half] {
            self.refuse(name, "a pass accessed more register arrays than the mechanisms have stated");
        } else if self.stage_count as u64 > u64::from(footprint.stages[half]) {
            self.refuse(name, "a pass went through more stages than the mechanisms have stated");
        }
    }
}

/// A register array in one stage.
#[derive(Clone, Debug)]
pub struct RegisterArray<T> {
    name: &'static str,
    half: Half,
    stage: u8,
    entries: Vec<T>,
}

/// Saves the entries; their number is part of the program.
impl<T: Value> State for RegisterArray<T> {
    fn save(&self, out: &mut Writer) {
        out.value(&self.entries);
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged> {
        let entries: Vec<T> = from.value()?;
        if entries.len() != self.entries.len() {
            return Err(from.damaged("as many entries as the register array has"));
        }
        self.entries = entries;
        Ok(())
    }
}

impl<T: RegisterCell> RegisterArray<T> {
    /// Creates an array of `count` entries, all `initial`, in `stage` of `half`. The checked mode treats arrays of the
    /// same name as one array, so name them as the switch program would.
    pub fn new(name: &'static str, half: Half, stage: u8, count: usize, initial: T) -> Self {
        Self { name, half, stage, entries: vec![initial; count] }
    }

    /// Performs the only access of a pass: reads and writes entry `index`.
    ///
    /// # Panics
    /// If `index` is not below the number of entries.
    #[inline]
    pub fn access<R>(&mut self, pass: &mut Pass, index: usize, update: impl FnOnce(&mut T) -> R) -> R {
        pass.access(self.name, self.half, self.stage);
        update(&mut self.entries[index])
    }

    /// Returns the array's hardware resources.
    pub const fn stated(&self) -> RegisterUse {
        let Self { name, half, stage, entries } = self;
        RegisterUse {
            name,
            half: *half,
            stage: *stage,
            cell_bits: T::BITS,
            fields: T::FIELDS,
            cells: entries.len() as u64,
            arrays: 1,
            kept: Kept::InRegister,
        }
    }

    /// Writes an entry from the control plane, without a pass and without checks.
    pub fn poke(&mut self, index: usize, value: T) {
        self.entries[index] = value;
    }

    /// Reads an entry from the control plane, without a pass and without checks.
    pub fn peek(&self, index: usize) -> T {
        self.entries[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule_broken(accesses: &[(&'static str, Half, u8)]) -> Option<&'static str> {
        let mut pass = Pass::new(true);
        pass.begin(Half::Ingress);
        for &(name, half, stage) in accesses {
            RegisterArray::new(name, half, stage, 1, 0u8).access(&mut pass, 0, |entry| *entry += 1);
        }
        pass.violation().map(|violation| violation.rule)
    }

    #[test]
    fn the_checked_mode_refuses_what_hardware_cannot_do() {
        use Half::{Egress, Ingress};
        assert_eq!(rule_broken(&[("a", Ingress, 1), ("b", Ingress, 1), ("c", Ingress, 2)]), None);
        assert!(rule_broken(&[("a", Ingress, 1), ("a", Ingress, 1)]).unwrap().contains("twice"));
        assert!(rule_broken(&[("a", Ingress, 2), ("b", Ingress, 1)]).unwrap().contains("earlier stage"));
        assert!(rule_broken(&[("a", Egress, 2)]).unwrap().contains("other half"));
    }

    #[test]
    fn a_new_pass_may_access_again() {
        let mut pass = Pass::new(true);
        let mut array = RegisterArray::new("a", Half::Ingress, 3, 1, 0u8);
        for _ in 0..2 {
            pass.begin(Half::Ingress);
            array.access(&mut pass, 0, |entry| *entry += 1);
        }
        assert_eq!((pass.violation(), array.peek(0)), (None, 2));
    }

    #[test]
    fn stages_are_those_of_each_mechanism() {
        let mut pass = Pass::new(true);
        pass.begin(Half::Egress);
        for (mechanism, name, stage) in [(0, "a", 4), (1, "b", 1), (1, "c", 1), (1, "d", 2)] {
            pass.enter(mechanism);
            RegisterArray::new(name, Half::Egress, stage, 1, 0u8).access(&mut pass, 0, |entry| *entry += 1);
        }
        assert_eq!(pass.violation(), None);
        assert_eq!((pass.observed().accesses, pass.observed().stages), ([0, 4], [0, 3]));
        pass.begin(Half::Egress);
        pass.enter(0);
        RegisterArray::new("a", Half::Egress, 4, 1, 0u8).access(&mut pass, 0, |entry| *entry += 1);
        assert_eq!(pass.observed().accesses, [0, 4], "the most of any pass");
    }

    /// A budget of two ALUs and one stage: each access beyond it is refused with its reason.
    #[test]
    fn a_pass_is_held_to_what_was_stated() {
        let rule_after = |accesses: &[(&'static str, u8)]| {
            let mut pass = Pass::new(true);
            let footprint = Footprint { stateful_alus_of: [2, 0], stages: [1, 0], ..Footprint::default() };
            pass.hold_to(vec!["a", "b", "c"], footprint);
            pass.begin(Half::Ingress);
            for &(name, stage) in accesses {
                RegisterArray::new(name, Half::Ingress, stage, 1, 0u8).access(&mut pass, 0, |entry| *entry += 1);
            }
            pass.mirror(PortId(0), QueueId(0));
            pass.violation().map(|violation| violation.rule)
        };
        assert!(rule_after(&[("other", 0)]).unwrap().contains("no mechanism has stated"));
        assert!(rule_after(&[("a", 0), ("b", 1)]).unwrap().contains("more stages"));
        assert!(rule_after(&[("a", 0), ("b", 0), ("c", 0)]).unwrap().contains("more register arrays"));
        assert!(rule_after(&[("a", 0), ("b", 0)]).unwrap().contains("more mirror sessions"));
    }
}
