//! The settings of a congestion control from outside this crate, as a small value that can be copied, as for
//! packaged controls. Equal settings are stored once, until the process ends.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use hitless_core::state::{Damaged, Reader, Value, Writer};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::kind::{BoxedControl, CongestionFacts, CongestionKind, SettingsMap};
use crate::transport::tcp::congestion::api::Window;

type Held = &'static dyn CongestionKind;

struct Kept {
    kind: Held,
    /// All fields, without `kind`.
    map: SettingsMap,
    settings: Box<dyn Any + Send + Sync>,
}

/// All settings that were read. Newer kinds come later.
static KEPT: Mutex<Vec<&'static Kept>> = Mutex::new(Vec::new());

thread_local! {
    /// The kinds that the running [`reading_with`] knows.
    static KNOWN: RefCell<Vec<Held>> = const { RefCell::new(Vec::new()) };
}

/// Calls `read`, which can deserialize settings of these kinds.
pub fn reading_with<T>(kinds: &[Held], read: impl FnOnce() -> T) -> T {
    let outer = KNOWN.replace(kinds.to_vec());
    let result = read();
    KNOWN.set(outer);
    result
}

/// The settings of a congestion control from outside this crate.
#[derive(Clone, Copy)]
pub struct OwnSettings(&'static Kept);

impl OwnSettings {
    /// Returns the constants of the kind.
    #[inline]
    pub fn facts(&self) -> &'static CongestionFacts {
        self.0.kind.facts()
    }

    /// Returns the name and the violated rule of each invalid setting.
    pub fn check(&self) -> Vec<(String, String)> {
        self.0.kind.check(&*self.0.settings)
    }

    pub(super) fn build(&self, window: &Window) -> Box<dyn BoxedControl> {
        self.0.kind.build(&*self.0.settings, window)
    }

    pub(super) fn load(&self, from: &mut Reader<'_>) -> Result<Box<dyn BoxedControl>, Damaged> {
        self.0.kind.load(from)
    }

    /// Makes settings of `kind`.
    fn of(kind: Held, map: SettingsMap) -> Result<Self, String> {
        let (mut map, settings) = kind.read(map)?;
        // TOML cannot write null: an optional field is left out.
        map.retain(|_, value| !value.is_null());
        let version = |kind: Held| (kind.facts().name, kind.facts().version);
        let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.iter().find(|known| version(known.kind) == version(kind) && known.map == map);
        if let Some(known) = known {
            return Ok(Self(known));
        }
        let new: &'static Kept = Box::leak(Box::new(Kept { kind, map, settings }));
        kept.push(new);
        Ok(Self(new))
    }
}

impl PartialEq for OwnSettings {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl fmt::Debug for OwnSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(self.facts().name).field(&self.0.map).finish()
    }
}

impl Serialize for OwnSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Tagged<'a> {
            kind: &'static str,
            #[serde(flatten)]
            settings: &'a SettingsMap,
        }
        Tagged { kind: self.facts().name, settings: &self.0.map }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for OwnSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut map = SettingsMap::deserialize(deserializer)?;
        let name = map.remove("kind").unwrap_or_default();
        let kind = KNOWN.with_borrow(|known| known.iter().copied().find(|kind| name == kind.facts().name));
        let kind = kind.ok_or_else(|| de::Error::custom(format!("there is no congestion control {name}")))?;
        Self::of(kind, map).map_err(de::Error::custom)
    }
}

/// A checkpoint has the name and the fields. The scenario of the run has already been read, so the settings are known.
impl Value for OwnSettings {
    fn write(&self, out: &mut Writer) {
        self.facts().name.to_owned().write(out);
        serde_json::Value::from(self.0.map.clone()).to_string().write(out);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let (name, text) = (String::read(from)?, String::read(from)?);
        let map: SettingsMap = serde_json::from_str(&text).map_err(|_| from.damaged("settings"))?;
        let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.iter().rev().find(|known| known.kind.facts().name == name && known.map == map);
        known.map(|known| Self(known)).ok_or_else(|| from.damaged("a congestion control of the scenario"))
    }
}
