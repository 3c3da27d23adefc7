-- Wireshark dissectors of hitless' link format, version 1 (crates/core/src/wire/link describes it), and of the transports
-- that captures of simulations carry over UDP (crates/core/src/wire/capture/own.rs).
--
-- Copy it to the folder of personal Lua plugins (Help, About, Folders), or: tshark -X lua_script:hitless.lua -r FILE.
-- The EtherType is a preference of the protocol; default 0x88b5.

local hitless = Proto("hitless", "hitless link")

local MESSAGES = { [1] = "Start", [2] = "Started", [3] = "Ask for start", [4] = "Probe", [5] = "Answer", [6] = "Request" }
local TYPES = { [0] = "data", [1] = "acknowledgement", [2] = "acknowledgement with loss", [3] = "sender's copy" }

-- By kind: name, bytes, fields (first byte, number of bytes, names), and summary.
local SHIMS = {
    { "LinkGuardian data", 3,
      { { 0, 1, "data_type", "data_channel", "data_era", "data_retransmitted", "data_dummy", "data_blocking" },
        { 1, 2, "data_sequence" } },
      function(bytes)
          local flags = bytes(0, 1):uint()
          local what = bit.band(flags, 4) ~= 0 and "Dummy " or bit.band(flags, 8) ~= 0 and "Repair " or "Data "
          return what .. bytes(1, 2):uint()
      end },
    { "LinkGuardian acknowledgement", 3,
      { { 0, 1, "ack_piggybacked", "ack_era", "ack_channel" }, { 1, 2, "ack_number" } },
      function(bytes) return "Ack " .. bytes(1, 2):uint() end },
    { "LinkGuardian loss", 4,
      { { 0, 1, "loss_count" }, { 1, 2, "loss_first" }, { 3, 1, "loss_era" } },
      function(bytes) return "Lost " .. bytes(0, 1):uint() .. " from " .. bytes(1, 2):uint() end },
    { "Pause", 3,
      { { 0, 1, "pause_class" }, { 1, 2, "pause_quanta" } },
      function(bytes) return (bytes(1, 2):uint() == 0 and "Resume" or "Pause") .. " class " .. bytes(0, 1):uint() end },
    { "LinkGuardian message", 4,
      { { 0, 1, "message_kind", "message_channel", "message_era", "message_argument" }, { 2, 2, "message_sequence" } },
      function(bytes)
          return (MESSAGES[bit.rshift(bytes(0, 1):uint(), 4)] or "Message") .. " " .. bytes(2, 2):uint()
      end },
    { "RIMM detour", 8,
      { { 0, 4, "detour_sequence" }, { 4, 1, "detour_origin" }, { 5, 1, "detour_count" }, { 6, 2, "depth" } },
      function(bytes) return "Detour " .. bytes(0, 4):uint() end },
    { "RIMM depth", 2,
      { { 0, 2, "depth" } },
      function(bytes) return "Depth " .. bytes(0, 2):uint() end },
    { "RIMM message", 5,
      { { 0, 1, "told_origin" }, { 1, 1, "told_repeated" }, { 1, 2, "told_port" }, { 3, 2, "depth" } },
      function(bytes) return "Told depth " .. bytes(3, 2):uint() end },
    { "Priority", 7,
      { { 0, 4, "mark_rank" }, { 4, 2, "mark_flowlet" }, { 6, 1, "mark_first", "mark_retransmissions" } },
      function(bytes) return "Rank " .. bytes(0, 4):uint() end },
    { "Detours", 1,
      { { 0, 1, "detour_count" } },
      function(bytes) return "Detours " .. bytes(0, 1):uint() end },
}
local KINDS = {}
for kind, of in ipairs(SHIMS) do
    KINDS[kind] = of[1]
end

