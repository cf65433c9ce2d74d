#compdef acmctl

autoload -U is-at-least

_acmctl() {
    typeset -A opt_args
    typeset -a _arguments_options
    local ret=1

    if is-at-least 5.2; then
        _arguments_options=(-s -S -C)
    else
        _arguments_options=(-s -C)
    fi

    local context curcontext="$curcontext" state line
    _arguments "${_arguments_options[@]}" : \
'--run-dir=[Directory of the daemon'\''s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio]:DIR:_files' \
'--json[Print one JSON object, whose member \`schema\` is 1. Members may be added to it; none changes its meaning or type]' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
":: :_acmctl_commands" \
"*::: :->acmctl" \
&& ret=0
    case $state in
    (acmctl)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:acmctl-command-$line[1]:"
        case $line[1] in
            (status)
_arguments "${_arguments_options[@]}" : \
'--delta=[Also what counters gain in this time]:TIME:_default' \
'--run-dir=[Directory of the daemon'\''s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio]:DIR:_files' \
'--all[All states and counters, without counters of zero]' \
'--watch[Again whenever it changes, or after each time of --delta, until you interrupt it]' \
'--json[Print one JSON object, whose member \`schema\` is 1. Members may be added to it; none changes its meaning or type]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(check)
_arguments "${_arguments_options[@]}" : \
'-A+[Address configuration file]:addr_file:_files' \
'-O+[Option configuration file]:option_file:_files' \
'--fabric=[The fabric to serve\: \`devices\` (the default\: all InfiniBand ports of this machine), \`embedded\` (a simulated one in this process, which others may join at DIR/fabric.sock), or \`sim\:PATH?node=NAME\` (a simulated one that another process serves at PATH)]:FABRIC:_default' \
'--kernel=[Respond to the kernel'\''s path requests over netlink\: \`on\`, \`off\`, or \`any\` (to those of other privileged programs as well\: for tests). The default is on, and off with a simulated fabric]:MODE:((on\:"Respond to requests of the kernel"
off\:"Open no socket"
any\:"Respond to requests of programs as well. These need CAP_NET_ADMIN to send one"))' \
'--interfaces=[Interfaces whose IP addresses this node serves\: \`on\` (IPoIB interfaces), \`off\`, or \`alias\` (interfaces whose alias is \`infiniband GID \[PKEY\]\`\: for simulated fabrics). The default is on, and off with a simulated fabric]:MODE:((on\:"Serve addresses of IPoIB interfaces"
off\:"Open no socket"
alias\:"Serve addresses of interfaces of any type whose alias names a port\: \`infiniband GID \[PKEY\]\`"))' \
'--record=[Record the inputs and outputs of the daemon'\''s core, for acm-replay and Wireshark\: \`FILE\[,size=64M,files=4\]\[,mask=names\]\[,time=SECONDS\]\`. FILE is the newest file, FILE.1 the one before it. A reader of the files can guess transaction ids, so that only the daemon'\''s user may read them. \`mask=names\` replaces names and IP addresses. After \`time\` seconds the recording ends]:FILE:_default' \
'--run-dir=[Directory of the sockets, port files and the lock file. It is created if it is missing]:DIR:_files' \
'--start-limit=[Seconds that a daemon may take until it serves; after that it is killed]:SECONDS:_default' \
'-D[Run as a daemon (the default). \`-P\` has precedence, as in ibacm]' \
'-P[Run as a process in the foreground]' \
'--systemd[Take the sockets from systemd, and notify it when they are served]' \
'--require-device[Exit with status 255 when there is no InfiniBand device at the start, as ibacm does, and do not wait for one]' \
'--remove-port-files[Internal\: remove port files in the run directory on whose port nothing listens, and exit. For the socket unit]' \
'--detach[Internal\: the process that becomes the daemon]' \
'(-A -O --systemd --fabric --kernel --interfaces --record --require-device)--as-service[Check as systemd would run the daemon\: with the user, groups, capabilities, limits, sandbox and options of acm-mio.service and its drop-ins. For root]' \
'-q[Print only what is wrong]' \
'--quiet[Print only what is wrong]' \
'--json[Print one JSON object, whose member \`schema\` is 1. Members may be added to it; none changes its meaning or type]' \
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
'*::stray -- Words that are not options:_default' \
&& ret=0
;;
(explain)
_arguments "${_arguments_options[@]}" : \
'--run-dir=[Directory of the daemon'\''s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio]:DIR:_files' \
'--json[Print one JSON object, whose member \`schema\` is 1. Members may be added to it; none changes its meaning or type]' \
'-h[Print help]' \
'--help[Print help]' \
':dest -- A name, an IP address, a LID or a GID:_default' \
&& ret=0
;;
(cache)
_arguments "${_arguments_options[@]}" : \
'--run-dir=[Directory of the daemon'\''s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio]:DIR:_files' \
'--json[Print one JSON object, whose member \`schema\` is 1. Members may be added to it; none changes its meaning or type]' \
'-h[Print help]' \
'--help[Print help]' \
":: :_acmctl__subcmd__cache_commands" \
"*::: :->cache" \
&& ret=0

    case $state in
    (cache)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:acmctl-cache-command-$line[1]:"
        case $line[1] in
            (list)
_arguments "${_arguments_options[@]}" : \
'--state=[Only entries in a state, as the list has it\: unknown, failed, asking, located, routing, ready or stale]:STATE:_default' \
'--port=[Only entries of a port, such as mlx5_0/1]:PORT:_default' \
'--partition=[Only entries of a partition of the port, such as 0x8001]:P_KEY:_default' \
'--user=[Only entries that a user was the last to use\: a name, a number, kernel, daemon, strangers or peer\:ADDRESS]:USER:_default' \
'--id=[Only the entry with this id, which \`explain\` prints]:ID:_default' \
'--older=[Only paths that were confirmed longer ago, such as 1h30m]:TIME:_default' \
'--newer=[Only paths that were confirmed since]:TIME:_default' \
'--run-dir=[Directory of the daemon'\''s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio]:DIR:_files' \
'(--state)--failed[Only failures\: the state failed]' \
'--no-header[Print no line of titles]' \
'--json[Print one JSON object, whose member \`schema\` is 1. Members may be added to it; none changes its meaning or type]' \
'-h[Print help]' \
'--help[Print help]' \
'*::dest -- Names, IP addresses, LIDs or GIDs. A `*` at the end of one stands for any text:_default' \
&& ret=0
;;
(flush)
_arguments "${_arguments_options[@]}" : \
'--state=[Only entries in a state, as the list has it\: unknown, failed, asking, located, routing, ready or stale]:STATE:_default' \
'--port=[Only entries of a port, such as mlx5_0/1]:PORT:_default' \
'--partition=[Only entries of a partition of the port, such as 0x8001]:P_KEY:_default' \
'--user=[Only entries that a user was the last to use\: a name, a number, kernel, daemon, strangers or peer\:ADDRESS]:USER:_default' \
'--id=[Only the entry with this id, which \`explain\` prints]:ID:_default' \
'--older=[Only paths that were confirmed longer ago, such as 1h30m]:TIME:_default' \
'--newer=[Only paths that were confirmed since]:TIME:_default' \
'--run-dir=[Directory of the daemon'\''s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio]:DIR:_files' \
'(--state)--failed[Only failures\: the state failed]' \
'(--state --failed --port --partition --user --id --older --newer)--all[Remove all entries]' \
'--json[Print one JSON object, whose member \`schema\` is 1. Members may be added to it; none changes its meaning or type]' \
'-h[Print help]' \
'--help[Print help]' \
'*::dest -- Names, IP addresses, LIDs or GIDs. A `*` at the end of one stands for any text:_default' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_acmctl__subcmd__cache__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:acmctl-cache-help-command-$line[1]:"
        case $line[1] in
            (list)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(flush)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(reload)
_arguments "${_arguments_options[@]}" : \
'--run-dir=[Directory of the daemon'\''s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio]:DIR:_files' \
'--json[Print one JSON object, whose member \`schema\` is 1. Members may be added to it; none changes its meaning or type]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(config)
_arguments "${_arguments_options[@]}" : \
'--run-dir=[Directory of the daemon'\''s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio]:DIR:_files' \
'--changed[Only options whose value is not by default, or that wait for a restart]' \
'--json[Print one JSON object, whose member \`schema\` is 1. Members may be added to it; none changes its meaning or type]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(log-level)
_arguments "${_arguments_options[@]}" : \
'--for=[Time after which the level of the option file is in force again, at most a day]:TIME:_default' \
'--dest=[Only lines about a name, an IP address, a LID or a GID. A \`*\` at the end stands for any text]:DEST:_default' \
'--run-dir=[Directory of the daemon'\''s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio]:DIR:_files' \
'--json[Print one JSON object, whose member \`schema\` is 1. Members may be added to it; none changes its meaning or type]' \
'-h[Print help]' \
'--help[Print help]' \
'::level -- 0 has changes of the service and faults, 1 also each failed request, 2 each step of each request; default is the level of the option file:(0 1 2 default)' \
&& ret=0
;;
(wait-ready)
_arguments "${_arguments_options[@]}" : \
'--timeout=[The longest time to wait]:TIME:_default' \
'--run-dir=[Directory of the daemon'\''s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio]:DIR:_files' \
'--json[Print one JSON object, whose member \`schema\` is 1. Members may be added to it; none changes its meaning or type]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(record)
_arguments "${_arguments_options[@]}" : \
'--run-dir=[Directory of the daemon'\''s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio]:DIR:_files' \
'--json[Print one JSON object, whose member \`schema\` is 1. Members may be added to it; none changes its meaning or type]' \
'-h[Print help]' \
'--help[Print help]' \
":: :_acmctl__subcmd__record_commands" \
"*::: :->record" \
&& ret=0

    case $state in
    (record)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:acmctl-record-command-$line[1]:"
        case $line[1] in
            (start)
_arguments "${_arguments_options[@]}" : \
'--size=[Maximum size of a file, such as 64M]:BYTES:_default' \
'--files=[Maximum number of files]:NUMBER:_default' \
'--time=[Time after which it ends, at most a day]:TIME:_default' \
'--run-dir=[Directory of the daemon'\''s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio]:DIR:_files' \
'--mask-names[Replace names and IP addresses]' \
'--json[Print one JSON object, whose member \`schema\` is 1. Members may be added to it; none changes its meaning or type]' \
'-h[Print help]' \
'--help[Print help]' \
':file -- A full path that the daemon'\''s user may write\: the newest file. FILE.1 is the one before it. Only the daemon'\''s user may read them:_default' \
&& ret=0
;;
(stop)
_arguments "${_arguments_options[@]}" : \
'--run-dir=[Directory of the daemon'\''s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio]:DIR:_files' \
'--json[Print one JSON object, whose member \`schema\` is 1. Members may be added to it; none changes its meaning or type]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(status)
_arguments "${_arguments_options[@]}" : \
'--run-dir=[Directory of the daemon'\''s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio]:DIR:_files' \
'--json[Print one JSON object, whose member \`schema\` is 1. Members may be added to it; none changes its meaning or type]' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_acmctl__subcmd__record__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:acmctl-record-help-command-$line[1]:"
        case $line[1] in
            (start)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(stop)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(status)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
;;
(metrics)
_arguments "${_arguments_options[@]}" : \
'--run-dir=[Directory of the daemon'\''s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio]:DIR:_files' \
'--json[Print one JSON object, whose member \`schema\` is 1. Members may be added to it; none changes its meaning or type]' \
'-h[Print help]' \
'--help[Print help]' \
'::file -- The file of node_exporter'\''s textfile collector. A new file with mode 0644 replaces it at once. If that fails, it is removed. A file that has something other than metrics of acm-mio, a link, a device and a pipe are refused and stay:_files' \
&& ret=0
;;
(bundle)
_arguments "${_arguments_options[@]}" : \
'--time=[Time of the recording; 0 for none]:TIME:_default' \
'--run-dir=[Directory of the daemon'\''s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio]:DIR:_files' \
'--keep-names[Keep names and IP addresses]' \
'--json[Print one JSON object, whose member \`schema\` is 1. Members may be added to it; none changes its meaning or type]' \
'-h[Print help]' \
'--help[Print help]' \
':file -- The file to create\: an archive for tar, which only its owner may read:_files' \
&& ret=0
;;
(fleet)
_arguments "${_arguments_options[@]}" : \
'--run-dir=[Directory of the daemon'\''s sockets. With the default, the daemon of the service unit comes first, whose directory is /run/acm-mio]:DIR:_files' \
'--json[Print one JSON object, whose member \`schema\` is 1. Members may be added to it; none changes its meaning or type]' \
'-h[Print help]' \
'--help[Print help]' \
'*::files -- A file for each node, with the node'\''s name\: the outputs of `status`, `config` and `cache list` with `--json`, one after the other:_files' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_acmctl__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:acmctl-help-command-$line[1]:"
        case $line[1] in
            (status)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(check)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(explain)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(cache)
_arguments "${_arguments_options[@]}" : \
":: :_acmctl__subcmd__help__subcmd__cache_commands" \
"*::: :->cache" \
&& ret=0

    case $state in
    (cache)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:acmctl-help-cache-command-$line[1]:"
        case $line[1] in
            (list)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(flush)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(reload)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(config)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(log-level)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(wait-ready)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(record)
_arguments "${_arguments_options[@]}" : \
":: :_acmctl__subcmd__help__subcmd__record_commands" \
"*::: :->record" \
&& ret=0

    case $state in
    (record)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:acmctl-help-record-command-$line[1]:"
        case $line[1] in
            (start)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(stop)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(status)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
(metrics)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(bundle)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(fleet)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
        esac
    ;;
esac
;;
        esac
    ;;
esac
}

(( $+functions[_acmctl_commands] )) ||
_acmctl_commands() {
    local commands; commands=(
'status:Show whether the daemon serves, and what is wrong. Exits with 0, or with 4 if something is' \
'check:Check what the daemon needs on this machine, with the options that it is started with, and print advice. Exits with 0 if it would serve, 1 if not, 4 if it would serve and a reload would not apply a file' \
'explain:Show what is cached for a destination, where it comes from, when it expires and who used it. Exits with 1 if nothing is cached' \
'cache:List or remove entries of the cache' \
'reload:Make the daemon read its files again, as SIGHUP does, and wait until they are applied. Exits with 1 if a file is not applied. For root and the daemon'\''s user' \
'config:Show the options in force, and where their values come from. Standard error has what waits for a restart, what does nothing, and what costs something. For root, the daemon'\''s user and members of its group' \
'log-level:Show the log level, or set another one for a time, without a change of a file. To set it\: for root and the daemon'\''s user. A reload does not end it' \
'wait-ready:Wait until the daemon serves\: a port is active and its multicast groups are joined. Exits with 4 if that takes longer, and with 3 if no daemon answers' \
'record:Record the inputs and outputs of the daemon'\''s core, for Wireshark and counting' \
'metrics:Print the metrics of the daemon as OpenMetrics text, or write them into a file' \
'bundle:Write one file for a bug report\: status, metrics, configuration, cache, log, a recording, versions and adapters. Names and IP addresses are replaced. For root and the daemon'\''s user' \
'fleet:Compare nodes by their outputs of \`acmctl --json\`, and show which has a wrong path, or another path, option or version than most. Exits with 0 if none, 1 if a path is wrong or a file cannot be read, 4 if something differs' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'acmctl commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__bundle_commands] )) ||
_acmctl__subcmd__bundle_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl bundle commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__cache_commands] )) ||
_acmctl__subcmd__cache_commands() {
    local commands; commands=(
'list:Print a line for each entry. For root, the daemon'\''s user and members of its group' \
'flush:Remove entries, so that the next request starts a lookup. For root and the daemon'\''s user' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'acmctl cache commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__cache__subcmd__flush_commands] )) ||
_acmctl__subcmd__cache__subcmd__flush_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl cache flush commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__cache__subcmd__help_commands] )) ||
_acmctl__subcmd__cache__subcmd__help_commands() {
    local commands; commands=(
'list:Print a line for each entry. For root, the daemon'\''s user and members of its group' \
'flush:Remove entries, so that the next request starts a lookup. For root and the daemon'\''s user' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'acmctl cache help commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__cache__subcmd__help__subcmd__flush_commands] )) ||
_acmctl__subcmd__cache__subcmd__help__subcmd__flush_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl cache help flush commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__cache__subcmd__help__subcmd__help_commands] )) ||
_acmctl__subcmd__cache__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl cache help help commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__cache__subcmd__help__subcmd__list_commands] )) ||
_acmctl__subcmd__cache__subcmd__help__subcmd__list_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl cache help list commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__cache__subcmd__list_commands] )) ||
_acmctl__subcmd__cache__subcmd__list_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl cache list commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__check_commands] )) ||
_acmctl__subcmd__check_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl check commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__config_commands] )) ||
_acmctl__subcmd__config_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl config commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__explain_commands] )) ||
_acmctl__subcmd__explain_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl explain commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__fleet_commands] )) ||
_acmctl__subcmd__fleet_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl fleet commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__help_commands] )) ||
_acmctl__subcmd__help_commands() {
    local commands; commands=(
'status:Show whether the daemon serves, and what is wrong. Exits with 0, or with 4 if something is' \
'check:Check what the daemon needs on this machine, with the options that it is started with, and print advice. Exits with 0 if it would serve, 1 if not, 4 if it would serve and a reload would not apply a file' \
'explain:Show what is cached for a destination, where it comes from, when it expires and who used it. Exits with 1 if nothing is cached' \
'cache:List or remove entries of the cache' \
'reload:Make the daemon read its files again, as SIGHUP does, and wait until they are applied. Exits with 1 if a file is not applied. For root and the daemon'\''s user' \
'config:Show the options in force, and where their values come from. Standard error has what waits for a restart, what does nothing, and what costs something. For root, the daemon'\''s user and members of its group' \
'log-level:Show the log level, or set another one for a time, without a change of a file. To set it\: for root and the daemon'\''s user. A reload does not end it' \
'wait-ready:Wait until the daemon serves\: a port is active and its multicast groups are joined. Exits with 4 if that takes longer, and with 3 if no daemon answers' \
'record:Record the inputs and outputs of the daemon'\''s core, for Wireshark and counting' \
'metrics:Print the metrics of the daemon as OpenMetrics text, or write them into a file' \
'bundle:Write one file for a bug report\: status, metrics, configuration, cache, log, a recording, versions and adapters. Names and IP addresses are replaced. For root and the daemon'\''s user' \
'fleet:Compare nodes by their outputs of \`acmctl --json\`, and show which has a wrong path, or another path, option or version than most. Exits with 0 if none, 1 if a path is wrong or a file cannot be read, 4 if something differs' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'acmctl help commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__help__subcmd__bundle_commands] )) ||
_acmctl__subcmd__help__subcmd__bundle_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl help bundle commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__help__subcmd__cache_commands] )) ||
_acmctl__subcmd__help__subcmd__cache_commands() {
    local commands; commands=(
'list:Print a line for each entry. For root, the daemon'\''s user and members of its group' \
'flush:Remove entries, so that the next request starts a lookup. For root and the daemon'\''s user' \
    )
    _describe -t commands 'acmctl help cache commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__help__subcmd__cache__subcmd__flush_commands] )) ||
_acmctl__subcmd__help__subcmd__cache__subcmd__flush_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl help cache flush commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__help__subcmd__cache__subcmd__list_commands] )) ||
_acmctl__subcmd__help__subcmd__cache__subcmd__list_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl help cache list commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__help__subcmd__check_commands] )) ||
_acmctl__subcmd__help__subcmd__check_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl help check commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__help__subcmd__config_commands] )) ||
_acmctl__subcmd__help__subcmd__config_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl help config commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__help__subcmd__explain_commands] )) ||
_acmctl__subcmd__help__subcmd__explain_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl help explain commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__help__subcmd__fleet_commands] )) ||
_acmctl__subcmd__help__subcmd__fleet_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl help fleet commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__help__subcmd__help_commands] )) ||
_acmctl__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl help help commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__help__subcmd__log-level_commands] )) ||
_acmctl__subcmd__help__subcmd__log-level_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl help log-level commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__help__subcmd__metrics_commands] )) ||
_acmctl__subcmd__help__subcmd__metrics_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl help metrics commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__help__subcmd__record_commands] )) ||
_acmctl__subcmd__help__subcmd__record_commands() {
    local commands; commands=(
'start:Start a recording. It can be shown and counted, but not replayed. For root and the daemon'\''s user' \
'stop:End the recording' \
'status:Show the newest file, the size and number of all files, and the remaining time. For members of the daemon'\''s group, too' \
    )
    _describe -t commands 'acmctl help record commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__help__subcmd__record__subcmd__start_commands] )) ||
_acmctl__subcmd__help__subcmd__record__subcmd__start_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl help record start commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__help__subcmd__record__subcmd__status_commands] )) ||
_acmctl__subcmd__help__subcmd__record__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl help record status commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__help__subcmd__record__subcmd__stop_commands] )) ||
_acmctl__subcmd__help__subcmd__record__subcmd__stop_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl help record stop commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__help__subcmd__reload_commands] )) ||
_acmctl__subcmd__help__subcmd__reload_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl help reload commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__help__subcmd__status_commands] )) ||
_acmctl__subcmd__help__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl help status commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__help__subcmd__wait-ready_commands] )) ||
_acmctl__subcmd__help__subcmd__wait-ready_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl help wait-ready commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__log-level_commands] )) ||
_acmctl__subcmd__log-level_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl log-level commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__metrics_commands] )) ||
_acmctl__subcmd__metrics_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl metrics commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__record_commands] )) ||
_acmctl__subcmd__record_commands() {
    local commands; commands=(
'start:Start a recording. It can be shown and counted, but not replayed. For root and the daemon'\''s user' \
'stop:End the recording' \
'status:Show the newest file, the size and number of all files, and the remaining time. For members of the daemon'\''s group, too' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'acmctl record commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__record__subcmd__help_commands] )) ||
_acmctl__subcmd__record__subcmd__help_commands() {
    local commands; commands=(
'start:Start a recording. It can be shown and counted, but not replayed. For root and the daemon'\''s user' \
'stop:End the recording' \
'status:Show the newest file, the size and number of all files, and the remaining time. For members of the daemon'\''s group, too' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'acmctl record help commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__record__subcmd__help__subcmd__help_commands] )) ||
_acmctl__subcmd__record__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl record help help commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__record__subcmd__help__subcmd__start_commands] )) ||
_acmctl__subcmd__record__subcmd__help__subcmd__start_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl record help start commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__record__subcmd__help__subcmd__status_commands] )) ||
_acmctl__subcmd__record__subcmd__help__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl record help status commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__record__subcmd__help__subcmd__stop_commands] )) ||
_acmctl__subcmd__record__subcmd__help__subcmd__stop_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl record help stop commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__record__subcmd__start_commands] )) ||
_acmctl__subcmd__record__subcmd__start_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl record start commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__record__subcmd__status_commands] )) ||
_acmctl__subcmd__record__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl record status commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__record__subcmd__stop_commands] )) ||
_acmctl__subcmd__record__subcmd__stop_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl record stop commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__reload_commands] )) ||
_acmctl__subcmd__reload_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl reload commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__status_commands] )) ||
_acmctl__subcmd__status_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl status commands' commands "$@"
}
(( $+functions[_acmctl__subcmd__wait-ready_commands] )) ||
_acmctl__subcmd__wait-ready_commands() {
    local commands; commands=()
    _describe -t commands 'acmctl wait-ready commands' commands "$@"
}

if [ "$funcstack[1]" = "_acmctl" ]; then
    _acmctl "$@"
else
    compdef _acmctl acmctl
fi
