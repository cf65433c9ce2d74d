//! All structures have the layout that a C compiler gives to those of `infiniband/acm_prov.h`, Debian's and this
//! project's.
use acm_provider::abi::{Address, Device, Endpoint, EpAddrData, Header, Message, Port, Provider, SaMad, UserMad};
use core::{
    fmt::Write as _,
    mem::{offset_of, size_of},
};
use std::{fs, process::Command};

/// Lists the sizes of structures and the offsets of their fields: the expression in C, and the value in Rust.
macro_rules! layout {
    ($($c:literal $rust:ty { $($field:ident $name:literal),* })*) => {
        [$(
            (format!("sizeof({})", $c), size_of::<$rust>()),
            $((format!("offsetof({}, {})", $c, $name), offset_of!($rust, $field)),)*
        )*]
    };
}

#[test]
fn structures_have_the_layout_of_c() {
    let ours = layout! {
        "struct acm_device" Device { verbs "verbs", guid "dev_guid" }
        "struct acm_port" Port { device "dev", port_number "port_num" }
        "struct acm_endpoint" Endpoint { port "port", pkey "pkey" }
        "struct acm_address" Address { endpoint "endpoint", info "info", id_string "id_string", kind "type" }
        "struct acm_hdr" Header {
            version "version", opcode "opcode", status "status", data "data", length "length", tid "tid"
        }
        "struct acm_ep_addr_data" EpAddrData { flags "flags", kind "type", reserved "reserved", info "info" }
        "struct acm_msg" Message { header "hdr", entries "resolve_data" }
        "struct ib_user_mad" UserMad {
            agent_id "agent_id", status "status", timeout_ms "timeout_ms", retries "retries", length "length",
            qpn "addr.qpn", qkey "addr.qkey", lid "addr.lid", sl "addr.sl", path_bits "addr.path_bits",
            grh_present "addr.grh_present", gid_index "addr.gid_index", hop_limit "addr.hop_limit",
            traffic_class "addr.traffic_class", gid "addr.gid", flow_label "addr.flow_label",
            pkey_index "addr.pkey_index"
        }
        "struct acm_sa_mad" SaMad { context "context", umad "umad", mad "sa_mad" }
        "struct acm_provider" Provider {
            size "size", version "version", name "name", open_device "open_device", close_device "close_device",
            open_port "open_port", close_port "close_port", open_endpoint "open_endpoint",
            close_endpoint "close_endpoint", add_address "add_address", remove_address "remove_address",
            resolve "resolve", query "query", handle_event "handle_event", query_perf "query_perf"
        }
    };
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("layout.c"), folder.path().join("layout"));
    let mut code = String::from("#include <stddef.h>\n#include <stdio.h>\n#include <infiniband/acm_prov.h>\n");
    code.push_str("int main(void) {\n");
    for (what, _) in &ours {
        writeln!(code, "printf(\"%s %zu\\n\", \"{what}\", (size_t){what});").unwrap();
    }
    code.push_str("return 0; }\n");
    fs::write(&source, code).unwrap();
    let ours: String = ours.iter().map(|(what, value)| format!("{what} {value}\n")).collect();
    let include = concat!(env!("CARGO_MANIFEST_DIR"), "/include");
    for options in [&[][..], &["-I", include]] {
        let compiled =
            Command::new("cc").args(options).arg("-o").arg(&program).arg(&source).output().expect("cc: install gcc");
        let errors = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "install ibacm and libibumad-dev, which have the headers: {errors}");
        let theirs = String::from_utf8(Command::new(&program).output().unwrap().stdout).unwrap();
        assert_eq!(theirs, ours, "{options:?}");
    }
}
