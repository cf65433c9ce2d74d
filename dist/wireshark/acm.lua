-- Wireshark dissectors for packets of acm's traces (link type USER0), and for ACM datagrams (class 0x2C) in any capture.
--
-- tshark -X lua_script:dist/wireshark/acm.lua -r testdata/traces/cold-name.pcapng
-- For Wireshark, copy this file into the directory of personal plugins (Help, About, Folders).
--
-- Formats: the documentation of the crate acm-trace, and of acm-wire's modules client and multicast.

local trace = Proto("acm_trace", "acm trace")
local datagram = Proto("acm", "InfiniBand ACM datagram")

local opcodes = { [1] = "RESOLVE", [2] = "PERF", [3] = "EP", [0x81] = "RESOLVE answer", [0x82] = "PERF answer", [0x83] = "EP answer" }
local statuses = {
    [0] = "success", [1] = "ENOMEM", [2] = "EINVAL", [3] = "ENODATA", [5] = "ENOTCONN", [6] = "ETIMEDOUT",
    [7] = "ESRCADDR", [8] = "ESRCTYPE", [9] = "EDESTADDR", [10] = "EDESTTYPE",
}
local address_types = { [0] = "none", [1] = "name", [2] = "IPv4", [3] = "IPv6", [4] = "GID", [5] = "LID", [0x10] = "path" }
local methods = { [0x01] = "request", [0x81] = "response" }
local controls = { [0x0001] = "resolve", [0x8000] = "ack" }
local kinds = {
    [0x01] = "start", [0x02] = "end", [0x03] = "lost", [0x04] = "timeout",
    [0x10] = "client_opened", [0x11] = "client_message", [0x12] = "client_gone", [0x13] = "kernel_request",
    [0x14] = "kernel_address_request", [0x15] = "kernel_timeout", [0x16] = "source_selected", [0x17] = "sa_answer",
    [0x18] = "sa_report", [0x19] = "sa_failed", [0x1a] = "datagram", [0x1b] = "endpoint_opened",
    [0x1c] = "endpoint_lost", [0x1d] = "endpoint_failed", [0x1e] = "port_up", [0x1f] = "port_down",
    [0x20] = "client_reregister", [0x21] = "address_added", [0x22] = "address_removed", [0x23] = "preloaded",
    [0x24] = "configure", [0x25] = "interfaces", [0x26] = "shutdown",
    [0x27] = "provider_said", [0x28] = "flush", [0x29] = "attached",
    [0x40] = "reply", [0x41] = "long_reply", [0x42] = "kernel_reply", [0x43] = "kernel_refusal",
    [0x44] = "close_client", [0x45] = "select_source", [0x46] = "sa_send", [0x47] = "sa_reply",
    [0x48] = "open_endpoint", [0x49] = "close_endpoint", [0x4a] = "attach", [0x4b] = "detach", [0x4c] = "send",
    [0x4d] = "log", [0x4e] = "shutdown_done", [0x4f] = "provider_call", [0x50] = "publish",
    [0x60] = "fabric_sent", [0x61] = "fabric_delivered",
}

-- Fields of each protocol. Packets of the other protocol may contain them as well.
local fields = { [trace] = {}, [datagram] = {} }

local function field(proto, name, kind, ...)
    local made = ProtoField[kind](name, ...)
    table.insert(fields[proto], made)
    return made
end

-- A part of a packet: for each field its name, type, title, offset, length, and further arguments of its type.
local function layout(proto, prefix, rows)
    for _, row in ipairs(rows) do
        row.field = field(proto, prefix .. row[1], row[2], row[3], row[6], row[7], row[8])
    end
    return rows
end

local function add_layout(rows, range, tree, add)
    for _, row in ipairs(rows) do
        tree[add or "add"](tree, row.field, range(row[4], row[5]))
    end
end

