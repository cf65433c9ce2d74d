//! Time of the operations that management programs do most: `cargo bench -p ib-mad`.
mod work;

use core::hint::black_box;
use divan::{Bencher, counter::ItemsCount};
use ib_mad::{Gid, as_bytes};

fn main() {
    divan::main();
}

fn gid() -> Gid {
    "fe80::2:c903:0:10".parse().unwrap()
}

mod path_record {
    use super::*;

    #[divan::bench]
    fn parse_and_read_5_fields(bencher: Bencher<'_, '_>) {
        let answer = work::answer(gid());
        bencher.bench_local(|| work::five_fields(black_box(as_bytes(&answer))));
    }

    #[divan::bench]
    fn parse_and_read_5_fields_by_hand(bencher: Bencher<'_, '_>) {
        let answer = work::answer(gid());
        bencher.bench_local(|| work::five_fields_by_hand(black_box(as_bytes(&answer))));
    }

    #[divan::bench]
    fn build_query() -> ib_mad::sa::SaMad {
        work::path_query(black_box(gid_bytes()), black_box(gid_bytes()))
    }

    const fn gid_bytes() -> Gid {
        Gid::new([0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 2, 0xc9, 3, 0, 0, 0, 0x10])
    }
}

#[divan::bench]
fn dissect_port_info(bencher: Bencher<'_, '_>) {
    let port = work::port_info();
    let mut text = String::with_capacity(4096);
    bencher.bench_local(|| work::dissect(black_box(&port), &mut text));
}

#[divan::bench]
fn reassemble_1000_records(bencher: Bencher<'_, '_>) {
    let segments = work::table_segments();
    let mut buffer = vec![0; 70_000];
    bencher.counter(ItemsCount::new(work::RECORDS)).bench_local(|| work::reassemble(black_box(&segments), &mut buffer));
}
