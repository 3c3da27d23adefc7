use crate::bits::Slot;
use crate::node::HeaderPlace;

#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    pub key: Vec<Key>,
    /// Size of the key in 64-bit words.
    pub key_words: u32,
    pub lookup: Lookup,
    pub actions: Vec<u32>,
    /// The action profile of an indirect table.
    pub profile: Option<u32>,
    /// Maximum number of entries.
    pub size: u64,
    pub has_counters: bool,
    /// Its direct meter array, if any.
    pub meter: Option<u32>,
    pub next: Next,
    /// The default action; the control plane can change it unless it is constant.
    pub default: Option<Call>,
    /// Whether the control plane must not change the default action.
    pub is_default_constant: bool,
    /// The program's const entries; if there are any, the control plane cannot change the entries.
    pub entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    Exact,
    /// Longest prefix in the field at this index, exact match in all others.
    Longest(u32),
    /// First match in order of priority.
    Priority,
}

#[derive(Clone, Debug)]
pub struct Key {
    /// The field's name in the control plane.
    pub name: String,
    pub source: KeySource,
    pub width: u32,
    pub kind: MatchKind,
    /// Index of its first word in the key.
    pub word: u32,
    /// A constant mask for its value.
    pub mask: Option<Vec<u64>>,
}

impl Key {
    /// Number of 64-bit words.
    pub fn words(&self) -> usize {
        (self.width as usize).div_ceil(64).max(1)
    }
}

/// The source of a key field's value.
#[derive(Clone, Copy, Debug)]
pub enum KeySource {
    Field(Slot),
    Valid(u32),
    ValidUnion(u32),
    /// A field of an element of a stack: header, field.
    At(HeaderPlace, u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchKind {
    /// All bits.
    Exact,
    /// The leading bits.
    Longest,
    /// The bits of a mask.
    Ternary,
    /// A range of values.
    Range,
}

impl MatchKind {
    /// The kind's name in P4.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Longest => "lpm",
            Self::Ternary => "ternary",
            Self::Range => "range",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct Call {
    pub action: u32,
    pub data: Box<[u8]>,
}

#[derive(Clone, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub enum Target {
    Call(Call),
    /// Runs the action of a member of the profile.
    Member(u32),
    /// Runs the action of the group's member that the selector picks.
    Group(u32),
}

#[derive(Clone, Debug, hitless_core::state::Value)]
pub struct Entry {
    /// The key's value; for a range, its start.
    pub key: Box<[u64]>,
    /// The key's mask; for a range, its end.
    pub mask: Box<[u64]>,
    /// Length of the prefix, if any.
    pub prefix: u32,
    /// Priority; the smallest number wins.
    pub priority: i64,
    pub target: Target,
}

#[derive(Clone, Debug)]
pub enum Next {
    /// By hit or miss: next step after each.
    ByHit(Option<u32>, Option<u32>),
    /// By action, in the order of the table's actions; last, the step if no action ran.
    ByAction(Vec<Option<u32>>, Option<u32>),
}

/// An action profile, shared by entries.
#[derive(Clone, Debug)]
pub struct Profile {
    pub name: String,
    /// The calculation that selects a member of a group.
    pub selector: Option<u32>,
}