local fields = {
    version = ProtoField.uint8("hitless.version", "Version"),
    has_inner = ProtoField.bool("hitless.has_inner", "Carries a frame", 8, nil, 0x80),
    reserved = ProtoField.uint8("hitless.reserved", "Reserved", base.HEX, nil, 0x70),
    count = ProtoField.uint8("hitless.count", "Shims", base.DEC, nil, 0x0f),
    kind = ProtoField.uint8("hitless.kind", "Kind", base.DEC, KINDS),
    other_identifier = ProtoField.uint8("hitless.other.identifier", "Identifier"),
    other_bytes = ProtoField.bytes("hitless.other.bytes", "Bytes"),
    data_type = ProtoField.uint8("hitless.data.type", "Type", base.DEC, TYPES, 0xc0),
    data_channel = ProtoField.uint8("hitless.data.channel", "Channel", base.DEC, nil, 0x20),
    data_era = ProtoField.uint8("hitless.data.era", "Era", base.DEC, nil, 0x10),
    data_retransmitted = ProtoField.bool("hitless.data.retransmitted", "Retransmitted", 8, nil, 0x08),
    data_dummy = ProtoField.bool("hitless.data.dummy", "Dummy", 8, nil, 0x04),
    data_blocking = ProtoField.bool("hitless.data.blocking", "Blocking", 8, nil, 0x02),
    data_sequence = ProtoField.uint16("hitless.data.sequence", "Sequence number"),
    ack_piggybacked = ProtoField.bool("hitless.ack.piggybacked", "Piggybacked", 8, nil, 0x20),
    ack_era = ProtoField.uint8("hitless.ack.era", "Era", base.DEC, nil, 0x10),
    ack_channel = ProtoField.uint8("hitless.ack.channel", "Channel", base.DEC, nil, 0x08),
    ack_number = ProtoField.uint16("hitless.ack.number", "Acknowledged"),
    loss_count = ProtoField.uint8("hitless.loss.count", "Lost in a row"),
    loss_first = ProtoField.uint16("hitless.loss.first", "First lost"),
    loss_era = ProtoField.uint8("hitless.loss.era", "Era"),
    pause_class = ProtoField.uint8("hitless.pause.class", "Class"),
    pause_quanta = ProtoField.uint16("hitless.pause.quanta", "Quanta (0 resumes)"),
    message_kind = ProtoField.uint8("hitless.message.kind", "Message", base.DEC, MESSAGES, 0xf0),
    message_channel = ProtoField.uint8("hitless.message.channel", "Channel", base.DEC, nil, 0x08),
    message_era = ProtoField.uint8("hitless.message.era", "Era", base.DEC, nil, 0x04),
    message_argument = ProtoField.uint8("hitless.message.argument", "Argument", base.DEC, nil, 0x03),
    message_sequence = ProtoField.uint16("hitless.message.sequence", "Sequence number"),
    detour_sequence = ProtoField.uint32("hitless.detour.sequence", "Sequence number"),
    detour_origin = ProtoField.uint8("hitless.detour.origin", "Switch that numbered it"),
    detour_count = ProtoField.uint8("hitless.detour.count", "Detours"),
    depth = ProtoField.uint16("hitless.depth", "Depth of a queue, segments"),
    told_origin = ProtoField.uint8("hitless.told.origin", "Switch that reads it"),
    told_repeated = ProtoField.bool("hitless.told.repeated", "Said before", 8, nil, 0x80),
    told_port = ProtoField.uint16("hitless.told.port", "Port", base.DEC, nil, 0x7fff),
    mark_rank = ProtoField.uint32("hitless.mark.rank", "Rank, bytes"),
    mark_flowlet = ProtoField.uint16("hitless.mark.flowlet", "Flowlet"),
    mark_first = ProtoField.bool("hitless.mark.first", "First of it", 8, nil, 0x80),
    mark_retransmissions = ProtoField.uint8("hitless.mark.retransmissions", "Sent before", base.DEC, nil, 0x1f),
    inner_bytes = ProtoField.uint16("hitless.inner_bytes", "Length of the frame"),
}
hitless.fields = fields

local malformed = ProtoExpert.new("hitless.malformed", "Not version 1 of the link format", expert.group.MALFORMED, expert.severity.ERROR)
hitless.experts = { malformed }
hitless.prefs.ether_type = Pref.uint("EtherType", 0x88b5, "The type of the link's frames")

