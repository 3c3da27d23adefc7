//! Doubly linked lists of numbered items. They allocate only for a new largest number.

const NOBODY: u32 = u32::MAX;

/// The neighbours of each item.
#[derive(Debug, Default, hitless_core::state::Value)]
pub(super) struct Links {
    of: Vec<Link>,
}

#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
struct Link {
    before: u32,
    after: u32,
}

/// A list. An item is in at most one list of the same [`Links`].
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub(super) struct Chain {
    first: u32,
    last: u32,
}

impl Default for Chain {
    fn default() -> Self {
        Self { first: NOBODY, last: NOBODY }
    }
}

impl Chain {
    #[inline]
    pub const fn first(&self) -> Option<u32> {
        if self.first == NOBODY { None } else { Some(self.first) }
    }

    #[inline]
    pub const fn last(&self) -> Option<u32> {
        if self.last == NOBODY { None } else { Some(self.last) }
    }
}

impl Links {
    /// Appends an item that is in no list.
    #[inline]
    pub fn push_back(&mut self, chain: &mut Chain, item: u32) {
        if self.of.len() <= item as usize {
            self.of.resize(item as usize + 1, Link { before: NOBODY, after: NOBODY });
        }
        self.of[item as usize] = Link { before: chain.last, after: NOBODY };
        match chain.last {
            NOBODY => chain.first = item,
            last => self.of[last as usize].after = item,
        }
        chain.last = item;
    }

    /// Removes an item from its list.
    #[inline]
    pub fn remove(&mut self, chain: &mut Chain, item: u32) {
        let Link { before, after } = self.of[item as usize];
        match before {
            NOBODY => chain.first = after,
            before => self.of[before as usize].after = after,
        }
        match after {
            NOBODY => chain.last = before,
            after => self.of[after as usize].before = before,
        }
    }

    /// Moves an item of a list to its end.
    #[inline]
    pub fn move_to_back(&mut self, from: &mut Chain, item: u32) {
        self.remove(from, item);
        self.push_back(from, item);
    }

    pub fn after(&self, item: u32) -> Option<u32> {
        let after = self.of[item as usize].after;
        (after != NOBODY).then_some(after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(links: &Links, chain: &Chain) -> Vec<u32> {
        std::iter::successors(chain.first(), |&item| links.after(item)).collect()
    }

    #[test]
    fn items_leave_from_anywhere_and_come_back_at_the_end() {
        let (mut links, mut chain) = (Links::default(), Chain::default());
        for item in [3, 0, 7, 1] {
            links.push_back(&mut chain, item);
        }
        let steps: [(u32, &[u32]); 3] = [(0, &[3, 7, 1]), (1, &[3, 7]), (3, &[7])];
        for (item, left) in steps {
            links.remove(&mut chain, item);
            assert_eq!(items(&links, &chain), left);
            assert_eq!((chain.first(), chain.last()), (left.first().copied(), left.last().copied()));
        }
        links.push_back(&mut chain, 0);
        links.move_to_back(&mut chain, 7);
        assert_eq!(items(&links, &chain), [0, 7]);
        links.remove(&mut chain, 0);
        links.remove(&mut chain, 7);
        assert!(chain.first().is_none() && chain.last().is_none());
    }
}
