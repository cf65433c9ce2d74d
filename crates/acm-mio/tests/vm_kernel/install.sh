# Runs the commands of docs/install.md under a real systemd, on a machine where Debian's ibacm is enabled and serves, and
# prints `ok WHAT` for each check that succeeds. Arguments: the directory with the document's blocks, each a file; the
# directory with our programs. Differences from an administrator's machine: the adapter is simulated (both daemons and the
# commands get it by the environment alone), the source is not fetched, and it was compiled before.
set -u
. "${0%/*}/boot.sh"
blocks=$1 programs=$2 work=$run/work
mkdir -p $run/bin $work
printf '#!/bin/sh\n[ "$1" = clone ] && mkdir acm\n' > $run/bin/git
cat > $run/bin/cargo <<END
#!/bin/sh
task=\$1; shift
case \$task in
    xtask) CARGO=$run/bin/cargo exec $programs/xtask "\$@" ;;
    build) cat $run/messages ;;
    *) exit 1 ;;
esac
END
chmod 755 $run/bin/*
mkdir $run/release
# Installed, but not used.
for file in libibacm.so libibacm.a libacmrs.so libib_sim_preload.so ib-sim acm-replay; do echo $file > $run/release/$file; done
# Stripped as packages are: the disk of this machine is its memory.
for program in acm-mio acmctl ib_acme; do strip -o $run/release/$program "$programs/$program"; done
printf '{"reason":"compiler-artifact"' > $run/messages
printf ',"%s"' $run/release/* >> $run/messages
echo '}' >> $run/messages

# The fabric, and the other node.
umask 0
cp "$programs/libib_sim_preload.so" $run/
"$programs/ib-sim" serve --socket $run/fabric --nodes 2 --tree $run/tree >$run/fabric.out &
fabric=$!
until_true test -S $run/fabric
mkdir $run/node2
printf 'node2 sim0 1 default\n' > $run/node2/addr
printf 'log_file %s\nlock_file %s\n' $run/node2/log $run/node2/lock > $run/node2/opts
"$programs/acm-mio" -P --run-dir $run/node2 --fabric "sim:$run/fabric?node=node2" -O $run/node2/opts -A $run/node2/addr &
node2=$!
until_true test -S $run/node2/ibacm-unix.sock
umask 022
trap 'halt; udevadm control --exit; kill $fabric $node2; umount -l /sys/fs/cgroup; rm -rf /run/systemd $run' EXIT

# This node's adapter.
cat > $run/environment <<END
LD_PRELOAD=$run/libib_sim_preload.so
IB_SIM_SOCKET=$run/fabric
IB_SIM_NODE=node1
IB_SIM_TREE=$run/tree/node1
END
for unit in ibacm acm-mio; do
    mkdir -p $units/$unit.service.d
    printf '[Service]\nEnvironmentFile=%s\n' $run/environment > $units/$unit.service.d/adapter.conf
done
# systemd reads the host name from this file.
echo node1 > /etc/hostname
mkdir -p /etc/rdma
echo 'node1 ibsim0 1 default' > /etc/rdma/ibacm_addr.cfg
systemctl enable ibacm.socket ibacm.service 2>/dev/null

with_adapter() { in_it env $(cat $run/environment) PATH="$run/bin:$PATH" NODE=node2 "$@"; }
# Runs a block in the directory in which the block before it ended. Its output goes to standard error.
commands() {
    with_adapter sh -ec "cd $work; set -x; . '$blocks/$1'; pwd > $run/work.new" >&2 && work=$(cat $run/work.new)
}
served_by() {
    in_it timeout 100 ib_acme -f n -s node1 -d node2 -S /run/ibacm-unix.sock 2>&1 | grep -q 'return status 0x0' &&
        in_it systemctl is-active "$1.service" "$1.socket" >/dev/null && ! in_it systemctl is-active "$2.service" &&
        [ "$(readlink /run/ibacm.sock)" = /run/ibacm-unix.sock ]
}
ibacm_serves() { until_true served_by ibacm acm-mio; }
acm_mio_serves() { until_true served_by acm-mio ibacm; }
boots() { boot 'Wants=sockets.target rdma-hw.target'; }

# The document's commands reload its rules.
/lib/systemd/systemd-udevd --daemon
boots
check 'ibacm serves' ibacm_serves
check 'Build and install' commands build-and-install
check 'nothing was started' ibacm_serves
check 'Check' commands check
# The unit's limit, which a drop-in changes. Root's check has another text.
has_limits_of_unit() {
    mkdir -p $units/acm-mio.service.d
    printf '[Service]\nLimitMEMLOCK=2M\n' > $units/acm-mio.service.d/memory.conf
    in_it systemctl daemon-reload
    in_it /usr/local/sbin/acmctl check --as-service > $run/checked
    rm $units/acm-mio.service.d/memory.conf
    in_it systemctl daemon-reload
    cat $run/checked >&2
    grep -q '^warn locked memory: 2048 KiB' $run/checked && [ -z "$(find /run -maxdepth 4 -name 'acm-mio-check*')" ]
}
check 'the check has the limits of the unit' has_limits_of_unit
check 'nothing was started by the check' ibacm_serves
check 'Change over' commands change-over
check 'acm-mio serves' acm_mio_serves
check 'Try' commands try
halt
boots
check 'acm-mio serves after a boot' acm_mio_serves
ibacm_is_kept_away() { ! in_it systemctl start ibacm.socket 2>/dev/null && served_by acm-mio ibacm; }
check 'ibacm is kept away' ibacm_is_kept_away
check 'A newer one' commands a-newer-one
check 'the newer one serves' acm_mio_serves
check 'The way back' commands the-way-back
check 'ibacm serves again' ibacm_serves
is_gone() { [ -z "$(find /etc /usr/local/*bin /usr/local/lib /usr/local/share -name '*acm-mio*' -o -name '*acmctl*' 2>/dev/null | tee /dev/stderr)" ]; }
check 'nothing is left' is_gone
check 'configuration is left' test -s /etc/rdma/ibacm_addr.cfg
