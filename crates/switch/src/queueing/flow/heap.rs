//! A binary heap of numbered items with changing keys.

const NOWHERE: u32 = u32::MAX;

/// A heap with the smallest key first. No two keys may be equal: the order of equal keys would depend on history.
#[derive(Debug, hitless_core::state::Value)]
pub(super) struct IndexedHeap<K> {
    nodes: Vec<(K, u32)>,
    /// Position among the nodes, by item.
    places: Vec<u32>,
}

impl<K> Default for IndexedHeap<K> {
    fn default() -> Self {
        Self { nodes: Vec::new(), places: Vec::new() }
    }
}

impl<K: Ord + Copy> IndexedHeap<K> {
    /// Returns the smallest key and its item.
    #[inline]
    pub fn first(&self) -> Option<(K, u32)> {
        self.nodes.first().copied()
    }

    #[inline]
    pub fn contains(&self, item: u32) -> bool {
        self.places.get(item as usize).is_some_and(|&place| place != NOWHERE)
    }

    /// Inserts an item, or changes its key.
    #[inline]
    pub fn set(&mut self, item: u32, key: K) {
        if self.places.len() <= item as usize {
            self.places.resize(item as usize + 1, NOWHERE);
        }
        let place = self.places[item as usize];
        if place == NOWHERE {
            self.nodes.push((key, item));
            return self.rise(self.nodes.len() - 1);
        }
        let place = place as usize;
        let is_earlier = key < self.nodes[place].0;
        self.nodes[place].0 = key;
        if is_earlier { self.rise(place) } else { self.sink(place) }
    }

    /// Removes an item if present.
    #[inline]
    pub fn remove(&mut self, item: u32) {
        if !self.contains(item) {
            return;
        }
        let place = std::mem::replace(&mut self.places[item as usize], NOWHERE) as usize;
        let removed = self.nodes.swap_remove(place);
        // The last node fills the gap; it can belong above or below it.
        if let Some(&moved) = self.nodes.get(place) {
            if moved.0 < removed.0 { self.rise(place) } else { self.sink(place) }
        }
    }

    fn rise(&mut self, mut place: usize) {
        let node = self.nodes[place];
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.nodes[parent].0 <= node.0 {
                break;
            }
            self.put(place, self.nodes[parent]);
            place = parent;
        }
        self.put(place, node);
    }

    fn sink(&mut self, mut place: usize) {
        let node = self.nodes[place];
        loop {
            let mut child = 2 * place + 1;
            if child >= self.nodes.len() {
                break;
            }
            if child + 1 < self.nodes.len() && self.nodes[child + 1].0 < self.nodes[child].0 {
                child += 1;
            }
            if node.0 <= self.nodes[child].0 {
                break;
            }
            self.put(place, self.nodes[child]);
            place = child;
        }
        self.put(place, node);
    }

    #[inline]
    fn put(&mut self, place: usize, node: (K, u32)) {
        self.nodes[place] = node;
        self.places[node.1 as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_first_is_that_of_a_sorted_list(
            steps in prop::collection::vec((0u32..12, 0u64..50, any::<bool>()), 1..200),
        ) {
            let mut heap = IndexedHeap::default();
            let mut model = BTreeMap::new();
            for (item, key, is_in) in steps {
                if is_in {
                    heap.set(item, (key, item));
                    model.insert(item, (key, item));
                } else {
                    heap.remove(item);
                    model.remove(&item);
                }
                prop_assert_eq!(heap.first().map(|(key, _)| key), model.values().min().copied());
                prop_assert!((0..12).all(|item| heap.contains(item) == model.contains_key(&item)));
            }
        }
    }
}