local header = layout(trace, "acm_trace.", {
    { "magic", "string", "Magic", 0, 4 },
    { "major", "uint8", "Major version", 4, 1 },
    { "minor", "uint8", "Minor version", 5, 1 },
    { "kind", "uint16", "Kind", 6, 2, base.HEX, kinds },
})
-- The length follows, whose byte order differs, and then the transaction id.
local message = layout(trace, "acm_client.", {
    { "version", "uint8", "Version", 0, 1 },
    { "opcode", "uint8", "Opcode", 1, 1, base.HEX, opcodes },
    { "status", "uint8", "Status", 2, 1, base.DEC, statuses },
    { "data", "bytes", "Data", 3, 3 },
})
local entry = layout(trace, "acm_client.entry.", {
    { "flags", "uint32", "Flags", 0, 4, base.HEX },
    { "source", "bool", "Source", 0, 4, 32, nil, 0x1 },
    { "dest", "bool", "Destination", 0, 4, 32, nil, 0x2 },
    { "nodelay", "bool", "Do not wait", 0, 4, 32, nil, 0x40000000 },
    { "query_sa", "bool", "Ask subnet administration", 0, 4, 32, nil, 0x80000000 },
    { "type", "uint16", "Type", 4, 2, base.DEC, address_types },
})
local path_record = layout(trace, "acm_path.", {
    { "service_id", "uint64", "Service id", 0, 8, base.HEX },
    { "dgid", "ipv6", "Destination GID", 8, 16 },
    { "sgid", "ipv6", "Source GID", 24, 16 },
    { "dlid", "uint16", "Destination LID", 40, 2 },
    { "slid", "uint16", "Source LID", 42, 2 },
    { "flow_label", "uint32", "Flow label", 44, 4, base.HEX, nil, 0x0fffff00 },
    { "hop_limit", "uint32", "Hop limit", 44, 4, base.DEC, nil, 0xff },
    { "traffic_class", "uint8", "Traffic class", 48, 1 },
    { "reversible", "bool", "Reversible", 49, 1, 8, nil, 0x80 },
    { "num_path", "uint8", "Paths", 49, 1, base.DEC, nil, 0x7f },
    { "pkey", "uint16", "P_Key", 50, 2, base.HEX },
    { "qos_class", "uint16", "QoS class", 52, 2, base.DEC, nil, 0xfff0 },
    { "sl", "uint16", "Service level", 52, 2, base.DEC, nil, 0x000f },
    { "mtu", "uint8", "MTU code", 54, 1, base.DEC, nil, 0x3f },
    { "rate", "uint8", "Rate code", 55, 1, base.DEC, nil, 0x3f },
    { "life_time", "uint8", "Packet life time code", 56, 1, base.DEC, nil, 0x3f },
    { "preference", "uint8", "Preference", 57, 1 },
})
local mad = layout(datagram, "acm.mad.", {
    { "base_version", "uint8", "Base version", 0, 1 },
    { "class", "uint8", "Class", 1, 1, base.HEX },
    { "class_version", "uint8", "Class version", 2, 1 },
    { "method", "uint8", "Method", 3, 1, base.HEX, methods },
    { "status", "uint16", "Status", 4, 2, base.HEX },
    { "control", "uint16", "Control", 6, 2, base.HEX, controls },
    { "tid", "uint64", "Transaction id", 8, 8, base.HEX },
    { "dest_type", "uint8", "Destination type", 16, 1, base.DEC, address_types },
    { "dest_length", "uint8", "Destination length", 17, 1 },
    { "src_type", "uint8", "Source type", 18, 1, base.DEC, address_types },
    { "src_length", "uint8", "Source length", 19, 1 },
    { "gid_count", "uint8", "Groups", 20, 1 },
})
-- Fields whose offset, byte order or text depends on the packet.
local f = {
    client = field(trace, "acm_trace.client", "string", "Client"),
    lost = field(trace, "acm_trace.lost", "uint64", "Facts lost"),
    words = field(trace, "acm_trace.words", "string", "Headers"),
    bytes = field(trace, "acm_trace.bytes", "bytes", "Bytes"),
    event = field(trace, "acm_trace.event", "string", "Event"),
    length = field(trace, "acm_client.length", "uint16", "Length"),
    tid = field(trace, "acm_client.tid", "bytes", "Transaction id"),
    counter = field(trace, "acm_client.counter", "uint64", "Counter"),
    kernel_id = field(trace, "acm_kernel.id", "uint32", "Request"),
    kernel_has_port = field(trace, "acm_kernel.has_port", "bool", "Names a port"),
    kernel_port = field(trace, "acm_kernel.port", "uint32", "Port"),
    name = field(trace, "acm.name", "string", "Name"),
    ipv4 = field(trace, "acm.ipv4", "ipv4", "IPv4 address"),
    ipv6 = field(trace, "acm.ipv6", "ipv6", "IPv6 address"),
    gid = field(trace, "acm.gid", "ipv6", "GID"),
    lid = field(trace, "acm.lid", "uint16", "LID"),
    answer_in = field(trace, "acm.answer_in", "framenum", "Answer in", base.NONE, frametype.RESPONSE),
    answer_to = field(trace, "acm.answer_to", "framenum", "Answer to", base.NONE, frametype.REQUEST),
    time = field(trace, "acm.time", "double", "Seconds since the request"),
    dest = field(datagram, "acm.mad.dest", "string", "Destination"),
    src = field(datagram, "acm.mad.src", "string", "Source"),
    group = field(datagram, "acm.mad.group", "ipv6", "Group"),
}
for proto, own in pairs(fields) do
    proto.fields = own
