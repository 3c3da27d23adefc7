// RIMM's headers, in the format of crates/mechanisms/src/rimm/headers.rs. Each follows the Ethernet header, has a
// separate EtherType, and ends with the packet's original EtherType.

const bit<16> ETHERTYPE_DETOUR = 0x9D01;
const bit<16> ETHERTYPE_TELEMETRY = 0x9D02;
const bit<16> ETHERTYPE_MESSAGE = 0x9D03;

/// On a detoured packet: its number in its slot (section III-B), the switch that assigned it, the number of detours so
/// far, and the depth of the queue that it left.
header detour_t {
    bit<32> sequence;
    bit<8>  origin;
    bit<8>  detours;
    bit<16> depth_segments;
    bit<16> ether_type;
}

/// On any other packet from a switch to a neighbour (section III-A2).
header telemetry_t {
    bit<16> depth_segments;
    bit<16> ether_type;
}

/// On a message: reports a depth from egress to the ingress of the same switch, through a neighbour (section III-A1).
header message_t {
    bit<8>  origin;
    bit<1>  is_repeated;
    bit<15> port;
    bit<16> depth_segments;
    bit<16> ether_type;
}
