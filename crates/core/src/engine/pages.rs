//! A table by number that frees entries, so its size follows the entries that are still needed.

/// Entries of a page. A page is kept while at least one of them is needed.
const ENTRIES: usize = 256;

/// The entries of a page by number; `None` if not created yet or already freed.
type Page<T> = Box<[Option<T>; ENTRIES]>;

/// Entries numbered from 0 in the order of creation.
///
/// A page with only freed entries leaves 10 bytes: 1/25 byte for each entry ever created.
#[derive(Clone, Debug, crate::state::Value)]
pub struct Pages<T> {
    pages: Vec<Option<Page<T>>>,
    /// Number of freed entries, by page.
    gone: Vec<u16>,
    len: usize,
}

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Self { pages: Vec::new(), gone: Vec::new(), len: 0 }
    }
}

impl<T> Pages<T> {
    /// Number of entries ever created.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no entry was ever created.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn push(&mut self, entry: T) {
        if self.len.is_multiple_of(ENTRIES) {
            self.pages.push(Some(Box::new([const { None }; ENTRIES])));
            self.gone.push(0);
        }
        if let Some(page) = self.pages.last_mut().and_then(Option::as_mut) {
            page[self.len % ENTRIES] = Some(entry);
        }
        self.len += 1;
    }

    /// Returns an entry; `None` if it does not exist yet or was freed.
    #[inline(always)]
    pub fn get(&self, number: usize) -> Option<&T> {
        self.pages.get(number / ENTRIES)?.as_ref()?[number % ENTRIES].as_ref()
    }

    #[inline(always)]
    pub fn get_mut(&mut self, number: usize) -> Option<&mut T> {
        self.pages.get_mut(number / ENTRIES)?.as_mut()?[number % ENTRIES].as_mut()
    }

    /// Frees an entry that is no longer needed.
    pub fn let_go(&mut self, number: usize) {
        let Some(entry) = self.pages.get_mut(number / ENTRIES).and_then(Option::as_mut) else { return };
        if entry[number % ENTRIES].take().is_none() {
            return;
        }
        let gone = &mut self.gone[number / ENTRIES];
        *gone += 1;
        if usize::from(*gone) == ENTRIES {
            self.pages[number / ENTRIES] = None;
        }
    }

    /// Returns the existing entries with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        let pages = self.pages.iter().enumerate().filter_map(|(page, of)| Some((page * ENTRIES, of.as_ref()?)));
        pages
            .flat_map(|(first, of)| (first..).zip(of.iter()))
            .filter_map(|(number, entry)| Some((number, entry.as_ref()?)))
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = (usize, &mut T)> {
        let pages = self.pages.iter_mut().enumerate().filter_map(|(page, of)| Some((page * ENTRIES, of.as_mut()?)));
        let entries = pages.flat_map(|(first, of)| (first..).zip(of.iter_mut()));
        entries.filter_map(|(number, entry)| Some((number, entry.as_mut()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_by_number_until_they_are_let_go() {
        let mut pages = Pages::default();
        (0..600).for_each(|number| pages.push(number));
        assert_eq!((pages.len(), pages.get(599), pages.get(600), pages.get(9_999)), (600, Some(&599), None, None));
        (0..600).filter(|&number| number != 255).for_each(|number| pages.let_go(number));
        assert_eq!((pages.get(17), pages.get(255), pages.get(256)), (None, Some(&255), None));
        pages.let_go(255);
        pages.let_go(255);
        assert_eq!(pages.get(255), None);
        pages.push(600);
        assert_eq!(pages.iter().collect::<Vec<_>>(), [(600, &600)]);
        pages.iter_mut().for_each(|(_, entry)| *entry += 1);
        assert_eq!(pages.get(600), Some(&601));
    }

    #[test]
    fn a_page_whose_entries_were_all_let_go_takes_no_memory() {
        let mut pages = Pages::default();
        for number in 0..100_000 {
            pages.push([number; 16]);
            pages.let_go(number);
        }
        assert_eq!(pages.pages.iter().flatten().count(), 1, "the last one is not full");
        assert_eq!(size_of::<Option<Page<u8>>>(), 8);
    }
}
