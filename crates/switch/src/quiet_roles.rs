//! Roles of owned packets that skip the hooks after the queue.

/// Roles, by owner as in [`Packet::owner`](hitless_core::wire::Packet::owner).
#[derive(Debug, Default)]
pub(crate) struct QuietRoles(Vec<Roles>);

/// One bit per role.
type Roles = [u64; 4];

impl QuietRoles {
    /// Adds the mechanism with the next number.
    pub fn push(&mut self, roles: &[u8]) {
        // No packet has owner 0.
        if self.0.is_empty() {
            self.0.push(Roles::default());
        }
        let mut bits = Roles::default();
        roles.iter().for_each(|&role| bits[usize::from(role >> 6)] |= 1 << (role & 63));
        self.0.push(bits);
    }

    #[inline(always)]
    pub fn contains(&self, owner: u8, role: u8) -> bool {
        self.0.get(usize::from(owner)).is_some_and(|roles| roles[usize::from(role >> 6)] >> (role & 63) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_belong_to_their_owner() {
        let mut roles = QuietRoles::default();
        roles.push(&[0, 17, 255]);
        roles.push(&[]);
        roles.push(&[64]);
        let all = (0..=4).flat_map(|owner| (0..=255).map(move |role| (owner, role)));
        let quiet: Vec<_> = all.filter(|&(owner, role)| roles.contains(owner, role)).collect();
        assert_eq!(quiet, [(1, 0), (1, 17), (1, 255), (3, 64)]);
    }
}
