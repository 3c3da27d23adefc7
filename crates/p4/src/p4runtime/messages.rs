//! The messages of `p4.config.v1` and `p4.v1` used in write requests (P4Runtime, version 1.4).

use super::schema::Shape::{Bytes, Enum, Flag, Message, Signed, Text, Unsigned};
use super::schema::{Kind, Known, choice, many, one};

const U32: super::schema::Shape = Unsigned(32);
const U64: super::schema::Shape = Unsigned(64);
const I32: super::schema::Shape = Signed(32);
const I64: super::schema::Shape = Signed(64);

const fn open(name: &'static str, fields: &'static [Known]) -> Kind {
    Kind { name, fields, is_open: true }
}

const fn closed(name: &'static str, fields: &'static [Known]) -> Kind {
    Kind { name, fields, is_open: false }
}

/// The control-plane interface of a program.
pub static P4_INFO: Kind = open(
    "P4Info",
    &[
        many("tables", Message(&TABLE)),
        many("actions", Message(&ACTION_INFO)),
        many("action_profiles", Message(&ACTION_PROFILE)),
        many("counters", Message(&ARRAY)),
        many("direct_counters", Message(&ARRAY)),
        many("meters", Message(&ARRAY)),
        many("direct_meters", Message(&ARRAY)),
        many("value_sets", Message(&VALUE_SET)),
        many("registers", Message(&REGISTER)),
        many("digests", Message(&ARRAY)),
    ],
);
static PREAMBLE: Kind = open("Preamble", &[one("id", U32), one("name", Text)]);
static TABLE: Kind = open(
    "Table",
    &[
        one("preamble", Message(&PREAMBLE)),
        many("match_fields", Message(&MATCH_FIELD)),
        many("action_refs", Message(&ACTION_REFERENCE)),
        one("const_default_action_id", U32),
        one("implementation_id", U32),
        many("direct_resource_ids", U32),
        one("is_const_table", Flag),
    ],
);
/// Match kinds with the numbers of `MatchField.MatchType`.
pub const MATCH_TYPES: &[(&str, i64)] =
    &[("UNSPECIFIED", 0), ("EXACT", 2), ("LPM", 3), ("TERNARY", 4), ("RANGE", 5), ("OPTIONAL", 6)];
static MATCH_FIELD: Kind = open(
    "MatchField",
    &[
        one("id", U32),
        one("name", Text),
        one("bitwidth", I32),
        choice("match", "match_type", Enum(MATCH_TYPES)),
        choice("match", "other_match_type", Text),
    ],
);
/// `ActionRef.Scope` of an action that only entries can have.
pub const TABLE_ONLY: i64 = 1;
/// `ActionRef.Scope` of an action that only default entries can have.
pub const DEFAULT_ONLY: i64 = 2;
static ACTION_REFERENCE: Kind = open(
    "ActionRef",
    &[
        one("id", U32),
        one("scope", Enum(&[("TABLE_AND_DEFAULT", 0), ("TABLE_ONLY", TABLE_ONLY), ("DEFAULT_ONLY", DEFAULT_ONLY)])),
    ],
);
static ACTION_INFO: Kind =
    open("Action", &[one("preamble", Message(&PREAMBLE)), many("params", Message(&PARAMETER_INFO))]);
static PARAMETER_INFO: Kind = open("Param", &[one("id", U32), one("name", Text), one("bitwidth", I32)]);
static ACTION_PROFILE: Kind = open(
    "ActionProfile",
    &[
        one("preamble", Message(&PREAMBLE)),
        many("table_ids", U32),
        one("with_selector", Flag),
        one("size", I64),
        one("max_group_size", I32),
        choice("selector_size_semantics", "sum_of_weights", Message(&EMPTY)),
        choice("selector_size_semantics", "sum_of_members", Message(&SUM_OF_MEMBERS)),
    ],
);
static EMPTY: Kind = open("SumOfWeights", &[]);
static SUM_OF_MEMBERS: Kind = open("SumOfMembers", &[one("max_member_weight", I32)]);
static ARRAY: Kind = open("Counter, Meter or Digest", &[one("preamble", Message(&PREAMBLE))]);
static VALUE_SET: Kind =
    open("ValueSet", &[one("preamble", Message(&PREAMBLE)), many("match", Message(&MATCH_FIELD)), one("size", I32)]);
static REGISTER: Kind = open("Register", &[one("preamble", Message(&PREAMBLE)), one("type_spec", Message(&TYPE_SPEC))]);
static TYPE_SPEC: Kind =
    open("P4DataTypeSpec", &[one("bitstring", Message(&BITSTRING_SPEC)), one("bool", Message(&BOOL_SPEC))]);
