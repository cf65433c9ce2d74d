//! The public items of the crate as its sources have them, against `public_api.txt`. A change of the interface must be
//! meant: `UPDATE_API=1 cargo test -p acm-wire --test public_api` writes the file anew.
#[path = "../../ib-mad/tests/public_api/listing.rs"]
mod listing;

#[test]
fn public_interface_is_the_recorded_one() {
    listing::check();
    let listing = listing::listing();
    for line in ["client::next_frame  pub fn next_frame", "Address  pub enum Address", "netlink::NlHeader  wire!"] {
        assert!(listing.lines().any(|own| own.starts_with(line)), "{line}");
    }
}
