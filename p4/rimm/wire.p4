// RIMM's headers, as crates/mechanisms/src/rimm/headers.rs has them: each follows the Ethernet header under a type of
// its own, and the packet's own type comes behind it.

const bit<16> ETHERTYPE_DETOUR = 0x9D01;
const bit<16> ETHERTYPE_TELEMETRY = 0x9D02;
const bit<16> ETHERTYPE_MESSAGE = 0x9D03;

/// On a detoured packet: its number among the detoured packets of its slot (section III-B), which switch gave it, how
/// often it has been detoured, and the depth of the queue that it left.
header detour_t {
    bit<32> sequence;
    bit<8>  origin;
    bit<8>  detours;
    bit<16> depth_segments;
    bit<16> ether_type;
}

/// On any packet from one switch to another (section III-A2).
header telemetry_t {
    bit<16> depth_segments;
    bit<16> ether_type;
}

/// By which egress tells the ingress of its own switch of a depth, through a neighbour (section III-A1).
header message_t {
    bit<8>  origin;
    bit<1>  is_repeated;
    bit<15> port;
    bit<16> depth_segments;
    bit<16> ether_type;
}