end

-- Requests without a response so far, by a key that both have; matched pairs, by the number of either packet.
local waiting, answers, requests = {}, {}, {}

local function clear()
    waiting, answers, requests = {}, {}, {}
end
trace.init = clear

-- A repeated request is one request; its time begins with the first packet.
local function add_request(pinfo, key)
    if not pinfo.visited and waiting[key] == nil then
        waiting[key] = { number = pinfo.number, time = pinfo.rel_ts }
    end
end

local function add_response(pinfo, key)
    if pinfo.visited or waiting[key] == nil then
        return
    end
    local request = waiting[key]
    waiting[key] = nil
    answers[request.number] = pinfo.number
    requests[pinfo.number] = { number = request.number, time = pinfo.rel_ts - request.time }
end

local function link(pinfo, key, is_answer)
    (is_answer and add_response or add_request)(pinfo, key)
end

-- Returns the side that sent the request of a packet. A response goes the other way. Only traces have directions.
local direction = Field.new("frame.p2p_dir")

local function requester(is_answer)
    local found = direction()
    if not found then
        return "unknown"
    end
    return (found.value == 1) ~= is_answer and "other" or "own"
end

local function links(pinfo, tree)
    local answer, request = answers[pinfo.number], requests[pinfo.number]
    if answer then
        tree:add(f.answer_in, answer):set_generated()
    end
    if request then
        tree:add(f.answer_to, request.number):set_generated()
        tree:add(f.time, request.time):set_generated()
    end
end

-- For each type of address: its field, its length, and a function for its text.
local addresses = {
    { f.name, 64, function(range) return range:stringz() end },
    { f.ipv4, 4, function(range) return tostring(range:ipv4()) end },
    { f.ipv6, 16, function(range) return tostring(range:ipv6()) end },
    { f.gid, 16, function(range) return tostring(range:ipv6()) end },
    { f.lid, 2, function(range) return "LID " .. range:uint() end },
}

-- Returns the text of an address in 64 bytes, and adds the address to `tree`, if given.
local function address(kind, range, tree)
    local found = addresses[kind]
    if tree then
        tree:add(found and found[1] or f.bytes, found and range(0, found[2]) or range)
    end
    return found and found[3](range(0, found[2])) or "type " .. kind
end

local function add_path(range, tree)
    add_layout(path_record, range, tree:add(trace, range, "Path record"))
    return string.format("path LID %d to %d", range(42, 2):uint(), range(40, 2):uint())
end

-- Numbers in RESOLVE have the byte order of the machine: little endian on every machine with InfiniBand today.
local function add_entries(range, tree)
    local words = ""
    local at = 0
    while at + 72 <= range:len() do
        local own = range(at, 72)
        local kind = own(4, 2):le_uint()
        local shown = tree:add(trace, own, "Entry")
        add_layout(entry, own, shown, "add_le")
        local text = kind == 0x10 and add_path(own(8, 64), shown) or address(kind, own(8, 64), shown)
        shown:append_text(": " .. text)
        words = words .. " " .. text
        at = at + 72
    end
    if at < range:len() then
        tree:add(f.bytes, range(at))
    end
    return words
end

local function add_message(range, pinfo, tree, client, is_answer)
    if range:len() < 16 then
        if range:len() > 0 then
            tree:add(f.bytes, range)
        end
        return range:len() .. " bytes"
    end
    local shown = tree:add(trace, range, "Client message")
    local opcode = range(1, 1):uint()
    local is_resolve = opcode % 0x80 == 1
    add_layout(message, range, shown)
    shown[is_resolve and "add_le" or "add"](shown, f.length, range(6, 2))
    shown:add(f.tid, range(8, 8))
    link(pinfo, "client " .. client .. " " .. tostring(range(8, 8):bytes()), is_answer)
    local words = (opcodes[opcode] or string.format("opcode %#x", opcode))
    if is_answer then
        local status = range(2, 1):uint()
        words = words .. " " .. (statuses[status] or status)
    end
    if range:len() > 16 then
        local body = range(16)
        if is_resolve then
            words = words .. add_entries(body, shown)
        elseif opcode == 0x82 then
            for at = 0, body:len() - 8, 8 do
                shown:add(f.counter, body(at, 8))
            end
        else
            shown:add(f.bytes, body)
        end
    end
    return words
end

local json = Dissector.get("json")

