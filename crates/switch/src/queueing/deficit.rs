//! Deficit round robin (Shreedhar and Varghese 1995).

#[derive(Clone, Copy, Debug, Default, Hash, hitless_core::state::Value)]
struct Account {
    quantum_bytes: u32,
    deficit_bytes: u32,
}

/// Members that take turns: a member sends while its deficit covers its first frame.
#[derive(Debug, Hash, hitless_core::state::Value)]
pub(super) struct DeficitRoundRobin {
    /// One bit per member.
    members: u64,
    turn: u8,
    accounts: Vec<Account>,
}

impl DeficitRoundRobin {
    /// Creates a round robin without members.
    pub fn new() -> Self {
        Self { members: 0, turn: 0, accounts: Vec::new() }
    }

    /// Adds a member with a number below 64; the first turn is that with the lowest number.
    pub fn add(&mut self, member: u8, quantum_bytes: u32) {
        self.members |= 1 << member;
        self.turn = self.members.trailing_zeros() as u8;
        let count = self.accounts.len().max(usize::from(member) + 1);
        self.accounts.resize(count, Account::default());
        self.accounts[usize::from(member)].quantum_bytes = quantum_bytes.max(1);
    }

    /// Gives the first member its first quantum, so that its turn is a full one.
    pub fn begin(&mut self) {
        let account = &mut self.accounts[usize::from(self.turn)];
        account.deficit_bytes = account.quantum_bytes;
    }

    /// One bit per member.
    pub const fn members(&self) -> u64 {
        self.members
    }

    /// Returns the next member to send, and how often the turn moved to the next member before that. Members that are
    /// not `ready` are counted too.
    pub fn next(&mut self, ready: u64, first_bytes: impl Fn(u8) -> u32) -> (u8, u32) {
        let mut passed = 0;
        let member = self.next_after(ready, first_bytes, |members, next| passed += members.distance_to(next));
        (member, passed)
    }

    /// Returns the next member to send.
    #[inline]
    pub fn next_member(&mut self, ready: u64, first_bytes: impl Fn(u8) -> u32) -> u8 {
        self.next_after(ready, first_bytes, |_, _| {})
    }

    /// `pass` receives the member that the turn moves to.
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
            // A deficit that does not cover the frame is kept for the next turn.
            let next = next_set_bit(ready & self.members, self.turn);
            pass(self, next);
            self.turn = next;
            let account = &mut self.accounts[usize::from(next)];
            account.deficit_bytes = account.deficit_bytes.saturating_add(account.quantum_bytes);
        }
    }

    /// Counts the members from the current turn to `next`, wrapping around; a full round if both are the same.
    fn distance_to(&self, next: u8) -> u32 {
        let below = |member: u8| (self.members & ((1 << member) - 1)).count_ones();
        let (from, to) = (below(self.turn), below(next));
        if to > from { to - from } else { self.members.count_ones() - from + to }
    }

    /// Resets the deficit of a member with no packets left; a deficit does not accumulate over idle time.
    #[inline]
    pub fn emptied(&mut self, member: u8) {
        self.accounts[usize::from(member)].deficit_bytes = 0;
    }
}

/// Returns the next set bit of `mask` after `from`, wrapping around.
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
