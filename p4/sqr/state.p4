// State of SQR: registers of each port, and metadata on each packet in the cache.

const bit<32> PORTS = 512;
/// Queue of the ring at each port, and queue of packets held back at a protected port.
const queue_t RING_QUEUE = OWN_QUEUE;
const queue_t WAITING_QUEUE = OWN_QUEUE + 1;
/// Values in `backup_ports`: 0 for the port itself, WAY_NONE without a path, or the number of the backup port plus 1.
const bit<16> WAY_OWN = 0;
const bit<16> WAY_NONE = 0xFFFF;

struct headers_t {
    generated_t generated;
    ethernet_t  ethernet;
    ipv4_t      ipv4;
}

struct metadata_t {
    /// Metadata of a packet in the cache (section III-F): PktTag, StartEgressTstamp, PrimaryPort.
    @field_list(7) bit<1>  is_cached;
    @field_list(7) bit<32> tag;
    @field_list(7) bit<32> started_ns;
    @field_list(7) port_t  primary;
    /// Set on an original held back because its port was down or copies had to go first. There is no copy of it.
    @field_list(7) bit<1>  is_kept_back;
    /// Request to advance NextPktTag from skip_from to skip_to, because the packets between them are missing.
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

/// Tag of a port's next original (PktTag), and tag of the next packet to send (NextPktTag).
register<bit<32>>(PORTS) assigned;
register<bit<32>>(PORTS) next_tag;
/// First tag that a failure may still have lost.
register<bit<32>>(PORTS) retired;
/// First tag of the packets that were held back.
register<bit<32>>(PORTS) kept_from;
/// Complement of the awaited tag, start of that wait, and the lowest waiting tag.
register<bit<32>>(PORTS) stalled_at;
register<bit<32>>(PORTS) stalled_since_ns;
register<bit<32>>(PORTS) lowest_waiting;
/// backupPort: current egress port for the packets of each primary port.
register<bit<16>>(PORTS) backup_ports;
/// Least loaded port and its load, as last measured.
register<port_t>(1) least_port;
register<bit<32>>(1) least_bytes;

/// Delays of section III-C, and window of section III-F.
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
