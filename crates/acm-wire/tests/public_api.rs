//! The public items of the crate as its sources have them, against `public_api.txt`. A change of the interface must be
//! meant: `UPDATE_API=1 cargo test -p acm-wire --test public_api` writes the file anew.
#[path = "../../ib-mad/tests/public_api/listing.rs"]
mod listing;

#[test]
fn public_interface_is_the_recorded_one() {
    listing::check();
    let listing = listing::listing();
    for (name, item) in [
        ("client::next_frame", "pub fn next_frame"),
        ("Address", "pub enum Address"),
        ("netlink::NlHeader", "pub struct NlHeader"),
    ] {
        let is_it = |line: &str| line.split_once("  ").is_some_and(|(own, rest)| own == name && rest.contains(item));
        assert!(listing.lines().any(is_it), "{name}");
    }
}
