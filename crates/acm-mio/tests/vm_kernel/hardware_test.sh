# Runs dist/acm-hardware-test on a port of Soft-RoCE (`rxe`), or of Soft-RoCE as InfiniBand (`rxeib`):
# cargo xtask vm-test -- sh crates/acm-mio/tests/vm_kernel/hardware_test.sh TYPE
type=$1
PATH=$PWD/target/debug:$PATH
hostname node1
modprobe "rdma_$type"
ip link add i0 mtu 9000 address 02:00:00:00:00:01 type veth peer name i1
ip link set i1 mtu 9000
ip link set i1 up
ip link set i0 up
rdma link add "${type}0" type "$type" netdev i0
sh dist/acm-hardware-test -o /run/out/report
