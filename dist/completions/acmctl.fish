# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_acmctl_global_optspecs
    string join \n run-dir= json h/help V/version
end

function __fish_acmctl_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_acmctl_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_acmctl_using_subcommand
    set -l cmd (__fish_acmctl_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c acmctl -n "__fish_acmctl_needs_command" -l run-dir -d 'Directory of the daemon\'s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio' -r -F
complete -c acmctl -n "__fish_acmctl_needs_command" -l json -d 'Print one JSON object, whose member `schema` is 1. Members may be added to it; none changes its meaning or type'
complete -c acmctl -n "__fish_acmctl_needs_command" -s h -l help -d 'Print help'
complete -c acmctl -n "__fish_acmctl_needs_command" -s V -l version -d 'Print version'
complete -c acmctl -n "__fish_acmctl_needs_command" -f -a "status" -d 'Show whether the daemon serves, and what is wrong. Exits with 0, or with 4 if something is'
complete -c acmctl -n "__fish_acmctl_needs_command" -f -a "check" -d 'Check what the daemon needs on this machine, with the options that it is started with, and print advice. Exits with 0 if it would serve, 1 if not, 4 if it would serve and a reload would not apply a file'
complete -c acmctl -n "__fish_acmctl_needs_command" -f -a "explain" -d 'Show what is cached for a destination, where it comes from, when it expires and who used it. Exits with 1 if nothing is cached'
complete -c acmctl -n "__fish_acmctl_needs_command" -f -a "cache" -d 'List or remove entries of the cache'
complete -c acmctl -n "__fish_acmctl_needs_command" -f -a "reload" -d 'Make the daemon read its files again, as SIGHUP does, and wait until they are applied. Exits with 1 if a file is not applied. For root and the daemon\'s user'
complete -c acmctl -n "__fish_acmctl_needs_command" -f -a "config" -d 'Show the options in force, and where their values come from. Standard error has what waits for a restart, what does nothing, and what costs something. For root, the daemon\'s user and members of its group'
complete -c acmctl -n "__fish_acmctl_needs_command" -f -a "log-level" -d 'Show the log level, or set another one for a time, without a change of a file. To set it: for root and the daemon\'s user. A reload does not end it'
complete -c acmctl -n "__fish_acmctl_needs_command" -f -a "wait-ready" -d 'Wait until the daemon serves: a port is active and its multicast groups are joined. Exits with 4 if that takes longer, and with 3 if no daemon answers'
complete -c acmctl -n "__fish_acmctl_needs_command" -f -a "record" -d 'Record the inputs and outputs of the daemon\'s core, for Wireshark and counting'
complete -c acmctl -n "__fish_acmctl_needs_command" -f -a "metrics" -d 'Print the metrics of the daemon as OpenMetrics text, or write them into a file'
complete -c acmctl -n "__fish_acmctl_needs_command" -f -a "bundle" -d 'Write one file for a bug report: status, metrics, configuration, cache, log, a recording, versions and adapters. Names and IP addresses are replaced. For root and the daemon\'s user'
complete -c acmctl -n "__fish_acmctl_needs_command" -f -a "fleet" -d 'Compare nodes by their outputs of `acmctl --json`, and show which has a wrong path, or another path, option or version than most. Exits with 0 if none, 1 if a path is wrong or a file cannot be read, 4 if something differs'
complete -c acmctl -n "__fish_acmctl_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c acmctl -n "__fish_acmctl_using_subcommand status" -l delta -d 'Also what counters gain in this time' -r
complete -c acmctl -n "__fish_acmctl_using_subcommand status" -l run-dir -d 'Directory of the daemon\'s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio' -r -F
complete -c acmctl -n "__fish_acmctl_using_subcommand status" -l all -d 'All states and counters, without counters of zero'
complete -c acmctl -n "__fish_acmctl_using_subcommand status" -l watch -d 'Again whenever it changes, or after each time of --delta, until you interrupt it'
complete -c acmctl -n "__fish_acmctl_using_subcommand status" -l json -d 'Print one JSON object, whose member `schema` is 1. Members may be added to it; none changes its meaning or type'
complete -c acmctl -n "__fish_acmctl_using_subcommand status" -s h -l help -d 'Print help'
complete -c acmctl -n "__fish_acmctl_using_subcommand check" -s A -d 'Address configuration file' -r -F
complete -c acmctl -n "__fish_acmctl_using_subcommand check" -s O -d 'Option configuration file' -r -F
complete -c acmctl -n "__fish_acmctl_using_subcommand check" -l fabric -d 'The fabric to serve: `devices` (the default: all InfiniBand ports of this machine), `embedded` (a simulated one in this process, which others may join at DIR/fabric.sock), or `sim:PATH?node=NAME` (a simulated one that another process serves at PATH)' -r
complete -c acmctl -n "__fish_acmctl_using_subcommand check" -l kernel -d 'Respond to the kernel\'s path requests over netlink: `on`, `off`, or `any` (to those of other privileged programs as well: for tests). The default is on, and off with a simulated fabric' -r -f -a "on\t'Respond to requests of the kernel'
off\t'Open no socket'
any\t'Respond to requests of programs as well. These need CAP_NET_ADMIN to send one'"
complete -c acmctl -n "__fish_acmctl_using_subcommand check" -l interfaces -d 'Interfaces whose IP addresses this node serves: `on` (IPoIB interfaces), `off`, or `alias` (interfaces whose alias is `infiniband GID [PKEY]`: for simulated fabrics). The default is on, and off with a simulated fabric' -r -f -a "on\t'Serve addresses of IPoIB interfaces'
off\t'Open no socket'
alias\t'Serve addresses of interfaces of any type whose alias names a port: `infiniband GID [PKEY]`'"
complete -c acmctl -n "__fish_acmctl_using_subcommand check" -l record -d 'Record the inputs and outputs of the daemon\'s core, for acm-replay and Wireshark: `FILE[,size=64M,files=4][,mask=names][,time=SECONDS]`. FILE is the newest file, FILE.1 the one before it. A reader of the files can guess transaction ids, so that only the daemon\'s user may read them. `mask=names` replaces names and IP addresses. After `time` seconds the recording ends' -r
complete -c acmctl -n "__fish_acmctl_using_subcommand check" -l run-dir -d 'Directory of the sockets, port files and the lock file. It is created if it is missing' -r -F
complete -c acmctl -n "__fish_acmctl_using_subcommand check" -l start-limit -d 'Seconds that a daemon may take until it serves; after that it is killed' -r
complete -c acmctl -n "__fish_acmctl_using_subcommand check" -s D -d 'Run as a daemon (the default). `-P` has precedence, as in ibacm'
complete -c acmctl -n "__fish_acmctl_using_subcommand check" -s P -d 'Run as a process in the foreground'
complete -c acmctl -n "__fish_acmctl_using_subcommand check" -l systemd -d 'Take the sockets from systemd, and notify it when they are served'
complete -c acmctl -n "__fish_acmctl_using_subcommand check" -l require-device -d 'Exit with status 255 when there is no InfiniBand device at the start, as ibacm does, and do not wait for one'
complete -c acmctl -n "__fish_acmctl_using_subcommand check" -l remove-port-files -d 'Internal: remove port files in the run directory on whose port nothing listens, and exit. For the socket unit'
complete -c acmctl -n "__fish_acmctl_using_subcommand check" -l detach -d 'Internal: the process that becomes the daemon'
complete -c acmctl -n "__fish_acmctl_using_subcommand check" -l as-service -d 'Check as systemd would run the daemon: with the user, groups, capabilities, limits, sandbox and options of acm-mio.service and its drop-ins. For root'
complete -c acmctl -n "__fish_acmctl_using_subcommand check" -s q -l quiet -d 'Print only what is wrong'
complete -c acmctl -n "__fish_acmctl_using_subcommand check" -l json -d 'Print one JSON object, whose member `schema` is 1. Members may be added to it; none changes its meaning or type'
complete -c acmctl -n "__fish_acmctl_using_subcommand check" -s h -l help -d 'Print help'
complete -c acmctl -n "__fish_acmctl_using_subcommand check" -s V -l version -d 'Print version'
complete -c acmctl -n "__fish_acmctl_using_subcommand explain" -l run-dir -d 'Directory of the daemon\'s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio' -r -F
complete -c acmctl -n "__fish_acmctl_using_subcommand explain" -l json -d 'Print one JSON object, whose member `schema` is 1. Members may be added to it; none changes its meaning or type'
complete -c acmctl -n "__fish_acmctl_using_subcommand explain" -s h -l help -d 'Print help'
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and not __fish_seen_subcommand_from list flush help" -l run-dir -d 'Directory of the daemon\'s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio' -r -F
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and not __fish_seen_subcommand_from list flush help" -l json -d 'Print one JSON object, whose member `schema` is 1. Members may be added to it; none changes its meaning or type'
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and not __fish_seen_subcommand_from list flush help" -s h -l help -d 'Print help'
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and not __fish_seen_subcommand_from list flush help" -f -a "list" -d 'Print a line for each entry. For root, the daemon\'s user and members of its group'
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and not __fish_seen_subcommand_from list flush help" -f -a "flush" -d 'Remove entries, so that the next request starts a lookup. For root and the daemon\'s user'
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and not __fish_seen_subcommand_from list flush help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from list" -l state -d 'Only entries in a state, as the list has it: unknown, failed, asking, located, routing, ready or stale' -r
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from list" -l port -d 'Only entries of a port, such as mlx5_0/1' -r
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from list" -l partition -d 'Only entries of a partition of the port, such as 0x8001' -r
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from list" -l user -d 'Only entries that a user was the last to use: a name, a number, kernel, daemon, strangers or peer:ADDRESS' -r
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from list" -l id -d 'Only the entry with this id, which `explain` prints' -r
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from list" -l older -d 'Only paths that were confirmed longer ago, such as 1h30m' -r
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from list" -l newer -d 'Only paths that were confirmed since' -r
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from list" -l run-dir -d 'Directory of the daemon\'s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio' -r -F
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from list" -l failed -d 'Only failures: the state failed'
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from list" -l no-header -d 'Print no line of titles'
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from list" -l json -d 'Print one JSON object, whose member `schema` is 1. Members may be added to it; none changes its meaning or type'
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from flush" -l state -d 'Only entries in a state, as the list has it: unknown, failed, asking, located, routing, ready or stale' -r
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from flush" -l port -d 'Only entries of a port, such as mlx5_0/1' -r
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from flush" -l partition -d 'Only entries of a partition of the port, such as 0x8001' -r
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from flush" -l user -d 'Only entries that a user was the last to use: a name, a number, kernel, daemon, strangers or peer:ADDRESS' -r
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from flush" -l id -d 'Only the entry with this id, which `explain` prints' -r
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from flush" -l older -d 'Only paths that were confirmed longer ago, such as 1h30m' -r
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from flush" -l newer -d 'Only paths that were confirmed since' -r
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from flush" -l run-dir -d 'Directory of the daemon\'s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio' -r -F
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from flush" -l failed -d 'Only failures: the state failed'
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from flush" -l all -d 'Remove all entries'
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from flush" -l json -d 'Print one JSON object, whose member `schema` is 1. Members may be added to it; none changes its meaning or type'
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from flush" -s h -l help -d 'Print help'
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from help" -f -a "list" -d 'Print a line for each entry. For root, the daemon\'s user and members of its group'
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from help" -f -a "flush" -d 'Remove entries, so that the next request starts a lookup. For root and the daemon\'s user'
complete -c acmctl -n "__fish_acmctl_using_subcommand cache; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c acmctl -n "__fish_acmctl_using_subcommand reload" -l run-dir -d 'Directory of the daemon\'s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio' -r -F
complete -c acmctl -n "__fish_acmctl_using_subcommand reload" -l json -d 'Print one JSON object, whose member `schema` is 1. Members may be added to it; none changes its meaning or type'
complete -c acmctl -n "__fish_acmctl_using_subcommand reload" -s h -l help -d 'Print help'
complete -c acmctl -n "__fish_acmctl_using_subcommand config" -l run-dir -d 'Directory of the daemon\'s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio' -r -F
complete -c acmctl -n "__fish_acmctl_using_subcommand config" -l changed -d 'Only options whose value is not by default, or that wait for a restart'
complete -c acmctl -n "__fish_acmctl_using_subcommand config" -l json -d 'Print one JSON object, whose member `schema` is 1. Members may be added to it; none changes its meaning or type'
complete -c acmctl -n "__fish_acmctl_using_subcommand config" -s h -l help -d 'Print help'
complete -c acmctl -n "__fish_acmctl_using_subcommand log-level" -l for -d 'Time after which the level of the option file is in force again, at most a day' -r
complete -c acmctl -n "__fish_acmctl_using_subcommand log-level" -l dest -d 'Only lines about a name, an IP address, a LID or a GID. A `*` at the end stands for any text' -r
complete -c acmctl -n "__fish_acmctl_using_subcommand log-level" -l run-dir -d 'Directory of the daemon\'s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio' -r -F
complete -c acmctl -n "__fish_acmctl_using_subcommand log-level" -l json -d 'Print one JSON object, whose member `schema` is 1. Members may be added to it; none changes its meaning or type'
complete -c acmctl -n "__fish_acmctl_using_subcommand log-level" -s h -l help -d 'Print help'
complete -c acmctl -n "__fish_acmctl_using_subcommand wait-ready" -l timeout -d 'The longest time to wait' -r
complete -c acmctl -n "__fish_acmctl_using_subcommand wait-ready" -l run-dir -d 'Directory of the daemon\'s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio' -r -F
complete -c acmctl -n "__fish_acmctl_using_subcommand wait-ready" -l json -d 'Print one JSON object, whose member `schema` is 1. Members may be added to it; none changes its meaning or type'
complete -c acmctl -n "__fish_acmctl_using_subcommand wait-ready" -s h -l help -d 'Print help'
complete -c acmctl -n "__fish_acmctl_using_subcommand record; and not __fish_seen_subcommand_from start stop status help" -l run-dir -d 'Directory of the daemon\'s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio' -r -F
complete -c acmctl -n "__fish_acmctl_using_subcommand record; and not __fish_seen_subcommand_from start stop status help" -l json -d 'Print one JSON object, whose member `schema` is 1. Members may be added to it; none changes its meaning or type'
complete -c acmctl -n "__fish_acmctl_using_subcommand record; and not __fish_seen_subcommand_from start stop status help" -s h -l help -d 'Print help'
complete -c acmctl -n "__fish_acmctl_using_subcommand record; and not __fish_seen_subcommand_from start stop status help" -f -a "start" -d 'Start a recording. It can be shown and counted, but not replayed. For root and the daemon\'s user'
complete -c acmctl -n "__fish_acmctl_using_subcommand record; and not __fish_seen_subcommand_from start stop status help" -f -a "stop" -d 'End the recording'
complete -c acmctl -n "__fish_acmctl_using_subcommand record; and not __fish_seen_subcommand_from start stop status help" -f -a "status" -d 'Show the newest file, the size and number of all files, and the remaining time. For members of the daemon\'s group, too'
complete -c acmctl -n "__fish_acmctl_using_subcommand record; and not __fish_seen_subcommand_from start stop status help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c acmctl -n "__fish_acmctl_using_subcommand record; and __fish_seen_subcommand_from start" -l size -d 'Maximum size of a file, such as 64M' -r
complete -c acmctl -n "__fish_acmctl_using_subcommand record; and __fish_seen_subcommand_from start" -l files -d 'Maximum number of files' -r
complete -c acmctl -n "__fish_acmctl_using_subcommand record; and __fish_seen_subcommand_from start" -l time -d 'Time after which it ends, at most a day' -r
complete -c acmctl -n "__fish_acmctl_using_subcommand record; and __fish_seen_subcommand_from start" -l run-dir -d 'Directory of the daemon\'s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio' -r -F
complete -c acmctl -n "__fish_acmctl_using_subcommand record; and __fish_seen_subcommand_from start" -l mask-names -d 'Replace names and IP addresses'
complete -c acmctl -n "__fish_acmctl_using_subcommand record; and __fish_seen_subcommand_from start" -l json -d 'Print one JSON object, whose member `schema` is 1. Members may be added to it; none changes its meaning or type'
complete -c acmctl -n "__fish_acmctl_using_subcommand record; and __fish_seen_subcommand_from start" -s h -l help -d 'Print help'
complete -c acmctl -n "__fish_acmctl_using_subcommand record; and __fish_seen_subcommand_from stop" -l run-dir -d 'Directory of the daemon\'s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio' -r -F
complete -c acmctl -n "__fish_acmctl_using_subcommand record; and __fish_seen_subcommand_from stop" -l json -d 'Print one JSON object, whose member `schema` is 1. Members may be added to it; none changes its meaning or type'
complete -c acmctl -n "__fish_acmctl_using_subcommand record; and __fish_seen_subcommand_from stop" -s h -l help -d 'Print help'
complete -c acmctl -n "__fish_acmctl_using_subcommand record; and __fish_seen_subcommand_from status" -l run-dir -d 'Directory of the daemon\'s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio' -r -F
complete -c acmctl -n "__fish_acmctl_using_subcommand record; and __fish_seen_subcommand_from status" -l json -d 'Print one JSON object, whose member `schema` is 1. Members may be added to it; none changes its meaning or type'
complete -c acmctl -n "__fish_acmctl_using_subcommand record; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help'
complete -c acmctl -n "__fish_acmctl_using_subcommand record; and __fish_seen_subcommand_from help" -f -a "start" -d 'Start a recording. It can be shown and counted, but not replayed. For root and the daemon\'s user'
complete -c acmctl -n "__fish_acmctl_using_subcommand record; and __fish_seen_subcommand_from help" -f -a "stop" -d 'End the recording'
complete -c acmctl -n "__fish_acmctl_using_subcommand record; and __fish_seen_subcommand_from help" -f -a "status" -d 'Show the newest file, the size and number of all files, and the remaining time. For members of the daemon\'s group, too'
complete -c acmctl -n "__fish_acmctl_using_subcommand record; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c acmctl -n "__fish_acmctl_using_subcommand metrics" -l run-dir -d 'Directory of the daemon\'s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio' -r -F
complete -c acmctl -n "__fish_acmctl_using_subcommand metrics" -l json -d 'Print one JSON object, whose member `schema` is 1. Members may be added to it; none changes its meaning or type'
complete -c acmctl -n "__fish_acmctl_using_subcommand metrics" -s h -l help -d 'Print help'
complete -c acmctl -n "__fish_acmctl_using_subcommand bundle" -l time -d 'Time of the recording; 0 for none' -r
complete -c acmctl -n "__fish_acmctl_using_subcommand bundle" -l run-dir -d 'Directory of the daemon\'s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio' -r -F
complete -c acmctl -n "__fish_acmctl_using_subcommand bundle" -l keep-names -d 'Keep names and IP addresses'
complete -c acmctl -n "__fish_acmctl_using_subcommand bundle" -l json -d 'Print one JSON object, whose member `schema` is 1. Members may be added to it; none changes its meaning or type'
complete -c acmctl -n "__fish_acmctl_using_subcommand bundle" -s h -l help -d 'Print help'
complete -c acmctl -n "__fish_acmctl_using_subcommand fleet" -l run-dir -d 'Directory of the daemon\'s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio' -r -F
complete -c acmctl -n "__fish_acmctl_using_subcommand fleet" -l json -d 'Print one JSON object, whose member `schema` is 1. Members may be added to it; none changes its meaning or type'
complete -c acmctl -n "__fish_acmctl_using_subcommand fleet" -s h -l help -d 'Print help'
complete -c acmctl -n "__fish_acmctl_using_subcommand help; and not __fish_seen_subcommand_from status check explain cache reload config log-level wait-ready record metrics bundle fleet help" -f -a "status" -d 'Show whether the daemon serves, and what is wrong. Exits with 0, or with 4 if something is'
complete -c acmctl -n "__fish_acmctl_using_subcommand help; and not __fish_seen_subcommand_from status check explain cache reload config log-level wait-ready record metrics bundle fleet help" -f -a "check" -d 'Check what the daemon needs on this machine, with the options that it is started with, and print advice. Exits with 0 if it would serve, 1 if not, 4 if it would serve and a reload would not apply a file'
complete -c acmctl -n "__fish_acmctl_using_subcommand help; and not __fish_seen_subcommand_from status check explain cache reload config log-level wait-ready record metrics bundle fleet help" -f -a "explain" -d 'Show what is cached for a destination, where it comes from, when it expires and who used it. Exits with 1 if nothing is cached'
complete -c acmctl -n "__fish_acmctl_using_subcommand help; and not __fish_seen_subcommand_from status check explain cache reload config log-level wait-ready record metrics bundle fleet help" -f -a "cache" -d 'List or remove entries of the cache'
complete -c acmctl -n "__fish_acmctl_using_subcommand help; and not __fish_seen_subcommand_from status check explain cache reload config log-level wait-ready record metrics bundle fleet help" -f -a "reload" -d 'Make the daemon read its files again, as SIGHUP does, and wait until they are applied. Exits with 1 if a file is not applied. For root and the daemon\'s user'
complete -c acmctl -n "__fish_acmctl_using_subcommand help; and not __fish_seen_subcommand_from status check explain cache reload config log-level wait-ready record metrics bundle fleet help" -f -a "config" -d 'Show the options in force, and where their values come from. Standard error has what waits for a restart, what does nothing, and what costs something. For root, the daemon\'s user and members of its group'
complete -c acmctl -n "__fish_acmctl_using_subcommand help; and not __fish_seen_subcommand_from status check explain cache reload config log-level wait-ready record metrics bundle fleet help" -f -a "log-level" -d 'Show the log level, or set another one for a time, without a change of a file. To set it: for root and the daemon\'s user. A reload does not end it'
complete -c acmctl -n "__fish_acmctl_using_subcommand help; and not __fish_seen_subcommand_from status check explain cache reload config log-level wait-ready record metrics bundle fleet help" -f -a "wait-ready" -d 'Wait until the daemon serves: a port is active and its multicast groups are joined. Exits with 4 if that takes longer, and with 3 if no daemon answers'
complete -c acmctl -n "__fish_acmctl_using_subcommand help; and not __fish_seen_subcommand_from status check explain cache reload config log-level wait-ready record metrics bundle fleet help" -f -a "record" -d 'Record the inputs and outputs of the daemon\'s core, for Wireshark and counting'
complete -c acmctl -n "__fish_acmctl_using_subcommand help; and not __fish_seen_subcommand_from status check explain cache reload config log-level wait-ready record metrics bundle fleet help" -f -a "metrics" -d 'Print the metrics of the daemon as OpenMetrics text, or write them into a file'
complete -c acmctl -n "__fish_acmctl_using_subcommand help; and not __fish_seen_subcommand_from status check explain cache reload config log-level wait-ready record metrics bundle fleet help" -f -a "bundle" -d 'Write one file for a bug report: status, metrics, configuration, cache, log, a recording, versions and adapters. Names and IP addresses are replaced. For root and the daemon\'s user'
complete -c acmctl -n "__fish_acmctl_using_subcommand help; and not __fish_seen_subcommand_from status check explain cache reload config log-level wait-ready record metrics bundle fleet help" -f -a "fleet" -d 'Compare nodes by their outputs of `acmctl --json`, and show which has a wrong path, or another path, option or version than most. Exits with 0 if none, 1 if a path is wrong or a file cannot be read, 4 if something differs'
complete -c acmctl -n "__fish_acmctl_using_subcommand help; and not __fish_seen_subcommand_from status check explain cache reload config log-level wait-ready record metrics bundle fleet help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c acmctl -n "__fish_acmctl_using_subcommand help; and __fish_seen_subcommand_from cache" -f -a "list" -d 'Print a line for each entry. For root, the daemon\'s user and members of its group'
complete -c acmctl -n "__fish_acmctl_using_subcommand help; and __fish_seen_subcommand_from cache" -f -a "flush" -d 'Remove entries, so that the next request starts a lookup. For root and the daemon\'s user'
complete -c acmctl -n "__fish_acmctl_using_subcommand help; and __fish_seen_subcommand_from record" -f -a "start" -d 'Start a recording. It can be shown and counted, but not replayed. For root and the daemon\'s user'
complete -c acmctl -n "__fish_acmctl_using_subcommand help; and __fish_seen_subcommand_from record" -f -a "stop" -d 'End the recording'
complete -c acmctl -n "__fish_acmctl_using_subcommand help; and __fish_seen_subcommand_from record" -f -a "status" -d 'Show the newest file, the size and number of all files, and the remaining time. For members of the daemon\'s group, too'