-- A header that no link carries: a capture of a simulation has it with its identifier, which gives its length.
local CAPTURED_ONLY = 127
KINDS[CAPTURED_ONLY] = "Other header"

local function other(tree, buffer, at)
    if at + 2 > buffer:len() then
        return nil
    end
    local identifier = buffer(at + 1, 1):uint()
    local length = bit.band(identifier, 0x1f)
    if at + 2 + length > buffer:len() then
        return nil
    end
    local branch = tree:add(hitless, buffer(at, 2 + length), "Header of a mechanism")
    branch:add(fields.kind, buffer(at, 1))
    branch:add(fields.other_identifier, buffer(at + 1, 1))
    branch:add(fields.other_bytes, buffer(at + 2, length))
    return at + 2 + length, "Header " .. identifier
end

-- Answers where the next shim begins and what to say of this one; nil when it is unknown or cut short.
local function shim(tree, buffer, at)
    if at >= buffer:len() then
        return nil
    end
    local kind = buffer(at, 1):uint()
    if kind == CAPTURED_ONLY then
        return other(tree, buffer, at)
    end
    if not SHIMS[kind] then
        return nil
    end
    local name, length, parts, said = (table.unpack or unpack)(SHIMS[kind])
    if at + 1 + length > buffer:len() then
        return nil
    end
    local branch = tree:add(hitless, buffer(at, 1 + length), name)
    branch:add(fields.kind, buffer(at, 1))
    local bytes = buffer(at + 1, length)
    for _, part in ipairs(parts) do
        for place = 3, #part do
            branch:add(fields[part[place]], bytes(part[1], part[2]))
        end
    end
    return at + 1 + length, said(bytes)
end

