#!/bin/sh
# Starts in the directory $DIR: ibsim, OpenSM with the policy and the partitions beside this file, a fabric of its four
# nodes for programs of this machine, and a daemon at node1. Their process ids are in $DIR/pids. With the argument opensm it
# starts the first two, and prints ibsim's name.
set -e
here=$(cd "$(dirname "$0")" && pwd)
# ibsim's library for OpenSM writes a tree of files to OpenSM's working directory.
cd "$DIR"
DIR=$(pwd)
export IBSIM_SOCKNAME="vfabric-$$" OSM_TMP_DIR="$DIR" OSM_CACHE_DIR="$DIR"
umad=$(ls /usr/lib/*/umad2sim/libumad2sim.so)

# Waits until a command succeeds, up to a minute.
until_done() {
    tries=0
    until eval "$1" > /dev/null 2>&1; do
        tries=$((tries + 1))
        test $tries -lt 600 || { echo "in vain: $1" >&2; exit 1; }
        sleep 0.1
    done
}

mkfifo "$DIR/console"
# Opened for reading and writing, so that ibsim's standard input does not end.
ibsim -s "$here/topology" <> "$DIR/console" > "$DIR/ibsim.log" 2>&1 &
echo $! >> "$DIR/pids"
until_done "grep -q '@$IBSIM_SOCKNAME:ctl' /proc/net/unix"
SIM_HOST=manager LD_PRELOAD=$umad opensm -d2 -f "$DIR/opensm.log" -Q -Y "$here/qos-policy.conf" \
    -P "$here/partitions.conf" > "$DIR/opensm.out" 2>&1 < /dev/null &
echo $! >> "$DIR/pids"
until_done "grep -q 'SUBNET UP' '$DIR/opensm.log'"
if test "$1" = opensm; then
    echo "$IBSIM_SOCKNAME"
    exit
fi
ib-sim serve --socket "$DIR/fabric.sock" --tree "$DIR/tree" --ibsim="$IBSIM_SOCKNAME" \
    --node node1 --node node2 --node node3 --node node4 > "$DIR/fabric.log" 2>&1 &
echo $! >> "$DIR/pids"
until_done "ib-sim ctl --socket '$DIR/fabric.sock' ports | grep -q '4/1 active'"
acm-mio -P --fabric "sim:$DIR/fabric.sock?node=node1" --run-dir "$DIR/node1" > "$DIR/node1.log" 2>&1 &
echo $! >> "$DIR/pids"
until_done "ib_acme -S '$DIR/node1/ibacm-unix.sock' -f n -s node1 -d node1"
