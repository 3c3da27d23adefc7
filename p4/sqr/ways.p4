// By which port the packets of a protected port leave, as generated packets tell of failures and of routes.

const bit<8> STATE_UP = 0;
const bit<8> STATE_DOWN = 1;
const bit<8> STATE_REROUTED = 2;
/// A timer that lets the packets go that were kept back; otherwise it ends the wait before a port is taken again.
const bit<32> TOKEN_RESUME = 0x80000000;

/// Some packets may have been lost: they are to be sent again, from the first that may have been (algorithm 3).
control Rewind(in bit<32> port) {
    apply {
        bit<32> next;
        bit<32> last;
        bit<32> kept;
        bit<32> first_lost;
        next_tag.read(next, port);
        assigned.read(last, port);
        kept_from.read(kept, port);
        retired.read(first_lost, port);
        // Copies from the failure before may still wait beyond `next`.
        if (kept - next > last - next) { kept_from.write(port, next); }
        next_tag.write(port, first_lost);
        pause_queue((port_t) port, WAITING_QUEUE);
    }
}

/// There is a way again: waiting begins anew, and what was kept back goes when the copies before it have had the time.
control Found(in metadata_t meta, in bit<32> port, in bit<16> change) {
    apply {
        bit<32> next;
        bit<32> kept;
        next_tag.read(next, port);
        kept_from.read(kept, port);
        stalled_at.write(port, ~(next - 1));
        stalled_since_ns.write(port, 0);
        bit<32> wait_ns = 0;
        bit<32> copies = kept - next;
        if (copies != 0 && copies < 0x80000000) { wait_ns = meta.failure_delay_ns + meta.steady_delay_ns; }
        start_timer(wait_ns, TOKEN_RESUME | port << 16 | (bit<32>) change);
    }
}

control Ways(in generated_t generated, inout metadata_t meta) {
    Settings() settings;
    Rewind() rewind;
    Found() found;
    register<bit<8>>(PORTS) states;
    register<bit<16>>(PORTS) backups;
    /// Whether packets wait before they take another way, and the number of the last change.
    register<bit<1>>(PORTS) moving;
    register<bit<16>>(PORTS) changes;

    action follow() {}
    /// The protected ports.
    table watched {
        key = { generated.port: exact; }
        actions = { follow; NoAction; }
        default_action = NoAction();
        size = 64;
    }

    bit<32> port;
    bit<16> way;
    bit<16> change;
    bit<16> backup;
    bit<8> state_now;
    bit<1> is_moving;
    bit<1> is_lost;
    bit<1> is_found;

    apply {
        settings.apply(meta);
        is_lost = 0;
        is_found = 0;
        if (generated.kind == GENERATED_TIMER) {
            port = (generated.token & 0x7FFFFFFF) >> 16;
        } else {
            port = (bit<32>) generated.port;
            if (!watched.apply().hit) { return; }
        }
        backup_ports.read(way, port);
        changes.read(change, port);
        states.read(state_now, port);
        moving.read(is_moving, port);
        backups.read(backup, port);

        if (generated.kind == GENERATED_TIMER) {
            if (change == generated.token[15:0]) {
                if (generated.token[31:31] == 1) {
                    if (way != WAY_NONE) { resume_queue((port_t) port, WAITING_QUEUE); }
                } else if (is_moving == 1) {
                    is_moving = 0;
                    if (state_now == STATE_UP) { way = WAY_OWN; }
                    if (state_now == STATE_REROUTED) { way = backup; }
                    if (way != WAY_NONE) { is_found = 1; }
                }
            }
        } else if (generated.kind == GENERATED_PORT_DOWN) {
            if (state_now == STATE_UP && way == WAY_OWN) { is_lost = 1; }
            state_now = STATE_DOWN;
        } else if (generated.kind == GENERATED_PORT_REROUTED) {
            if (state_now == STATE_UP && way == WAY_OWN) { is_lost = 1; }
            state_now = STATE_REROUTED;
            backup = generated.token[15:0] + 1;
            if (is_lost == 1 || (way == WAY_NONE && is_moving == 0)) { is_found = 1; }
        } else if (generated.kind == GENERATED_PORT_UP) {
            state_now = STATE_UP;
            if (way == WAY_NONE && is_moving == 0) {
                is_found = 1;
            } else if (way != WAY_OWN && way != WAY_NONE) {
                // Packets on the longer way are not to be overtaken: the others wait.
                way = WAY_NONE;
                is_moving = 1;
                change = change + 1;
                pause_queue((port_t) port, WAITING_QUEUE);
                bit<32> hold_ns = meta.return_hold_ns;
                if (hold_ns < meta.steady_delay_ns) { hold_ns = meta.steady_delay_ns; }
                start_timer(hold_ns, port << 16 | (bit<32>) change);
            }
        } else {
            return;
        }
        if (is_lost == 1) {
            way = WAY_NONE;
            is_moving = 0;
            change = change + 1;
            rewind.apply(port);
        }
        if (is_found == 1) {
            if (state_now == STATE_REROUTED) { way = backup; } else { way = WAY_OWN; }
            change = change + 1;
            found.apply(meta, port, change);
        }
        backup_ports.write(port, way);
        changes.write(port, change);
        states.write(port, state_now);
        moving.write(port, is_moving);
        backups.write(port, backup);
    }
}
