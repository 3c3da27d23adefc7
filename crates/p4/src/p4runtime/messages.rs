//! The messages of `p4.config.v1` and `p4.v1` used in write requests (P4Runtime, version 1.4).

use super::schema::{Kind, Known, Shape};

/// Declares messages, each with its fields as in the interface definition: `name: type`, `name: [type]` for a repeated
/// field, and at most one `oneof`. Unknown fields are refused in a `closed` message.
macro_rules! messages {
    ($($(#[$about:meta])* $how:ident $kind:ident $title:literal { $($name:ident: $shape:tt),* }
        $(, oneof $choice:ident { $($other:ident: $other_shape:tt),* })?)+) => {
        $($(#[$about])* pub static $kind: Kind = Kind {
            name: $title,
            fields: &[$(messages!(@field None, $name $shape),)* $($(
                messages!(@field Some(stringify!($choice)), $other $other_shape),
            )*)?],
            is_open: messages!(@is_open $how),
        };)+
    };
    (@field $choice:expr, $name:ident [$shape:tt]) => {
        Known { name: stringify!($name), shape: messages!(@shape $shape), is_repeated: true, choice: $choice }
    };
    (@field $choice:expr, $name:ident $shape:tt) => {
        Known { name: stringify!($name), shape: messages!(@shape $shape), is_repeated: false, choice: $choice }
    };
    (@is_open open) => { true };
    (@is_open closed) => { false };
    (@shape u32) => { Shape::Unsigned(32) };
    (@shape u64) => { Shape::Unsigned(64) };
    (@shape i32) => { Shape::Signed(32) };
    (@shape i64) => { Shape::Signed(64) };
    (@shape flag) => { Shape::Flag };
    (@shape bytes) => { Shape::Bytes };
    (@shape text) => { Shape::Text };
    (@shape (enum $names:expr)) => { Shape::Enum($names) };
    (@shape $kind:ident) => { Shape::Message(&$kind) };
}

/// Match kinds with the numbers of `MatchField.MatchType`.
pub const MATCH_TYPES: &[(&str, i64)] =
    &[("UNSPECIFIED", 0), ("EXACT", 2), ("LPM", 3), ("TERNARY", 4), ("RANGE", 5), ("OPTIONAL", 6)];
/// `ActionRef.Scope` of an action that only entries can have.
pub const TABLE_ONLY: i64 = 1;
/// `ActionRef.Scope` of an action that only default entries can have.
pub const DEFAULT_ONLY: i64 = 2;
pub const INSERT: i64 = 1;
pub const MODIFY: i64 = 2;
pub const DELETE: i64 = 3;

messages! {
    /// The control-plane interface of a program.
    open P4_INFO "P4Info" {
        tables: [TABLE], actions: [ACTION_INFO], action_profiles: [ACTION_PROFILE], counters: [ARRAY],
        direct_counters: [ARRAY], meters: [ARRAY], direct_meters: [ARRAY], value_sets: [VALUE_SET],
        registers: [REGISTER], digests: [ARRAY]
    }
    open PREAMBLE "Preamble" { id: u32, name: text }
    open TABLE "Table" {
        preamble: PREAMBLE, match_fields: [MATCH_FIELD], action_refs: [ACTION_REFERENCE],
        const_default_action_id: u32, implementation_id: u32, direct_resource_ids: [u32], is_const_table: flag
    }
    open MATCH_FIELD "MatchField" {
        id: u32, name: text, bitwidth: i32
    }, oneof match { match_type: (enum MATCH_TYPES), other_match_type: text }
    open ACTION_REFERENCE "ActionRef" {
        id: u32,
        scope: (enum &[("TABLE_AND_DEFAULT", 0), ("TABLE_ONLY", TABLE_ONLY), ("DEFAULT_ONLY", DEFAULT_ONLY)])
    }
    open ACTION_INFO "Action" { preamble: PREAMBLE, params: [PARAMETER_INFO] }
    open PARAMETER_INFO "Param" { id: u32, name: text, bitwidth: i32 }
    open ACTION_PROFILE "ActionProfile" {
        preamble: PREAMBLE, table_ids: [u32], with_selector: flag, size: i64, max_group_size: i32
    }, oneof selector_size_semantics { sum_of_weights: EMPTY, sum_of_members: SUM_OF_MEMBERS }
    open EMPTY "SumOfWeights" {}
    open SUM_OF_MEMBERS "SumOfMembers" { max_member_weight: i32 }
    open ARRAY "Counter, Meter or Digest" { preamble: PREAMBLE }
    open VALUE_SET "ValueSet" { preamble: PREAMBLE, match: [MATCH_FIELD], size: i32 }
    open REGISTER "Register" { preamble: PREAMBLE, type_spec: TYPE_SPEC }
    open TYPE_SPEC "P4DataTypeSpec" { bitstring: BITSTRING_SPEC, bool: BOOL_SPEC }
    open BOOL_SPEC "P4BoolType" {}
    open BITSTRING_SPEC "P4BitstringLikeTypeSpec" { bit: BIT_SPEC, int: BIT_SPEC }
    open BIT_SPEC "P4BitTypeSpec" { bitwidth: i32 }
    closed WRITE_REQUEST "WriteRequest" {
        device_id: u64, role_id: u64, role: text, election_id: UINT128, updates: [UPDATE],
        atomicity: (enum &[("CONTINUE_ON_ERROR", 0), ("ROLLBACK_ON_ERROR", 1), ("DATAPLANE_ATOMIC", 2)])
    }
    closed UINT128 "Uint128" { high: u64, low: u64 }
    closed UPDATE "Update" {
        type: (enum &[("UNSPECIFIED", 0), ("INSERT", INSERT), ("MODIFY", MODIFY), ("DELETE", DELETE)]),
        entity: ENTITY
    }
    closed ENTITY "Entity" {}, oneof entity {
        extern_entry: ANYTHING, table_entry: TABLE_ENTRY, action_profile_member: MEMBER,
        action_profile_group: GROUP, meter_entry: METER_ENTRY, direct_meter_entry: DIRECT_METER_ENTRY,
        counter_entry: COUNTER_ENTRY, direct_counter_entry: DIRECT_COUNTER_ENTRY,
        packet_replication_engine_entry: REPLICATION, value_set_entry: VALUE_SET_ENTRY,
        register_entry: REGISTER_ENTRY, digest_entry: ANYTHING
    }
    /// An entity that is refused regardless of its contents.
    open ANYTHING "Entity" {}
    closed TABLE_ENTRY "TableEntry" {
        table_id: u32, match: [FIELD_MATCH], action: TABLE_ACTION, priority: i32, controller_metadata: u64,
        meter_config: METER_CONFIG, counter_data: COUNTER_DATA, meter_counter_data: ANYTHING,
        is_default_action: flag, idle_timeout_ns: i64, time_since_last_hit: ANYTHING, metadata: bytes,
        is_const: flag, const: flag
    }
    closed FIELD_MATCH "FieldMatch" {
        field_id: u32
    }, oneof field_match_type {
        exact: VALUE, ternary: TERNARY, lpm: LPM, range: RANGE, optional: VALUE, other: ANYTHING
    }
    closed VALUE "FieldMatch" { value: bytes }
    closed TERNARY "FieldMatch.Ternary" { value: bytes, mask: bytes }
    closed LPM "FieldMatch.LPM" { value: bytes, prefix_len: i32 }
    closed RANGE "FieldMatch.Range" { low: bytes, high: bytes }
    closed TABLE_ACTION "TableAction" {}, oneof type {
        action: ACTION, action_profile_member_id: u32, action_profile_group_id: u32,
        action_profile_action_set: ACTION_SET
    }
    closed ACTION "Action" { action_id: u32, params: [PARAMETER] }
    closed PARAMETER "Action.Param" { param_id: u32, value: bytes }
    closed ACTION_SET "ActionProfileActionSet" { action_profile_actions: [ACTION_PROFILE_ACTION] }
    closed ACTION_PROFILE_ACTION "ActionProfileAction" {
        action: ACTION, weight: i32
    }, oneof watch_kind { watch: i32, watch_port: bytes }
    closed MEMBER "ActionProfileMember" { action_profile_id: u32, member_id: u32, action: ACTION }
    closed GROUP "ActionProfileGroup" {
        action_profile_id: u32, group_id: u32, members: [GROUP_MEMBER], max_size: i32
    }
    closed GROUP_MEMBER "ActionProfileGroup.Member" {
        member_id: u32, weight: i32
    }, oneof watch_kind { watch: i32, watch_port: bytes }
    closed INDEX "Index" { index: i64 }
    closed METER_ENTRY "MeterEntry" { meter_id: u32, index: INDEX, config: METER_CONFIG, counter_data: ANYTHING }
    closed DIRECT_METER_ENTRY "DirectMeterEntry" {
        table_entry: TABLE_ENTRY, config: METER_CONFIG, counter_data: ANYTHING
    }
    closed METER_CONFIG "MeterConfig" { cir: i64, cburst: i64, pir: i64, pburst: i64, eburst: i64 }
    closed COUNTER_ENTRY "CounterEntry" { counter_id: u32, index: INDEX, data: COUNTER_DATA }
    closed DIRECT_COUNTER_ENTRY "DirectCounterEntry" { table_entry: TABLE_ENTRY, data: COUNTER_DATA }
    closed COUNTER_DATA "CounterData" { byte_count: i64, packet_count: i64 }
    closed REPLICATION "PacketReplicationEngineEntry" {}, oneof type {
        multicast_group_entry: MULTICAST, clone_session_entry: CLONE_SESSION
    }
    closed REPLICA "Replica" {
        instance: u32, backup_replicas: [ANYTHING]
    }, oneof port_kind { egress_port: u32, port: bytes }
    closed MULTICAST "MulticastGroupEntry" { multicast_group_id: u32, replicas: [REPLICA], metadata: bytes }
    closed CLONE_SESSION "CloneSessionEntry" {
        session_id: u32, replicas: [REPLICA], class_of_service: u32, packet_length_bytes: i32
    }
    closed VALUE_SET_ENTRY "ValueSetEntry" { value_set_id: u32, members: [VALUE_SET_MEMBER] }
    closed VALUE_SET_MEMBER "ValueSetMember" { match: [FIELD_MATCH] }
    closed REGISTER_ENTRY "RegisterEntry" { register_id: u32, index: INDEX, data: P4_DATA }
    closed P4_DATA "P4Data" {}, oneof data {
        bitstring: bytes, varbit: ANYTHING, bool: flag, tuple: ANYTHING, struct: ANYTHING, header: ANYTHING,
        header_union: ANYTHING, header_stack: ANYTHING, header_union_stack: ANYTHING, enum: text, error: text,
        enum_value: bytes
    }
}
