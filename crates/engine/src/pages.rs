//! A table by number of which entries are let go, so that it holds what is still needed of many.

/// Entries of a page. A page stays while one of them is needed.
const ENTRIES: usize = 256;

/// The entries of a page that were made, and how many of them were let go.
#[derive(Clone, Debug)]
struct Page<T> {
    entries: Vec<T>,
    gone: u32,
}

hitless_state::value!(where [T: hitless_state::Value] Page<T> { entries, gone });

/// Entries that are numbered from 0 as they are made.
///
/// Of a page whose entries were all let go, 32 bytes are left: 1/8 byte for each entry ever made.
#[derive(Clone, Debug)]
pub struct Pages<T> {
    pages: Vec<Page<T>>,
    len: usize,
}

hitless_state::value!(where [T: hitless_state::Value] Pages<T> { pages, len });

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Self { pages: Vec::new(), len: 0 }
    }
}

impl<T> Pages<T> {
    /// How many entries were ever made.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Makes the next entry.
    pub fn push(&mut self, entry: T) {
        if self.len.is_multiple_of(ENTRIES) {
            self.pages.push(Page { entries: Vec::new(), gone: 0 });
        }
        if let Some(page) = self.pages.last_mut() {
            page.entries.push(entry);
        }
        self.len += 1;
    }

    /// An entry; `None` where there is none yet, or its page is gone.
    #[inline(always)]
    pub fn get(&self, number: usize) -> Option<&T> {
        self.pages.get(number / ENTRIES)?.entries.get(number % ENTRIES)
    }

    /// [`Self::get`], to be changed.
    #[inline(always)]
    pub fn get_mut(&mut self, number: usize) -> Option<&mut T> {
        self.pages.get_mut(number / ENTRIES)?.entries.get_mut(number % ENTRIES)
    }

    /// An entry is not needed any more; to be told once of each.
    pub fn let_go(&mut self, number: usize) {
        let Some(page) = self.pages.get_mut(number / ENTRIES) else { return };
        debug_assert!(number < self.len && (page.gone as usize) < ENTRIES, "entry {number} is let go twice");
        page.gone += 1;
        if page.gone as usize == ENTRIES {
            page.entries = Vec::new();
        }
    }

    /// The entries that are there, with their numbers; those that were let go, too, as long as their page is there.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        self.pages.iter().enumerate().flat_map(|(page, of)| (page * ENTRIES..).zip(&of.entries))
    }

    /// [`Self::iter`], to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (usize, &mut T)> {
        self.pages.iter_mut().enumerate().flat_map(|(page, of)| (page * ENTRIES..).zip(&mut of.entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_by_number_until_all_of_their_page_are_let_go() {
        let mut pages = Pages::default();
        (0..600).for_each(|number| pages.push(number));
        assert_eq!((pages.len(), pages.get(599), pages.get(600)), (600, Some(&599), None));
        (0..600).filter(|&number| number != 255).for_each(|number| pages.let_go(number));
        assert_eq!(pages.get(17), Some(&17), "one of its page is needed");
        assert_eq!((pages.get(256), pages.get(511)), (None, None));
        assert_eq!(pages.get(512), Some(&512), "its page is not full");
        pages.let_go(255);
        assert_eq!((pages.get(0), pages.get(255)), (None, None));
        assert_eq!(pages.iter().map(|(number, &entry)| (number, entry)).next(), Some((512, 512)));
    }

    #[test]
    fn what_is_let_go_takes_no_memory() {
        let mut pages = Pages::default();
        for number in 0..100_000 {
            pages.push([number; 16]);
            pages.let_go(number);
        }
        assert_eq!(pages.iter().count(), 100_000 % ENTRIES);
    }
}
