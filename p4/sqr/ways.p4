// Egress port of each protected port's packets, updated by generated packets about failures and routes.

const bit<8> STATE_UP = 0;
const bit<8> STATE_DOWN = 1;
const bit<8> STATE_REROUTED = 2;
/// Token of the timer that releases held-back packets. Other timers end the wait before a port is used again.
const bit<32> TOKEN_RESUME = 0x80000000;

/// Rewinds the order to the first packet that may have been lost (algorithm 3), so that it is sent again.
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
        // Copies from the previous failure can still wait beyond `next`.
        if (kept - next > last - next) { kept_from.write(port, next); }
        next_tag.write(port, first_lost);
        pause_queue((port_t) port, WAITING_QUEUE);
    }
}

/// Restarts the wait when a path is found. Held-back packets are released once the copies had time to go first.
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
    /// Set while packets wait before a change of path, and the number of the last change.
    register<bit<1>>(PORTS) moving;
    register<bit<16>>(PORTS) changes;

    action follow() {}
    /// Protected ports.
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
                // New packets wait, so that they do not overtake packets on the longer path.
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