local function add_kernel(range, pinfo, tree, is_answer)
    tree:add(f.kernel_id, range(0, 4))
    if not is_answer then
        tree:add(f.kernel_has_port, range(4, 4), range(4, 4):uint() ~= 0)
        tree:add(f.kernel_port, range(8, 4))
    end
    local id = range(0, 4):uint()
    link(pinfo, "kernel " .. id, is_answer)
    return id .. " " .. add_path(range(12, 64), tree)
end

-- Returns the name of a log event of the core: that of the innermost type.
local function event_name(text)
    return text:match('{"Log":{"Ibacmp":{"(%w+)"') or text:match('{"Log":{"(%w+)"') or text:match('{"Log":"(%w+)"')
end

local function add_text(range, pinfo, tree, kind)
    local text = range:string()
    local id = text:match('"id":(%d+)')
    if id and (kind == 0x14 or kind == 0x43) then
        link(pinfo, "kernel " .. id, kind == 0x43)
    end
    local event = event_name(text)
    if event then
        tree:add(f.event, range, event)
    end
    json:call(range:tvb(), pinfo, tree)
    return event or (#text <= 60 and text or "")
end

function trace.dissector(tvb, pinfo, root)
    if tvb:len() < 8 or tvb(0, 4):string() ~= "ACMT" then
        return 0
    end
    local kind = tvb(6, 2):uint()
    local name = kinds[kind] or string.format("kind %#x", kind)
    local tree = root:add(trace, tvb(), "acm " .. name)
    add_layout(header, tvb, tree)
    local words = ""
    -- A new core does not respond to requests to the one before.
    if kind == 0x01 and not pinfo.visited then
        waiting = {}
    end
    if tvb:len() > 8 then
        local body = tvb(8)
        if kind == 0x11 or kind == 0x40 or kind == 0x41 then
            local client = body(0, 4):uint() .. "." .. body(4, 4):uint()
            tree:add(f.client, body(0, 8), client)
            local message = body:len() > 8 and add_message(body(8), pinfo, tree, client, kind ~= 0x11) or "0 bytes"
            words = "client" .. client .. " " .. message
        elseif kind == 0x13 or kind == 0x42 then
            words = add_kernel(body, pinfo, tree, kind == 0x42)
        elseif kind == 0x03 then
            tree:add(f.lost, body)
        elseif kind == 0x17 or kind == 0x18 or kind == 0x1a then
            local length = body(0, 2):uint()
            tree:add(f.words, body(2, length))
            if body:len() > 2 + length then
                tree:add(f.bytes, body(2 + length))
            end
            words = (body:len() - 2 - length) .. " bytes, " .. body(2, length):string()
        else
            words = add_text(body, pinfo, tree, kind)
        end
    end
    links(pinfo, tree)
    pinfo.cols.protocol = "ACM"
    pinfo.cols.info = name .. " " .. words
    pinfo.cols.src = kind < 0x40 and "outside" or "core"
    pinfo.cols.dst = kind < 0x40 and "core" or "outside"
    return tvb:len()
end

DissectorTable.get("wtap_encap"):add(wtap.USER0, trace)

function datagram.dissector(tvb, pinfo, root)
    local tree = root:add(datagram, tvb(0, 256))
    add_layout(mad, tvb, tree)
    local dest = address(tvb(16, 1):uint(), tvb(24, 64))
    local src = address(tvb(18, 1):uint(), tvb(88, 64))
    tree:add(f.dest, tvb(24, 64), dest)
    tree:add(f.src, tvb(88, 64), src)
    -- A datagram has room for six groups, whatever its count is.
    for group = 0, math.min(tvb(20, 1):uint(), 6) - 1 do
        tree:add(f.group, tvb(152 + 16 * group, 16))
    end
    local method = tvb(3, 1):uint()
    local key = "datagram " .. requester(method == 0x81) .. " " .. tostring(tvb(8, 8):bytes())
    if methods[method] then
        link(pinfo, key, method == 0x81)
    end
    links(pinfo, tree)
    pinfo.cols.protocol = "ACM"
    local what = methods[method] or string.format("method %#x", method)
    if method == 0x01 then
        what = what .. ": " .. src .. " asks for " .. dest
    end
    pinfo.cols.info = string.format("%s, transaction %s", what, tostring(tvb(8, 8):bytes()))
    return 256
end

-- ACM datagrams are sent to ordinary queue pairs, where Wireshark does not look for management datagrams.
datagram:register_heuristic("infiniband.payload", function(tvb, pinfo, root)
    if tvb:len() < 256 or tvb(0, 1):uint() ~= 1 or tvb(1, 1):uint() ~= 0x2c then
        return false
    end
    datagram.dissector(tvb, pinfo, root)
    return true
end)
