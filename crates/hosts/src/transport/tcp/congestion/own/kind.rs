//! The interface of congestion controls from outside this crate, and their type-erased kinds.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;

use hitless_core::state::{Damaged, Reader, Value, Writer};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::transport::tcp::congestion::api::{CongestionControl, Window};

/// Settings as in a file.
pub type SettingsMap = serde_json::Map<String, serde_json::Value>;

/// A congestion control from outside this crate. The type is the state of a connection.
pub trait OwnCongestion: CongestionControl + Value + Clone + fmt::Debug + Send + Sync + 'static {
    /// The value of `kind` in `congestion = { kind = "..." }`.
    const NAME: &'static str;
    /// One sentence of the schema.
    const SUMMARY: &'static str;
    /// Calls and defaults that it asks for.
    const BEHAVIOUR: Behaviour = Behaviour::GROWS;

    /// Parameters. Doc comments are the documentation, `deny_unknown_fields` refuses misspelt ones.
    type Settings: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static;

    /// Creates the state of a new connection with this window.
    fn new(settings: &Self::Settings, window: &Window) -> Self;

    /// Returns the name and the violated rule of each invalid setting.
    fn check(_settings: &Self::Settings) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// The sender's calls of a congestion control, and its defaults for the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Behaviour {
    /// It sets the window in `on_ack_sample` at every acknowledgement, as Swift does. Otherwise it grows the window in
    /// `increase` and returns a threshold from `ssthresh`, as NewReno does, and the sender reduces the window to the
    /// threshold (RFC 9937).
    pub sets_cwnd: bool,
    /// It gets samples of the delivery rate, and its packets are always paced, as with BBR.
    pub samples_delivery_rate: bool,
    /// `pacing` is on by default.
    pub paces: bool,
    /// Use of ECN.
    pub ecn: EcnUse,
}

/// Use of ECN by a congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EcnUse {
    /// `ecn` is off by default.
    Off,
    /// `ecn` is on by default; the receiver echoes a mark until the sender has reduced its window (RFC 3168).
    UntilReduced,
    /// `ecn` is on by default; the receiver echoes each mark once (RFC 8257).
    EachMark,
}

impl Behaviour {
    /// As NewReno.
    pub const GROWS: Self = Self { sets_cwnd: false, samples_delivery_rate: false, paces: false, ecn: EcnUse::Off };
    /// As Swift.
    pub const SETS: Self = Self { sets_cwnd: true, ..Self::GROWS };
}

/// The constants of a kind of congestion control.
#[derive(Clone, Copy, Debug)]
pub struct CongestionFacts {
    /// The value of `kind`.
    pub name: &'static str,
    /// One sentence of the schema.
    pub summary: &'static str,
    /// Calls and defaults.
    pub behaviour: Behaviour,
    /// Whether a checkpoint can hold its state.
    pub has_checkpoints: bool,
    /// Whether connections can share state beyond the packets that they exchange.
    pub shares_state: bool,
    /// Distinguishes kinds with the same name that replaced each other; 0 for compiled kinds.
    pub version: u64,
}

/// A type-erased kind of congestion control. The passed settings are those that `read` has made.
pub trait CongestionKind: Send + Sync {
    /// Returns its constants.
    fn facts(&self) -> &'static CongestionFacts;
    /// Returns the schema of its settings.
    fn schema(&self, generator: &mut SchemaGenerator) -> Schema;
    /// Reads settings; returns them, and as a map with all defaults.
    ///
    /// # Errors
    /// The reason why they are not valid.
    fn read(&self, settings: SettingsMap) -> Result<(SettingsMap, Box<dyn Any + Send + Sync>), String>;
    /// Returns the name and the violated rule of each invalid setting.
    fn check(&self, settings: &(dyn Any + Send + Sync)) -> Vec<(String, String)>;
    /// Creates the state of a new connection.
    fn build(&self, settings: &(dyn Any + Send + Sync), window: &Window) -> Box<dyn BoxedControl>;
    /// Reads the state of a connection from a checkpoint.
    fn load(&self, from: &mut Reader<'_>) -> Result<Box<dyn BoxedControl>, Damaged>;
}

/// The state of a connection, type-erased.
pub trait BoxedControl: CongestionControl + fmt::Debug + Send + Sync {
    /// Returns a copy.
    fn copy(&self) -> Box<dyn BoxedControl>;
    /// Writes the state to a checkpoint; called only if the kind has checkpoints.
    fn save(&self, out: &mut Writer);
}

impl<C: OwnCongestion> BoxedControl for C {
    fn copy(&self) -> Box<dyn BoxedControl> {
        Box::new(self.clone())
    }

    fn save(&self, out: &mut Writer) {
        self.write(out);
    }
}

/// The kind `C` as a value.
pub struct OwnKind<C>(PhantomData<fn() -> C>);

impl<C: OwnCongestion> OwnKind<C> {
    /// The kind as a value.
    pub const KIND: &'static dyn CongestionKind = &Self(PhantomData);
    const FACTS: &'static CongestionFacts = &CongestionFacts {
        name: C::NAME,
        summary: C::SUMMARY,
        behaviour: C::BEHAVIOUR,
        has_checkpoints: true,
        shares_state: false,
        version: 0,
    };

    fn own(settings: &(dyn Any + Send + Sync)) -> &C::Settings {
        settings.downcast_ref().expect("the settings come from `read`")
    }
}

impl<C: OwnCongestion> CongestionKind for OwnKind<C> {
    fn facts(&self) -> &'static CongestionFacts {
        Self::FACTS
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        C::Settings::json_schema(generator)
    }

    fn read(&self, settings: SettingsMap) -> Result<(SettingsMap, Box<dyn Any + Send + Sync>), String> {
        let read = C::Settings::deserialize(serde_json::Value::from(settings)).map_err(|error| error.to_string())?;
        match serde_json::to_value(&read) {
            Ok(serde_json::Value::Object(all)) => Ok((all, Box::new(read))),
            _ => Err(format!("the settings of \"{}\" are not a table", C::NAME)),
        }
    }

    fn check(&self, settings: &(dyn Any + Send + Sync)) -> Vec<(String, String)> {
        C::check(Self::own(settings))
    }

    fn build(&self, settings: &(dyn Any + Send + Sync), window: &Window) -> Box<dyn BoxedControl> {
        Box::new(C::new(Self::own(settings), window))
    }

    fn load(&self, from: &mut Reader<'_>) -> Result<Box<dyn BoxedControl>, Damaged> {
        Ok(Box::new(C::read(from)?))
    }
}
