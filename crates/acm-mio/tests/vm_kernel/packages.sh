# Installs, upgrades and removes the packages under a real systemd, on a machine where Debian's ibacm is enabled and serves,
# and prints `ok WHAT` for each check that succeeds. Arguments: the directories with the .deb packages and with those of a
# later revision. `.ci/packages` runs it in trees of Debian in the virtual machine. The adapter is simulated.
set -u
. "${0%/*}/boot.sh"
packages=$1 newer=$2

# The fabric, and the other node.
dpkg -i "$packages"/ib-sim_*.deb >/dev/null
umask 0
ib-sim serve --socket $run/fabric --nodes 2 --tree $run/tree >$run/fabric.out &
fabric=$!
until_true test -S $run/fabric
mkdir $run/node2
dpkg-deb -x "$packages"/acm-mio_*.deb $run/node2
printf 'node2 sim0 1 default\n' > $run/node2/addr
printf 'log_file %s\nlock_file %s\n' $run/node2/log $run/node2/lock > $run/node2/opts
$run/node2/usr/sbin/acm-mio -P --run-dir $run/node2 --fabric "sim:$run/fabric?node=node2" -O $run/node2/opts -A $run/node2/addr &
node2=$!
until_true test -S $run/node2/ibacm-unix.sock
umask 022
trap 'halt; kill $fabric $node2; umount -l /sys/fs/cgroup; rm -rf /run/systemd $run' EXIT

# This node's adapter.
cat > $run/environment <<END
LD_PRELOAD=/usr/lib/ib-sim/libib_sim_preload.so
IB_SIM_SOCKET=$run/fabric
IB_SIM_NODE=node1
IB_SIM_TREE=$run/tree/node1
END
for unit in ibacm acm-mio; do
    mkdir -p $units/$unit.service.d
    printf '[Service]\nEnvironmentFile=%s\n' $run/environment > $units/$unit.service.d/adapter.conf
done
echo node1 > /etc/hostname
mkdir -p /etc/rdma
echo 'node1 ibsim0 1 default' > /etc/rdma/ibacm_addr.cfg
systemctl enable ibacm.socket ibacm.service 2>/dev/null

resolves() { in_it timeout 100 ib_acme -f n -s node1 -d node2 -S /run/ibacm-unix.sock 2>&1 | grep -q 'return status 0x0'; }
served_by() { resolves && in_it systemctl is-active "$1.service" "$1.socket" >/dev/null && ! in_it systemctl is-active "$2.service"; }
ibacm_serves() { until_true served_by ibacm acm-mio; }
acm_mio_serves() { until_true served_by acm-mio ibacm; }
debian() { in_it env DEBIAN_FRONTEND=noninteractive "$@" >&2 </dev/null; }
install_packages() { debian dpkg -i "$1"/acm-mio_*.deb "$1"/ib-acme-rs_*.deb; }

boot 'Wants=sockets.target rdma-hw.target'
check 'ibacm serves' ibacm_serves
check 'packages are installed' install_packages "$packages"
check 'nothing was started' ibacm_serves
change_over() {
    in_it systemctl disable --now ibacm.socket ibacm.service && in_it systemctl mask ibacm.socket ibacm.service &&
        in_it systemctl enable --now acm-mio.socket acm-mio.service
}
check 'change over' change_over
check 'acm-mio serves' acm_mio_serves

# An upgrade, while a client sends one request after the other.
echo 'log_level 1' > /etc/rdma/ibacm_opts.cfg
echo '# changed' >> /etc/logrotate.d/acm-mio
main=$(show MainPID)
hold_connection node1 node2
touch $run/upgrading
(while [ -e $run/upgrading ]; do
    before=$(date +%s%3N)
    if resolves; then echo served $(($(date +%s%3N) - before)); else echo failed; fi
done > $run/requests) &
requests=$!
check 'newer packages are installed' install_packages "$newer"
new_main() { [ "$(show MainPID)" != "$main" ] && acm_mio_serves; }
check 'newer daemon serves' new_main
rm $run/upgrading
wait $requests
each_served() {
    echo "the longest of $(wc -l < $run/requests) requests took $(cut -d' ' -f2 $run/requests | sort -n | tail -n 1) ms"
    grep -q served $run/requests && ! grep -q failed $run/requests
}
check 'each request was served' each_served
check 'open connections are kept' connection_kept
kept() { grep -q '# changed' /etc/logrotate.d/acm-mio && grep -q 'log_level 1' /etc/rdma/ibacm_opts.cfg; }
check 'configuration is kept' kept

# The way back.
check 'daemon is off' in_it systemctl disable --now acm-mio.socket acm-mio.service
dpkg -L acm-mio ib-acme-rs > $run/files
check 'packages are purged' debian dpkg --purge acm-mio ib-acme-rs
is_gone() {
    left=$(while read -r path; do [ ! -f "$path" ] || echo "$path"; done < $run/files; find /etc /var/log -name '*acm-mio*')
    [ -z "$left" ] || { echo "$left" >&2; false; }
}
check 'nothing is left' is_gone
back() { in_it systemctl unmask ibacm.socket ibacm.service && in_it systemctl enable --now ibacm.socket ibacm.service; }
check 'the way back' back
check 'ibacm serves again' ibacm_serves
check 'configuration for ibacm is left' grep -q 'log_level 1' /etc/rdma/ibacm_opts.cfg
