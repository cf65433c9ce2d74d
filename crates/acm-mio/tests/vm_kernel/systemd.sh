# Starts the units of dist/ under a real systemd, and prints `ok WHAT` for each check that succeeds. Arguments: the
# directory dist, the daemon beside acmctl.
set -u
. "${0%/*}/boot.sh"
mkdir -p $units/acm-mio.service.d $units/acm-mio.socket.d
cp "$1/acm-mio.service" "$1/acm-mio.socket" $units/
cp "$2" "${2%/*}/acmctl" $run/
# Differences from an installation: the path of the program, and a fabric that needs no adapter. After the SIGABRT of
# systemd's watchdog a stopped daemon would run for an instant, and could accept a connection.
cat > $units/acm-mio.service.d/test.conf <<END
[Service]
ExecStart=
ExecStart=$run/acm-mio --systemd --run-dir /run/acm-mio --fabric embedded --kernel on -O $run/opts -A $run/addr
ExecReload=
ExecReload=$run/acmctl reload --run-dir /run/acm-mio
WatchdogSec=20
WatchdogSignal=SIGKILL
RestartSec=100ms
RestartMaxDelaySec=100ms
END
printf '[Socket]\nExecStartPre=\nExecStartPre=-%s --remove-port-files\n' $run/acm-mio > $units/acm-mio.socket.d/test.conf
# An ibacm with TCP has left these.
echo 6125 > /run/ibacm-tcp.port
ln -s ibacm-tcp.port /run/ibacm.port
printf 'log_file /var/log/acm-mio/log\nlog_level 1\nshared_cache on\n' > $run/opts
printf 'node1 sim0 1 default\n' > $run/addr
systemd-sysusers "$1/acm-mio.sysusers"
boot 'Requires=acm-mio.socket acm-mio.service'

resolves() {
    output=$(in_it timeout 100 ib_acme -f n -s node1 -d node1 -S /run/ibacm-unix.sock 2>&1)
    status=$?
    case $output in
        *'return status 0x0'*) ;;
        *) echo "ib_acme ended with $status: $output"; return 1 ;;
    esac
}
started() { in_it systemctl is-active acm-mio.service | grep -qx active; }
joined() { show StatusText | grep -q '1 of 1 ports active, 1 of 1 groups joined'; }

check started until_true started
check resolves resolves
# Under the unit's filter of system calls, the memory exists and has the path.
shared() { $run/acmctl --run-dir /run/acm-mio status --all | grep -q '^ *shared_cache_entries: *[1-9]'; }
check shared until_true shared
check stale-port-files test ! -e /run/ibacm.port -a ! -e /run/ibacm-tcp.port
check state until_true joined
main=$(show MainPID)
status() { in_it cat "/proc/$main/status"; }
privileges() {
    [ "$(status | awk '/^Uid/ {print $2}')" = "$(id -u acm)" ] && [ "$(status | awk '/^Gid/ {print $2}')" = "$(id -g acm)" ] &&
        [ "$(status | awk '/^CapEff/ {print $2}')" = 0000000000003000 ] && [ "$(status | awk '/^CapBnd/ {print $2}')" = 0000000000003000 ] &&
        [ "$(status | awk '/^Seccomp:/ {print $2}')" = 2 ]
}
check privileges privileges
# What the daemon follows is visible in its sandbox: the host's name and its changes, and the holders of locks.
follows() {
    in_it nsenter -t "$main" -m cat /proc/sys/kernel/hostname /proc/locks > /dev/null &&
        [ "$(in_it readlink "/proc/$main/ns/uts")" = "$(in_it readlink /proc/1/ns/uts)" ]
}
check follows follows
check kernel grep -q 'NETLINK_RDMA passed by systemd' /var/log/acm-mio/log
inode=$(stat -c %i /run/ibacm-unix.sock)
reloaded() { in_it systemctl reload acm-mio.service && until_true grep -q 'files read again' /var/log/acm-mio/log; }
check reloaded reloaded
# The loop stops: the watchdog kills the daemon, and the next one serves a client that sent its request meanwhile.
in_it kill -STOP "$main"
check answered-over-a-restart resolves
killed() { [ "$(show MainPID)" != "$main" ] && [ "$(show NRestarts)" = 1 ]; }
check killed-by-the-watchdog until_true killed
hold_connection node1 node1
restarted() { in_it systemctl restart acm-mio.service && resolves; }
check restarted restarted
check socket-kept test "$inode" = "$(stat -c %i /run/ibacm-unix.sock)"
check connection-kept connection_kept
# More kills than systemd's default limit of starts allows.
new_main() { main=$(show MainPID); [ "$main" != 0 ] && [ "$main" != "$old" ]; }
killed_twenty_times() {
    for _ in $(seq 20); do
        old=$(show MainPID)
        in_it kill -KILL "$old" && until_true new_main || return 1
    done
    until_true started && resolves
}
check restarted-after-twenty-kills killed_twenty_times
check status sh -c "$run/acmctl --run-dir /run/acm-mio status | grep -qx OK"
