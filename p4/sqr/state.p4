// What SQR keeps: of each port, and on each packet in the cache.

const bit<32> PORTS = 512;
/// The queue of the ring at each port, and that of packets which are kept back at a protected one.
const queue_t RING_QUEUE = OWN_QUEUE;
const queue_t WAITING_QUEUE = OWN_QUEUE + 1;
/// In the register of ways: the port itself (0), no way, or the backup port and one.
const bit<16> WAY_OWN = 0;
const bit<16> WAY_NONE = 0xFFFF;

struct headers_t {
    generated_t generated;
    ethernet_t  ethernet;
    ipv4_t      ipv4;
}

struct metadata_t {
    /// The metadata of a packet in the cache (section III-F): PktTag, StartEgressTstamp, PrimaryPort.
    @field_list(7) bit<1>  is_cached;
    @field_list(7) bit<32> tag;
    @field_list(7) bit<32> started_ns;
    @field_list(7) port_t  primary;
    /// The only copy that exists: its port was down, or others were before it.
    @field_list(7) bit<1>  is_kept_back;
    /// Where the order is to go on when nothing answers for the tags before it.
    @field_list(7) bit<1>  has_skip;
    @field_list(7) bit<32> skip_from;
    @field_list(7) bit<32> skip_to;

    bit<1>  is_marked;
    bit<32> now_ns;
    port_t  least_loaded;
    bit<32> steady_delay_ns;
    bit<32> failure_delay_ns;
    bit<32> window_ns;
    bit<32> return_hold_ns;
}

/// The tag of the next original of each port (PktTag), and that of the next packet to be sent (NextPktTag).
register<bit<32>>(PORTS) assigned;
register<bit<32>>(PORTS) next_tag;
/// The first tag that a failure may still have lost.
register<bit<32>>(PORTS) retired;
/// The first tag of the packets that were kept back.
register<bit<32>>(PORTS) kept_from;
/// The complement of the tag that the order waits for, since when, and the lowest that waits.
register<bit<32>>(PORTS) stalled_at;
register<bit<32>>(PORTS) stalled_since_ns;
register<bit<32>>(PORTS) lowest_waiting;
/// backupPort: by which port the packets of a primary one leave.
register<bit<16>>(PORTS) backup_ports;
/// The port that was last seen least loaded, and its load then.
register<port_t>(1) least_port;
register<bit<32>>(1) least_bytes;

/// The delays of section III-C, and the window of section III-F.
control Settings(inout metadata_t meta) {
    action set_delays(bit<32> steady_ns, bit<32> failure_ns, bit<32> window_ns, bit<32> return_hold_ns) {
        meta.steady_delay_ns = steady_ns;
        meta.failure_delay_ns = failure_ns;
        meta.window_ns = window_ns;
        meta.return_hold_ns = return_hold_ns;
    }
    table delays {
        actions = { set_delays; }
        default_action = set_delays(30000, 130000, 150000, 100000);
    }
    apply { delays.apply(); }
}
