//! Register arrays: the state that the hardware lets a mechanism keep, and the checked mode.
//!
//! A packet passes a half of the pipeline once. In that pass it may read and write one entry of a register array,
//! in one access, and only of arrays in the stages it has not left behind. In checked mode a [`Pass`] notes what was
//! accessed and refuses the rest; unchecked it costs one comparison.

use std::fmt;

/// A half of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Before the traffic manager: the hooks `link_receive` and `ingress`, and timer packets.
    Ingress,
    /// After it: `egress` and `link_transmit`.
    Egress,
}

/// What a mechanism did that the hardware cannot do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The register array (or the depth) accessed.
    pub what: &'static str,
    /// The rule that was broken.
    pub rule: &'static str,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.rule)
    }
}

const MOST_ACCESSES: usize = 32;

/// One packet's pass through one half of the pipeline.
#[derive(Debug)]
pub struct Pass {
    checked: bool,
    half: Half,
    stage: u8,
    accessed: [&'static str; MOST_ACCESSES],
    count: usize,
    violation: Option<Violation>,
}

impl Pass {
    /// A pass that checks when `checked`.
    pub const fn new(checked: bool) -> Self {
        Self { checked, half: Half::Ingress, stage: 0, accessed: [""; MOST_ACCESSES], count: 0, violation: None }
    }

    /// Starts the pass of another packet through `half`.
    #[inline]
    pub fn begin(&mut self, half: Half) {
        self.half = half;
        self.stage = 0;
        self.count = 0;
    }

    /// The half that the packet is in.
    pub const fn half(&self) -> Half {
        self.half
    }

    /// The first rule that was broken since the switch started.
    pub const fn violation(&self) -> Option<&Violation> {
        self.violation.as_ref()
    }

    /// Notes a broken rule; only the first is kept.
    pub fn refuse(&mut self, what: &'static str, rule: &'static str) {
        self.violation.get_or_insert(Violation { what, rule });
    }

    /// Whether rules are checked.
    pub const fn is_checked(&self) -> bool {
        self.checked
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
        if stage < self.stage {
            self.refuse(name, "a register of an earlier stage was accessed after one of a later stage");
        }
        if self.accessed[..self.count].contains(&name) {
            self.refuse(name, "a register array was accessed twice in one pass");
        }
        if self.count == MOST_ACCESSES {
            self.refuse(name, "more register arrays in one pass than a pipeline has");
        } else {
            self.accessed[self.count] = name;
            self.count += 1;
        }
        self.stage = self.stage.max(stage);
    }
}

/// A register array of one stage.
#[derive(Clone, Debug)]
pub struct RegisterArray<T> {
    name: &'static str,
    half: Half,
    stage: u8,
    entries: Vec<T>,
}

impl<T: Copy> RegisterArray<T> {
    /// An array of `count` entries, all `initial`, in `stage` of `half`. Arrays of the same name are one array to
    /// the checked mode: name them as the program would.
    pub fn new(name: &'static str, half: Half, stage: u8, count: usize, initial: T) -> Self {
        Self { name, half, stage, entries: vec![initial; count] }
    }

    /// The one access of a pass: reads and writes entry `index`.
    ///
    /// # Panics
    /// When `index` is not below the number of entries.
    #[inline]
    pub fn access<R>(&mut self, pass: &mut Pass, index: usize, update: impl FnOnce(&mut T) -> R) -> R {
        pass.access(self.name, self.half, self.stage);
        update(&mut self.entries[index])
    }

    /// Writes an entry from the control plane: no pass, no rule.
    pub fn poke(&mut self, index: usize, value: T) {
        self.entries[index] = value;
    }

    /// Reads an entry from the control plane: no pass, no rule.
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
}
