//! Quantities with units, as files write them: `"100 Gbps"`, `"1.5 us"`, `"300 KB"`, `"65 packets"`.

mod units;

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub(crate) use units::format_named;
pub use units::{Quantity, QuantityError, QueueLength};

/// For `#[serde(with = "Text::<Duration>")]`: a quantity as text.
pub struct Text<Q>(PhantomData<Q>);

/// For `#[serde(with = "Optional::<Duration>")]`: an optional quantity as text.
pub struct Optional<Q>(PhantomData<Q>);

fn read<'de, Q: Quantity, D: Deserializer<'de>>(text: &str) -> Result<Q, D::Error> {
    Q::read(text).map_err(de::Error::custom)
}

impl<Q: Quantity> Text<Q> {
    pub fn serialize<S: Serializer>(value: &Q, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&value.text())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Q, D::Error> {
        read::<Q, D>(&String::deserialize(deserializer)?)
    }
}

impl<Q: Quantity> Optional<Q> {
    pub fn serialize<S: Serializer>(value: &Option<Q>, serializer: S) -> Result<S::Ok, S::Error> {
        value.map(Q::text).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Q>, D::Error> {
        Option::<String>::deserialize(deserializer)?.map(|text| read::<Q, D>(&text)).transpose()
    }
}

impl<Q: Quantity> JsonSchema for Text<Q> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Q::FORMAT.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": Q::FORMAT, "examples": [Q::EXAMPLE] })
    }
}

impl<Q: Quantity> JsonSchema for Optional<Q> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("optional {}", Q::FORMAT).into()
    }

    // TOML has no null, so an absent value is left out, and the schema does not need a null type.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Text::<Q>::json_schema(generator)
    }
}