static BOOL_SPEC: Kind = open("P4BoolType", &[]);
static BITSTRING_SPEC: Kind =
    open("P4BitstringLikeTypeSpec", &[one("bit", Message(&BIT_SPEC)), one("int", Message(&BIT_SPEC))]);
static BIT_SPEC: Kind = open("P4BitTypeSpec", &[one("bitwidth", I32)]);

/// A request to change the configuration.
pub static WRITE_REQUEST: Kind = closed(
    "WriteRequest",
    &[
        one("device_id", U64),
        one("role_id", U64),
        one("role", Text),
        one("election_id", Message(&UINT128)),
        many("updates", Message(&UPDATE)),
        one("atomicity", Enum(&[("CONTINUE_ON_ERROR", 0), ("ROLLBACK_ON_ERROR", 1), ("DATAPLANE_ATOMIC", 2)])),
    ],
);
static UINT128: Kind = closed("Uint128", &[one("high", U64), one("low", U64)]);
static UPDATE: Kind = closed(
    "Update",
    &[
        one("type", Enum(&[("UNSPECIFIED", 0), ("INSERT", INSERT), ("MODIFY", MODIFY), ("DELETE", DELETE)])),
        one("entity", Message(&ENTITY)),
    ],
);
/// `Update.Type`: creates an object.
pub const INSERT: i64 = 1;
/// `Update.Type`: changes an existing object.
pub const MODIFY: i64 = 2;
/// `Update.Type`: deletes an object.
pub const DELETE: i64 = 3;
static ENTITY: Kind = closed(
    "Entity",
    &[
        choice("entity", "extern_entry", Message(&ANYTHING)),
        choice("entity", "table_entry", Message(&TABLE_ENTRY)),
        choice("entity", "action_profile_member", Message(&MEMBER)),
        choice("entity", "action_profile_group", Message(&GROUP)),
        choice("entity", "meter_entry", Message(&METER_ENTRY)),
        choice("entity", "direct_meter_entry", Message(&DIRECT_METER_ENTRY)),
        choice("entity", "counter_entry", Message(&COUNTER_ENTRY)),
        choice("entity", "direct_counter_entry", Message(&DIRECT_COUNTER_ENTRY)),
        choice("entity", "packet_replication_engine_entry", Message(&REPLICATION)),
        choice("entity", "value_set_entry", Message(&VALUE_SET_ENTRY)),
        choice("entity", "register_entry", Message(&REGISTER_ENTRY)),
        choice("entity", "digest_entry", Message(&ANYTHING)),
    ],
);
/// An entity that is refused regardless of its contents.
static ANYTHING: Kind = open("Entity", &[]);
static TABLE_ENTRY: Kind = closed(
    "TableEntry",
    &[
        one("table_id", U32),
        many("match", Message(&FIELD_MATCH)),
        one("action", Message(&TABLE_ACTION)),
        one("priority", I32),
        one("controller_metadata", U64),
        one("meter_config", Message(&METER_CONFIG)),
        one("counter_data", Message(&COUNTER_DATA)),
        one("meter_counter_data", Message(&ANYTHING)),
        one("is_default_action", Flag),
        one("idle_timeout_ns", I64),
        one("time_since_last_hit", Message(&ANYTHING)),
        one("metadata", Bytes),
        one("is_const", Flag),
        one("const", Flag),
    ],
);
static FIELD_MATCH: Kind = closed(
    "FieldMatch",
    &[
        one("field_id", U32),
        choice("field_match_type", "exact", Message(&VALUE)),
        choice("field_match_type", "ternary", Message(&TERNARY)),
        choice("field_match_type", "lpm", Message(&LPM)),
        choice("field_match_type", "range", Message(&RANGE)),
        choice("field_match_type", "optional", Message(&VALUE)),
        choice("field_match_type", "other", Message(&ANYTHING)),
    ],
);
static VALUE: Kind = closed("FieldMatch", &[one("value", Bytes)]);
static TERNARY: Kind = closed("FieldMatch.Ternary", &[one("value", Bytes), one("mask", Bytes)]);
static LPM: Kind = closed("FieldMatch.LPM", &[one("value", Bytes), one("prefix_len", I32)]);
static RANGE: Kind = closed("FieldMatch.Range", &[one("low", Bytes), one("high", Bytes)]);
static TABLE_ACTION: Kind = closed(
    "TableAction",
    &[
        choice("type", "action", Message(&ACTION)),
        choice("type", "action_profile_member_id", U32),
        choice("type", "action_profile_group_id", U32),
        choice("type", "action_profile_action_set", Message(&ACTION_SET)),
    ],
);
static ACTION: Kind = closed("Action", &[one("action_id", U32), many("params", Message(&PARAMETER))]);
static PARAMETER: Kind = closed("Action.Param", &[one("param_id", U32), one("value", Bytes)]);
static ACTION_SET: Kind =
    closed("ActionProfileActionSet", &[many("action_profile_actions", Message(&ACTION_PROFILE_ACTION))]);
