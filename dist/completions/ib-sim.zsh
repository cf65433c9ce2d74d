#compdef ib-sim

autoload -U is-at-least

_ib-sim() {
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
'-h[Print help]' \
'--help[Print help]' \
'-V[Print version]' \
'--version[Print version]' \
":: :_ib-sim_commands" \
"*::: :->ib-sim" \
&& ret=0
    case $state in
    (ib-sim)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:ib-sim-command-$line[1]:"
        case $line[1] in
            (serve)
_arguments "${_arguments_options[@]}" : \
'--socket=[Socket to serve on]:SOCKET:_files' \
'-n+[Number of nodes, named node1, node2, ...]:NODES:_default' \
'--nodes=[Number of nodes, named node1, node2, ...]:NODES:_default' \
'*--node=[Name of a node, in place of --nodes; may be given several times. NAME\:1 is another device at the host NAME]:NAME:_default' \
'--seed=[Seed of chance]:SEED:_default' \
'--ports=[Ports of each node]:PORTS:_default' \
'--lmc=[LID mask control of each port]:LMC:_default' \
'*--pkeys=[\`P_Key\` table of each port, in hex]:PKEYS:_default' \
'--mtu=[MTU of each port]:MTU:_default' \
'--rate=[Rate of each port in Gb/s]:RATE:_default' \
'--sm-lid=[LID of the subnet manager]:SM_LID:_default' \
'--subnet-timeout=[PortInfo.SubnetTimeOut\: a packet crosses the subnet in 4.096 us x 2^N]:N:_default' \
'*--virtual-fabric=[A virtual fabric, which the subnet administrator lists as that of Omni-Path does. May be repeated]:NAME:PKEY:SL:_default' \
'--loss=[Loss of datagrams (0.3 or 30%)]:PROBABILITY:_default' \
'--duplicate=[Duplication of datagrams]:PROBABILITY:_default' \
'--reorder=[Reordering of datagrams]:PROBABILITY:_default' \
'--delay-ms=[Time from sender to receiver, in ms]:MS:_default' \
'--jitter-ms=[At most how much is added to it by chance, in ms]:MS:_default' \
'*--set=[Any setting (\`ib-sim ctl ... settings\` lists them); may be given several times]:NAME=VALUE:_default' \
'--ibsim=[Let the subnet manager of a running ibsim administer the subnet (at most 9 nodes, with ibsim'\''s names). NAME is the first part of the names of ibsim'\''s sockets \[default\: \$IBSIM_SOCKNAME, else sim\]]::NAME:_default' \
'--tree=[Keep files of each host'\''s devices, as Linux'\''s sysfs has them, in DIR/HOST]:DIR:_files' \
'--trace=[Write what programs send to this file, a line each\: \`MICROSECONDS NODE/PORT mad|datagram HEX HEADERS\`]:FILE:_files' \
'--record=[Write every packet that crosses the fabric to this file, as Wireshark and \`acm-replay --print\` read it (pcapng)]:FILE:_files' \
'-h[Print help]' \
'--help[Print help]' \
&& ret=0
;;
(run)
_arguments "${_arguments_options[@]}" : \
'--socket=[Use the subnet that is served here (with --tree); if none is, serve one here. Without it\: one of its own]:SOCKET:_files' \
'-n+[Number of nodes, named node1, node2, ...]:NODES:_default' \
'--nodes=[Number of nodes, named node1, node2, ...]:NODES:_default' \
'*--node=[Name of a node, in place of --nodes; may be given several times. NAME\:1 is another device at the host NAME]:NAME:_default' \
'--seed=[Seed of chance]:SEED:_default' \
'--ports=[Ports of each node]:PORTS:_default' \
'--lmc=[LID mask control of each port]:LMC:_default' \
'*--pkeys=[\`P_Key\` table of each port, in hex]:PKEYS:_default' \
'--mtu=[MTU of each port]:MTU:_default' \
'--rate=[Rate of each port in Gb/s]:RATE:_default' \
'--sm-lid=[LID of the subnet manager]:SM_LID:_default' \
'--subnet-timeout=[PortInfo.SubnetTimeOut\: a packet crosses the subnet in 4.096 us x 2^N]:N:_default' \
'*--virtual-fabric=[A virtual fabric, which the subnet administrator lists as that of Omni-Path does. May be repeated]:NAME:PKEY:SL:_default' \
'--loss=[Loss of datagrams (0.3 or 30%)]:PROBABILITY:_default' \
'--duplicate=[Duplication of datagrams]:PROBABILITY:_default' \
'--reorder=[Reordering of datagrams]:PROBABILITY:_default' \
'--delay-ms=[Time from sender to receiver, in ms]:MS:_default' \
'--jitter-ms=[At most how much is added to it by chance, in ms]:MS:_default' \
'*--set=[Any setting (\`ib-sim ctl ... settings\` lists them); may be given several times]:NAME=VALUE:_default' \
'--ibsim=[Let the subnet manager of a running ibsim administer the subnet (at most 9 nodes, with ibsim'\''s names). NAME is the first part of the names of ibsim'\''s sockets \[default\: \$IBSIM_SOCKNAME, else sim\]]::NAME:_default' \
'--tree=[Keep files of each host'\''s devices, as Linux'\''s sysfs has them, in DIR/HOST]:DIR:_files' \
'--trace=[Write what programs send to this file, a line each\: \`MICROSECONDS NODE/PORT mad|datagram HEX HEADERS\`]:FILE:_files' \
'--record=[Write every packet that crosses the fabric to this file, as Wireshark and \`acm-replay --print\` read it (pcapng)]:FILE:_files' \
'*--only=[Only at this node of the subnet; may be given several times]:NAME:_default' \
'--dir=[Where each node'\''s \`run\` and \`etc-rdma\` are (in DIR/NODE)\: its /run and /etc/rdma in namespaces. Kept]:DIR:_files' \
'--preload=[The preload library \[default\: \`libib_sim_preload.so\` beside this program, or installed with it\]]:FILE:_files' \
'--no-namespaces[Even as root, do not make namespaces\: the environment alone gives programs their node]' \
'--stand-in[Also give the library to programs that open \`libibverbs.so.1\` themselves (\`dlopen\`), by \`LD_LIBRARY_PATH\`. The loader warns of programs that are linked to it then]' \
'-h[Print help]' \
'--help[Print help]' \
'*::command -- The program and its arguments. Its environment has `IB_SIM_NODE`, the node'\''s name:_default' \
&& ret=0
;;
(enter)
_arguments "${_arguments_options[@]}" : \
'--namespaces=[Directory of the node, with \`run\` and \`etc-rdma\`\: gives the program mount and network namespaces]:NAMESPACES:_files' \
'--preload=[The library that makes programs see the node'\''s devices]:PRELOAD:_files' \
'--stand-in=[Directory with another \`libibverbs.so.1\`]:STAND_IN:_files' \
'-h[Print help]' \
'--help[Print help]' \
'*::command -- The program and its arguments:_default' \
&& ret=0
;;
(ctl)
_arguments "${_arguments_options[@]}" : \
'--socket=[The server'\''s socket]:SOCKET:_files' \
'-h[Print help]' \
'--help[Print help]' \
'*::command -- The command:_default' \
&& ret=0
;;
(help)
_arguments "${_arguments_options[@]}" : \
":: :_ib-sim__subcmd__help_commands" \
"*::: :->help" \
&& ret=0

    case $state in
    (help)
        words=($line[1] "${words[@]}")
        (( CURRENT += 1 ))
        curcontext="${curcontext%:*:*}:ib-sim-help-command-$line[1]:"
        case $line[1] in
            (serve)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(run)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(enter)
_arguments "${_arguments_options[@]}" : \
&& ret=0
;;
(ctl)
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

(( $+functions[_ib-sim_commands] )) ||
_ib-sim_commands() {
    local commands; commands=(
'serve:Serves a subnet until it gets SIGTERM or SIGINT; prints one line when it is ready' \
'run:Runs a program at each node, on the node'\''s simulated devices, and waits for all of them' \
'enter:Becomes the program of \`run\` at one node' \
'ctl:Gives a served subnet a command and prints the answer; \`help\` lists them' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'ib-sim commands' commands "$@"
}
(( $+functions[_ib-sim__subcmd__ctl_commands] )) ||
_ib-sim__subcmd__ctl_commands() {
    local commands; commands=()
    _describe -t commands 'ib-sim ctl commands' commands "$@"
}
(( $+functions[_ib-sim__subcmd__enter_commands] )) ||
_ib-sim__subcmd__enter_commands() {
    local commands; commands=()
    _describe -t commands 'ib-sim enter commands' commands "$@"
}
(( $+functions[_ib-sim__subcmd__help_commands] )) ||
_ib-sim__subcmd__help_commands() {
    local commands; commands=(
'serve:Serves a subnet until it gets SIGTERM or SIGINT; prints one line when it is ready' \
'run:Runs a program at each node, on the node'\''s simulated devices, and waits for all of them' \
'enter:Becomes the program of \`run\` at one node' \
'ctl:Gives a served subnet a command and prints the answer; \`help\` lists them' \
'help:Print this message or the help of the given subcommand(s)' \
    )
    _describe -t commands 'ib-sim help commands' commands "$@"
}
(( $+functions[_ib-sim__subcmd__help__subcmd__ctl_commands] )) ||
_ib-sim__subcmd__help__subcmd__ctl_commands() {
    local commands; commands=()
    _describe -t commands 'ib-sim help ctl commands' commands "$@"
}
(( $+functions[_ib-sim__subcmd__help__subcmd__enter_commands] )) ||
_ib-sim__subcmd__help__subcmd__enter_commands() {
    local commands; commands=()
    _describe -t commands 'ib-sim help enter commands' commands "$@"
}
(( $+functions[_ib-sim__subcmd__help__subcmd__help_commands] )) ||
_ib-sim__subcmd__help__subcmd__help_commands() {
    local commands; commands=()
    _describe -t commands 'ib-sim help help commands' commands "$@"
}
(( $+functions[_ib-sim__subcmd__help__subcmd__run_commands] )) ||
_ib-sim__subcmd__help__subcmd__run_commands() {
    local commands; commands=()
    _describe -t commands 'ib-sim help run commands' commands "$@"
}
(( $+functions[_ib-sim__subcmd__help__subcmd__serve_commands] )) ||
_ib-sim__subcmd__help__subcmd__serve_commands() {
    local commands; commands=()
    _describe -t commands 'ib-sim help serve commands' commands "$@"
}
(( $+functions[_ib-sim__subcmd__run_commands] )) ||
_ib-sim__subcmd__run_commands() {
    local commands; commands=()
    _describe -t commands 'ib-sim run commands' commands "$@"
}
(( $+functions[_ib-sim__subcmd__serve_commands] )) ||
_ib-sim__subcmd__serve_commands() {
    local commands; commands=()
    _describe -t commands 'ib-sim serve commands' commands "$@"
}

if [ "$funcstack[1]" = "_ib-sim" ]; then
    _ib-sim "$@"
else
    compdef _ib-sim ib-sim
fi
