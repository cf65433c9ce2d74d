#!/bin/sh
# Instructions of each measured piece of work, by callgrind: benches/instructions.sh (needs valgrind).
set -eu
cd "$(dirname "$0")/.."
cargo build -q --release --example instructions
binary=$(dirname "$(cargo locate-project --workspace --message-format plain)")/target/release/examples/instructions
count() { valgrind --tool=callgrind --callgrind-out-file=/dev/null "$binary" "$1" 2>&1 | sed -n 's/.*Collected : //p'; }
nothing=$(count nothing)
for work in parse by-hand build dissect; do
    echo "$work $((($(count $work) - nothing) / 10000))"
done
echo "rmpp $((($(count rmpp) - nothing) / 100)) (with the cutting, once)"
