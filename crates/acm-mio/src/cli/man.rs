//! The manual page `dist/acm-mio.8`: what `--help` says, and what a page has besides. It is a file, so that the daemon
//! carries no maker of pages.
use super::Args;
use clap::CommandFactory;
use clap_mangen::Man;
use std::{fs, path::Path};

const REST: &str = r#".SH FILES
.TP
\fI/etc/rdma/ibacm_opts.cfg\fR
Options. Need not exist.
.TP
\fI/etc/rdma/ibacm_addr.cfg\fR
This node's addresses. Need not exist.
.TP
\fI/run/ibacm\-unix.sock\fR, \fI/run/ibacm.sock\fR
Where clients ask: ib_acme, and librdmacm by the link.
.SH SIGNALS
.TP
SIGHUP
Opens the log again, and reads options, addresses and preload files again.
.TP
SIGUSR1
Writes counters into the log.
.TP
SIGTERM, SIGINT
Leave the multicast groups and end.
.SH SEE ALSO
.BR ib_acme (1),
.BR ibacm (7),
.BR ibacm (8),
.BR systemctl (1)
"#;

fn page() -> String {
    let mut text = Vec::new();
    let man = Man::new(Args::command()).section("8").date("").manual("acm");
    man.render(&mut text).unwrap();
    String::from_utf8(text).unwrap() + REST
}

#[test]
fn the_page_says_what_help_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../dist/acm-mio.8");
    if std::env::var_os("UPDATE_MAN").is_some() {
        fs::write(&path, page()).unwrap();
    }
    let is_so = fs::read_to_string(&path).is_ok_and(|text| text == page());
    assert!(is_so, "dist/acm-mio.8 is not of these options: UPDATE_MAN=1 cargo test -p acm-mio cli writes it anew");
}
