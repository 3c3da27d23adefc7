//! Deficit round robin (Shreedhar and Varghese 1995).

/// One member's account.
#[derive(Clone, Copy, Debug, Default, Hash, hitless_core::state::Value)]
struct Account {
    quantum_bytes: u32,
    deficit_bytes: u32,
}

/// Members that take turns: the one whose turn it is sends while its deficit covers its first frame.
#[derive(Debug, Hash, hitless_core::state::Value)]
pub(super) struct DeficitRoundRobin {
    /// One bit for each member.
    members: u64,
    turn: u8,
    /// By member.
    accounts: Vec<Account>,
}

impl DeficitRoundRobin {
    /// No members.
    pub fn new() -> Self {
        Self { members: 0, turn: 0, accounts: Vec::new() }
    }

    /// One member more, of a number below 64; the turn is that of the lowest.
    pub fn add(&mut self, member: u8, quantum_bytes: u32) {
        self.members |= 1 << member;
        self.turn = self.members.trailing_zeros() as u8;
        let count = self.accounts.len().max(usize::from(member) + 1);
        self.accounts.resize(count, Account::default());
        self.accounts[usize::from(member)].quantum_bytes = quantum_bytes.max(1);
    }

    /// Gives the member whose turn it is its first quantum, so that the first turn is its own.
    pub fn begin(&mut self) {
        let account = &mut self.accounts[usize::from(self.turn)];
        account.deficit_bytes = account.quantum_bytes;
    }

    /// One bit for each member.
    pub const fn members(&self) -> u64 {
        self.members
    }

    /// The member that sends next, and how often the turn went to the next member before: members that are not `ready`
    /// are passed too.
    pub fn next(&mut self, ready: u64, first_bytes: impl Fn(u8) -> u32) -> (u8, u32) {
        let mut passed = 0;
        let member = self.next_after(ready, first_bytes, |members, next| passed += members.distance_to(next));
        (member, passed)
    }

    /// The member that sends next.
    #[inline]
    pub fn next_member(&mut self, ready: u64, first_bytes: impl Fn(u8) -> u32) -> u8 {
        self.next_after(ready, first_bytes, |_, _| {})
    }

    /// `pass` is told to which member the turn is about to go.
    #[inline]
    fn next_after(&mut self, ready: u64, first_bytes: impl Fn(u8) -> u32, mut pass: impl FnMut(&Self, u8)) -> u8 {
        debug_assert!(ready & self.members != 0, "somebody must be ready");
        loop {
            if ready >> self.turn & 1 == 1 {
                let frame_bytes = first_bytes(self.turn);
                let account = &mut self.accounts[usize::from(self.turn)];
                if account.deficit_bytes >= frame_bytes {
                    account.deficit_bytes -= frame_bytes;
                    return self.turn;
                }
            }
            let next = next_set_bit(ready & self.members, self.turn);
            pass(self, next);
            self.turn = next;
            let account = &mut self.accounts[usize::from(next)];
            account.deficit_bytes = account.deficit_bytes.saturating_add(account.quantum_bytes);
        }
    }

    /// Members from the one whose turn it is to `next`, around the end; a whole round to itself.
    fn distance_to(&self, next: u8) -> u32 {
        let below = |member: u8| (self.members & ((1 << member) - 1)).count_ones();
        let (from, to) = (below(self.turn), below(next));
        if to > from { to - from } else { self.members.count_ones() - from + to }
    }

    /// A member that has nothing left loses its deficit.
    #[inline]
    pub fn emptied(&mut self, member: u8) {
        self.accounts[usize::from(member)].deficit_bytes = 0;
    }
}

/// The set bit of `mask` that follows `from`, around the end.
fn next_set_bit(mask: u64, from: u8) -> u8 {
    let above = mask & u64::MAX.checked_shl(u32::from(from) + 1).unwrap_or(0);
    if above != 0 { above.trailing_zeros() as u8 } else { mask.trailing_zeros() as u8 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_that_are_passed_are_counted_whether_ready_or_not() {
        let mut members = DeficitRoundRobin::new();
        [3, 4, 6, 9].into_iter().for_each(|member| members.add(member, 1_000));
        let steps = [(1 << 9, (9, 3)), (1 << 9, (9, 4)), (1 << 3 | 1 << 4, (3, 1)), (1 << 6, (6, 2))];
        for (ready, expected) in steps {
            assert_eq!(members.next(ready, |_| 1_000), expected);
        }
    }

    #[test]
    fn a_member_goes_on_while_its_deficit_lasts() {
        let mut members = DeficitRoundRobin::new();
        [0, 1].into_iter().for_each(|member| members.add(member, 1_000));
        let order: Vec<u8> = (0..6).map(|_| members.next(0b11, |_| 400).0).collect();
        assert_eq!(order, [1, 1, 0, 0, 1, 1]);
        members.emptied(1);
        assert_eq!(members.next(0b11, |_| 400), (0, 1), "what was left over is gone");
    }

    #[test]
    fn a_quantum_of_no_bytes_counts_as_one_and_stops_nobody() {
        let mut members = DeficitRoundRobin::new();
        members.add(0, 0);
        assert_eq!(members.next(1, |_| 3).0, 0);
    }
}