static ACTION_PROFILE_ACTION: Kind = closed(
    "ActionProfileAction",
    &[
        one("action", Message(&ACTION)),
        one("weight", I32),
        choice("watch_kind", "watch", I32),
        choice("watch_kind", "watch_port", Bytes),
    ],
);
static MEMBER: Kind = closed(
    "ActionProfileMember",
    &[one("action_profile_id", U32), one("member_id", U32), one("action", Message(&ACTION))],
);
static GROUP: Kind = closed(
    "ActionProfileGroup",
    &[
        one("action_profile_id", U32),
        one("group_id", U32),
        many("members", Message(&GROUP_MEMBER)),
        one("max_size", I32),
    ],
);
static GROUP_MEMBER: Kind = closed(
    "ActionProfileGroup.Member",
    &[
        one("member_id", U32),
        one("weight", I32),
        choice("watch_kind", "watch", I32),
        choice("watch_kind", "watch_port", Bytes),
    ],
);
static INDEX: Kind = closed("Index", &[one("index", I64)]);
static METER_ENTRY: Kind = closed(
    "MeterEntry",
    &[
        one("meter_id", U32),
        one("index", Message(&INDEX)),
        one("config", Message(&METER_CONFIG)),
        one("counter_data", Message(&ANYTHING)),
    ],
);
static DIRECT_METER_ENTRY: Kind = closed(
    "DirectMeterEntry",
    &[
        one("table_entry", Message(&TABLE_ENTRY)),
        one("config", Message(&METER_CONFIG)),
        one("counter_data", Message(&ANYTHING)),
    ],
);
static METER_CONFIG: Kind = closed(
    "MeterConfig",
    &[one("cir", I64), one("cburst", I64), one("pir", I64), one("pburst", I64), one("eburst", I64)],
);
static COUNTER_ENTRY: Kind = closed(
    "CounterEntry",
    &[one("counter_id", U32), one("index", Message(&INDEX)), one("data", Message(&COUNTER_DATA))],
);
static DIRECT_COUNTER_ENTRY: Kind =
    closed("DirectCounterEntry", &[one("table_entry", Message(&TABLE_ENTRY)), one("data", Message(&COUNTER_DATA))]);
static COUNTER_DATA: Kind = closed("CounterData", &[one("byte_count", I64), one("packet_count", I64)]);
static REPLICATION: Kind = closed(
    "PacketReplicationEngineEntry",
    &[
        choice("type", "multicast_group_entry", Message(&MULTICAST)),
        choice("type", "clone_session_entry", Message(&CLONE_SESSION)),
    ],
);
static REPLICA: Kind = closed(
    "Replica",
    &[
        choice("port_kind", "egress_port", U32),
        choice("port_kind", "port", Bytes),
        one("instance", U32),
        many("backup_replicas", Message(&ANYTHING)),
    ],
);
static MULTICAST: Kind = closed(
    "MulticastGroupEntry",
    &[one("multicast_group_id", U32), many("replicas", Message(&REPLICA)), one("metadata", Bytes)],
);
static CLONE_SESSION: Kind = closed(
    "CloneSessionEntry",
    &[
        one("session_id", U32),
        many("replicas", Message(&REPLICA)),
        one("class_of_service", U32),
        one("packet_length_bytes", I32),
    ],
);
static VALUE_SET_ENTRY: Kind =
    closed("ValueSetEntry", &[one("value_set_id", U32), many("members", Message(&VALUE_SET_MEMBER))]);
static VALUE_SET_MEMBER: Kind = closed("ValueSetMember", &[many("match", Message(&FIELD_MATCH))]);
static REGISTER_ENTRY: Kind =
    closed("RegisterEntry", &[one("register_id", U32), one("index", Message(&INDEX)), one("data", Message(&P4_DATA))]);
static P4_DATA: Kind = closed(
    "P4Data",
    &[
        choice("data", "bitstring", Bytes),
        choice("data", "varbit", Message(&ANYTHING)),
        choice("data", "bool", Flag),
        choice("data", "tuple", Message(&ANYTHING)),
        choice("data", "struct", Message(&ANYTHING)),
        choice("data", "header", Message(&ANYTHING)),
        choice("data", "header_union", Message(&ANYTHING)),
        choice("data", "header_stack", Message(&ANYTHING)),
        choice("data", "header_union_stack", Message(&ANYTHING)),
        choice("data", "enum", Text),
        choice("data", "error", Text),
        choice("data", "enum_value", Bytes),
    ],
);
