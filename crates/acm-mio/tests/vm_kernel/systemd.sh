# Starts the units of dist/ under a real systemd, the first process of a tree of its own, and prints `ok WHAT` for each
# thing that is as it should be. Arguments: the folder dist, the daemon.
set -u
export SYSTEMD_PAGER=cat SYSTEMD_COLORS=0
units=/run/systemd/system run=/run/acm-test
mkdir -p $units/acm-mio.service.d $run
cp "$1/acm-mio.service" "$1/acm-mio.socket" $units/
cp "$2" $run/acm-mio
# What differs: where the program is, and a fabric that needs no adapter.
cat > $units/acm-mio.service.d/test.conf <<END
[Service]
ExecStart=
ExecStart=$run/acm-mio --systemd --run-dir /run/acm-mio --fabric embedded --kernel on -O $run/opts -A $run/addr
WatchdogSec=20
END
printf 'log_file /var/log/acm-mio/log\nlog_level 1\n' > $run/opts
printf 'node1 sim0 1 default\n' > $run/addr
printf '[Unit]\nRequires=acm-mio.socket acm-mio.service\n' > $units/acm-test.target
# Of no use here, and slow.
for name in systemd-udevd systemd-udev-trigger systemd-tmpfiles-setup systemd-tmpfiles-setup-dev systemd-timesyncd \
    systemd-random-seed systemd-update-utmp systemd-sysctl systemd-modules-load systemd-journal-flush \
    systemd-machine-id-commit systemd-remount-fs systemd-sysusers systemd-binfmt ldconfig; do
    ln -sf /dev/null $units/$name.service
done
ln -sf /dev/null $units/systemd-udevd-control.socket
ln -sf /dev/null $units/systemd-udevd-kernel.socket
systemd-sysusers "$1/acm-mio.sysusers"
mkdir -p /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup
container=acm unshare --pid --fork --mount --mount-proc --cgroup \
    /lib/systemd/systemd --system --unit=acm-test.target --log-level=warning --log-target=console --show-status=false &
outside=$!
trap 'kill -9 $outside; umount -l /sys/fs/cgroup' EXIT

in_it() { nsenter -t "$systemd" -p -m -C "$@"; }
show() { in_it systemctl show -p "$1" --value acm-mio.service; }
resolves() { in_it timeout 100 ib_acme -f n -s node1 -d node1 -S /run/ibacm-unix.sock 2>&1 | grep -q 'return status 0x0'; }
until_true() { for _ in $(seq 60); do "$@" && return 0; sleep 1; done; return 1; }
check() { what=$1; shift; if "$@"; then echo "ok $what"; else echo "FAILED $what"; in_it systemctl -l status acm-mio.service; fi; }
started() { systemd=$(pgrep -P $outside) && in_it systemctl is-active acm-mio.service | grep -qx active; }
joined() { show StatusText | grep -q '1 of 1 ports active, 1 of 1 groups joined'; }

check started until_true started
check resolves resolves
check state until_true joined
main=$(show MainPID)
status() { in_it cat "/proc/$main/status"; }
privileges() {
    [ "$(status | awk '/^Uid/ {print $2}')" = "$(id -u acm)" ] && [ "$(status | awk '/^Gid/ {print $2}')" = "$(getent group rdma | cut -d: -f3)" ] &&
        [ "$(status | awk '/^CapEff/ {print $2}')" = 0000000000003000 ] && [ "$(status | awk '/^CapBnd/ {print $2}')" = 0000000000003000 ] &&
        [ "$(status | awk '/^Seccomp:/ {print $2}')" = 2 ]
}
check privileges privileges
check kernel grep -q 'NETLINK_RDMA passed by systemd' /var/log/acm-mio/log
inode=$(stat -c %i /run/ibacm-unix.sock)
reloaded() { in_it systemctl reload acm-mio.service && until_true grep -q 'files read again' /var/log/acm-mio/log; }
check reloaded reloaded
# It stops turning: the watchdog kills it, and a client that asks meanwhile is answered by the next one.
in_it kill -STOP "$main"
check answered-over-a-restart resolves
killed() { [ "$(show MainPID)" != "$main" ] && [ "$(show NRestarts)" = 1 ]; }
check killed-by-the-watchdog until_true killed
restarted() { in_it systemctl restart acm-mio.service && resolves; }
check restarted restarted
check socket-kept test "$inode" = "$(stat -c %i /run/ibacm-unix.sock)"
check status sh -c "$run/acm-mio --status | grep -q 'up 0 d'"
