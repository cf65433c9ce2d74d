# Starts the units of dist/ on ports of a real kernel whose device files udev makes, and prints `ok WHAT` for each check
# that succeeds. Arguments: the directory dist, the daemon.
set -u
. "${0%/*}/boot.sh"
ports() {
    modprobe rdma_rxeib
    ip link add i0 mtu 9000 address 02:00:00:00:00:01 type veth peer name i1 address 02:00:00:00:00:02
    ip link set i1 mtu 9000
    ip link set i0 up
    ip link set i1 up
    rdma link add ib0 type rxeib netdev i0
}
no_ports() { rdma link delete ib0; rdma link delete ib1; ip link delete i0; modprobe -r rdma_rxeib; }
trap 'halt; udevadm control --exit; no_ports; umount -l /sys/fs/cgroup; rm -rf /run/systemd /run/udev $run' EXIT

# The first port is there before the installation.
/lib/systemd/systemd-udevd --daemon
ports
udevadm settle
mode() { stat -c '%U:%G %a' "/dev/infiniband/$1"; }
is_root() { [ "$(mode umad0)" = 'root:root 600' ]; }
check 'kernel gives the file to root alone' is_root

# The installation, as the packages do it. Differences: the path of the program, and its files.
cp "$1/acm-mio.service" "$1/acm-mio.socket" $units/
cp "$2" $run/acm-mio
mkdir -p $units/acm-mio.service.d /run/udev/rules.d
cat > $units/acm-mio.service.d/test.conf <<END
[Service]
ExecStart=
ExecStart=$run/acm-mio --systemd --run-dir /run/acm-mio -O $run/opts -A $run/addr
END
printf 'log_file /var/log/acm-mio/log\nlog_level 1\n' > $run/opts
printf 'node1 ib0 1 default\nnode2 ib1 1 default\n' > $run/addr
systemd-sysusers "$1/acm-mio.sysusers"
cp "$1/acm-mio.udev" /run/udev/rules.d/60-acm-mio.rules
udevadm control --reload && udevadm trigger --subsystem-match=infiniband_mad && udevadm settle
is_acms() { [ "$(mode umad0)" = 'acm:root 600' ]; }
check 'udev gives the file to the user acm' is_acms

# The drivers load last: systemd does not find their names when the unit starts.
rdma link delete ib0
ip link delete i0
modprobe -r rdma_rxeib rdma_rxe rdma_ucm ib_umad ib_uverbs || lsmod >&2
unloaded() { ! grep -q infiniband_ /proc/devices; }
check 'drivers are not loaded' unloaded
boot 'Requires=acm-mio.socket acm-mio.service'
started() { in_it systemctl is-active acm-mio.service | grep -qx active; }
check 'service starts without drivers' until_true started
ports
modprobe ib_umad
opened() { grep -q "$1 port 1 pkey 0xffff opened" /var/log/acm-mio/log; }
check 'daemon opens the port of a driver that loads later' until_true opened ib0
is_acm() { [ "$(stat -c %U:%G "/proc/$(pgrep -x acm-mio)")" = acm:acm ]; }
check 'daemon is no root' is_acm
rdma link add ib1 type rxeib netdev i1
check 'daemon opens a port that comes later' until_true opened ib1
