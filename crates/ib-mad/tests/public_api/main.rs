//! The public items of the crate as its sources have them, against `public_api.txt`. A change of the interface must be
//! meant: `UPDATE_API=1 cargo test -p ib-mad --test public_api` writes the file anew.
mod listing;

use listing::listing;

#[test]
fn public_interface_is_the_recorded_one() {
    listing::check();
}

/// The listing sees what users see: items of each kind, at the paths that this very test imports them by.
#[test]
fn listing_has_each_kind() {
    use ib_mad::{Gid, Lid, MadRef, registry::all, sa::PathRecord, wire::read_bits};
    let _ = (Gid::ZERO, Lid::NONE, MadRef::new, all, PathRecord::default, read_bits);
    let listing = listing();
    for line in [
        "Gid::ZERO  impl Gid { pub const: Self }",
        "Lid  id! / pub struct Lid(u16)",
        "Lid::NONE  impl Lid { pub const: Self }",
        "registry::all  pub fn all() -> impl Iterator",
        "sa::PathRecord  wire! pub struct PathRecord[64] / pub dgid: Gid",
        "sa::PathRecord  sa_record! / DGID = 0x4 \"dgid\" dgid(value: Gid)",
        "wire::read_bits  pub fn read_bits",
        "id!  exported macro",
        "id!  pub const fn get(self) -> $int",
    ] {
        assert!(listing.lines().any(|own| own.starts_with(line)), "{line}");
    }
    assert!(!listing.contains("mod tests"));
}
