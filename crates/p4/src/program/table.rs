//! Tables of a program, and their entries.

use crate::bits::Slot;
use crate::node::HeaderPlace;

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// What it looks up.
    pub key: Vec<Key>,
    /// Words of its key.
    pub key_words: u32,
    /// How it looks up.
    pub lookup: Lookup,
    /// Its actions, by number.
    pub actions: Vec<u32>,
    /// The profile its actions come from.
    pub profile: Option<u32>,
    /// How many entries it may have.
    pub size: u64,
    /// It counts per entry.
    pub has_counters: bool,
    /// Its meters in the program's meters, one per entry.
    pub meter: Option<u32>,
    /// The step after each of its actions.
    pub next: Next,
    /// What happens without an entry; changed by the control plane unless it is constant.
    pub default: Option<Call>,
    /// The control plane may not change what happens without an entry.
    pub is_default_constant: bool,
    /// Entries of the program; if there are any, the control plane may not change them.
    pub entries: Vec<Entry>,
}

/// How a table finds an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// All of it alike.
    Exact,
    /// The longest prefix of the key at this place; the rest alike.
    Longest(u32),
    /// The first in order of priority.
    Priority,
}

/// A field of the key of a table.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its name, as the control plane uses it.
    pub name: String,
    /// What it is.
    pub source: KeySource,
    /// Its width in bits.
    pub width: u32,
    /// How it matches.
    pub kind: MatchKind,
    /// Its first word in the key.
    pub word: u32,
    /// What of it counts.
    pub mask: Option<Vec<u64>>,
}

impl Key {
    /// How many words it takes.
    pub fn words(&self) -> usize {
        (self.width as usize).div_ceil(64).max(1)
    }
}

/// What a field of a key is.
#[derive(Clone, Copy, Debug)]
pub enum KeySource {
    /// A field.
    Field(Slot),
    /// Whether a header is valid.
    Valid(u32),
    /// Whether a union has a valid header.
    ValidUnion(u32),
    /// A field of an element of a stack: header, field.
    At(HeaderPlace, u32),
}

/// How a field of a key matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchKind {
    /// All of it.
    Exact,
    /// Its first bits.
    Longest,
    /// What a mask leaves.
    Ternary,
    /// Between two values.
    Range,
}

impl MatchKind {
    /// Its name in P4.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Longest => "lpm",
            Self::Ternary => "ternary",
            Self::Range => "range",
        }
    }
}

/// An action with its data.
#[derive(Clone, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct Call {
    /// The action.
    pub action: u32,
    /// Its data.
    pub data: Box<[u8]>,
}

/// What an entry of a table does.
#[derive(Clone, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub enum Target {
    /// Runs an action.
    Call(Call),
    /// Runs that of a member of the profile.
    Member(u32),
    /// Runs that of the member which the selector takes of a group.
    Group(u32),
}

/// An entry of a table.
#[derive(Clone, Debug, hitless_core::state::Value)]
pub struct Entry {
    /// What the key must be; of a range its start.
    pub key: Box<[u64]>,
    /// What of it counts; of a range its end.
    pub mask: Box<[u64]>,
    /// The length of the prefix, where there is one.
    pub prefix: u32,
    /// The smallest is first.
    pub priority: i64,
    /// What it does.
    pub target: Target,
}

/// The step after a table.
#[derive(Clone, Debug)]
pub enum Next {
    /// By whether an entry was found.
    ByHit(Option<u32>, Option<u32>),
    /// By action, in the order of the table's; and where none ran.
    ByAction(Vec<Option<u32>>, Option<u32>),
}

/// A profile of actions that entries share.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// What chooses a member of a group.
    pub selector: Option<u32>,
}