function hitless.dissector(buffer, packet, tree)
    packet.cols.protocol = "hitless"
    local root = tree:add(hitless, buffer())
    if buffer:len() < 2 or buffer(0, 1):uint() ~= 1 then
        root:add_proto_expert_info(malformed)
        return
    end
    root:add(fields.version, buffer(0, 1))
    root:add(fields.has_inner, buffer(1, 1))
    root:add(fields.reserved, buffer(1, 1))
    root:add(fields.count, buffer(1, 1))
    local counts = buffer(1, 1):uint()
    local at, said = 2, {}
    for _ = 1, bit.band(counts, 0x0f) do
        local next_at, text = shim(root, buffer, at)
        if not next_at then
            root:add_proto_expert_info(malformed)
            return
        end
        at = next_at
        said[#said + 1] = text
    end
    packet.cols.info = table.concat(said, ", ")
    if counts < 0x80 then
        return
    end
    if at + 2 > buffer:len() or at + 2 + buffer(at, 2):uint() > buffer:reported_len() then
        root:add_proto_expert_info(malformed)
        return
    end
    local length = buffer(at, 2):uint()
    root:add(fields.inner_bytes, buffer(at, 2))
    root:set_len(at + 2)
    -- The inner frame's dissectors write their own summary; ours stands before it.
    packet.cols.info:append(" | ")
    packet.cols.info:fence()
    local kept = math.min(length, buffer:len() - at - 2)
    local inner = buffer(at + 2, kept)
    if kept == length then
        Dissector.get("eth_withoutfcs"):call(inner:tvb(), packet, tree)
        return
    end
    -- A capture without payloads: they are zeros.
    local whole = inner:bytes()
    whole:set_size(length)
    Dissector.get("eth_withoutfcs"):call(whole:tvb("Frame with its payload"), packet, tree)
end

local types = DissectorTable.get("ethertype")
local registered = hitless.prefs.ether_type
types:add(registered, hitless)

function hitless.prefs_changed()
    types:remove(registered, hitless)
    registered = hitless.prefs.ether_type
    types:add(registered, hitless)
end

-- Transports of a simulation without a standard layout. By port: name, and by kind: name and fields (bytes, name).
local own = Proto("hitless_transport", "hitless transport")
local OWN = {
    [65001] = { "Spraying", {
        { "Data", { { 4, "sequence" }, { 8, "credit" } } },
        { "Acknowledgement", { { 4, "cumulative" }, { 4, "base" }, { 8, "bitmap" }, { 4, "acknowledged" },
                               { 8, "received" }, { 4, "out_of_order" } } },
        { "Negative acknowledgement", { { 4, "sequence" } } },
        { "Credit", { { 8, "credit" } } },
        { "Request", { { 8, "credit" } } },
        { "Probe", {} },
        { "Echo", {} },
        { "Tail probe", {} },
        { "Tail answer", { { 4, "cumulative" }, { 4, "base" }, { 8, "bitmap" }, { 4, "acknowledged" },
                           { 8, "received" }, { 4, "out_of_order" } } },
    } },
    [65002] = { "Packet pair", {
        { "Data", { { 2, "measured" }, { 4, "pair" }, { 8, "sequence" }, { 4, "timestamp" } } },
        { "Acknowledgement", { { 8, "cumulative" }, { 6, "gap" }, { 4, "timestamp" } } },
    } },
    [65003] = { "Congestion", {
        { "Notice", { { 4, "sequence" }, { 4, "rate" }, { 4, "queue" } } },
    } },
}
local own_fields = {
    kind = ProtoField.uint8("hitless_transport.kind", "Kind"),
    flags = ProtoField.uint8("hitless_transport.flags", "Flags", base.HEX),
    flow = ProtoField.uint32("hitless_transport.flow", "Flow"),
    sequence = ProtoField.uint64("hitless_transport.sequence", "Sequence number"),
    credit = ProtoField.uint64("hitless_transport.credit", "Credit, bytes"),
    cumulative = ProtoField.uint64("hitless_transport.cumulative", "Arrived below"),
    base = ProtoField.uint64("hitless_transport.base", "Base of the bitmap"),
    bitmap = ProtoField.uint64("hitless_transport.bitmap", "Bitmap", base.HEX),
    acknowledged = ProtoField.uint64("hitless_transport.acknowledged", "Acknowledged packet"),
    received = ProtoField.uint64("hitless_transport.received", "Bytes received"),
    out_of_order = ProtoField.uint64("hitless_transport.out_of_order", "Packets beyond a gap"),
    measured = ProtoField.uint64("hitless_transport.measured", "Packets since the first of the pair"),
    pair = ProtoField.uint64("hitless_transport.pair", "Pair"),
    timestamp = ProtoField.uint64("hitless_transport.timestamp", "Timestamp"),
    gap = ProtoField.uint64("hitless_transport.gap", "Gap, ps"),
    rate = ProtoField.uint64("hitless_transport.rate", "Rate, Mb/s"),
    queue = ProtoField.uint64("hitless_transport.queue", "Queue, bytes"),
}
own.fields = own_fields
local own_malformed = ProtoExpert.new("hitless_transport.malformed", "Not a packet of a hitless transport",
    expert.group.MALFORMED, expert.severity.ERROR)
own.experts = { own_malformed }

function own.dissector(buffer, packet, tree)
    packet.cols.protocol = "hitless"
    local root = tree:add(own, buffer())
    local protocol = OWN[packet.dst_port]
    local known = protocol and buffer:len() >= 6 and protocol[2][buffer(0, 1):uint()]
    if not known then
        root:add_proto_expert_info(own_malformed)
        return
    end
    root:add(own_fields.kind, buffer(0, 1)):append_text(" (" .. known[1] .. ")")
    root:add(own_fields.flags, buffer(1, 1))
    root:add(own_fields.flow, buffer(2, 4))
    local at = 6
    for _, field in ipairs(known[2]) do
        if at + field[1] > buffer:len() then
            root:add_proto_expert_info(own_malformed)
            return
        end
        root:add(own_fields[field[2]], buffer(at, field[1]), buffer(at, field[1]):uint64())
        at = at + field[1]
    end
    packet.cols.info = protocol[1] .. ": " .. known[1] .. " of flow " .. buffer(2, 4):uint()
end

for port in pairs(OWN) do
    DissectorTable.get("udp.port"):add(port, own)
end
