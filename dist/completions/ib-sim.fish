# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_ib_sim_global_optspecs
    string join \n h/help V/version
end

function __fish_ib_sim_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_ib_sim_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_ib_sim_using_subcommand
    set -l cmd (__fish_ib_sim_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c ib-sim -n "__fish_ib_sim_needs_command" -s h -l help -d 'Print help'
complete -c ib-sim -n "__fish_ib_sim_needs_command" -s V -l version -d 'Print version'
complete -c ib-sim -n "__fish_ib_sim_needs_command" -f -a "serve" -d 'Serves a subnet until it gets SIGTERM or SIGINT; prints one line when it is ready'
complete -c ib-sim -n "__fish_ib_sim_needs_command" -f -a "run" -d 'Runs a program at each node, on the node\'s simulated devices, and waits for all of them'
complete -c ib-sim -n "__fish_ib_sim_needs_command" -f -a "enter" -d 'Becomes the program of `run` at one node'
complete -c ib-sim -n "__fish_ib_sim_needs_command" -f -a "ctl" -d 'Gives a served subnet a command and prints the answer; `help` lists them'
complete -c ib-sim -n "__fish_ib_sim_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c ib-sim -n "__fish_ib_sim_using_subcommand serve" -l socket -d 'Socket to serve on' -r -F
complete -c ib-sim -n "__fish_ib_sim_using_subcommand serve" -s n -l nodes -d 'Number of nodes, named node1, node2, ...' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand serve" -l node -d 'Name of a node, in place of --nodes; may be given several times. NAME:1 is another device at the host NAME' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand serve" -l seed -d 'Seed of chance' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand serve" -l ports -d 'Ports of each node' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand serve" -l lmc -d 'LID mask control of each port' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand serve" -l pkeys -d '`P_Key` table of each port, in hex' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand serve" -l mtu -d 'MTU of each port' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand serve" -l rate -d 'Rate of each port in Gb/s' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand serve" -l sm-lid -d 'LID of the subnet manager' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand serve" -l subnet-timeout -d 'PortInfo.SubnetTimeOut: a packet crosses the subnet in 4.096 us x 2^N' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand serve" -l virtual-fabric -d 'A virtual fabric, which the subnet administrator lists as that of Omni-Path does. May be repeated' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand serve" -l loss -d 'Loss of datagrams (0.3 or 30%)' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand serve" -l duplicate -d 'Duplication of datagrams' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand serve" -l reorder -d 'Reordering of datagrams' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand serve" -l delay-ms -d 'Time from sender to receiver, in ms' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand serve" -l jitter-ms -d 'At most how much is added to it by chance, in ms' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand serve" -l set -d 'Any setting (`ib-sim ctl ... settings` lists them); may be given several times' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand serve" -l ibsim -d 'Let the subnet manager of a running ibsim administer the subnet (at most 9 nodes, with ibsim\'s names). NAME is the first part of the names of ibsim\'s sockets [default: $IBSIM_SOCKNAME, else sim]' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand serve" -l tree -d 'Keep files of each host\'s devices, as Linux\'s sysfs has them, in DIR/HOST' -r -F
complete -c ib-sim -n "__fish_ib_sim_using_subcommand serve" -l trace -d 'Write what programs send to this file, a line each: `MICROSECONDS NODE/PORT mad|datagram HEX HEADERS`' -r -F
complete -c ib-sim -n "__fish_ib_sim_using_subcommand serve" -l record -d 'Write every packet that crosses the fabric to this file, as Wireshark and `acm-replay --print` read it (pcapng)' -r -F
complete -c ib-sim -n "__fish_ib_sim_using_subcommand serve" -s h -l help -d 'Print help'
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -l socket -d 'Use the subnet that is served here (with --tree); if none is, serve one here. Without it: one of its own' -r -F
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -s n -l nodes -d 'Number of nodes, named node1, node2, ...' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -l node -d 'Name of a node, in place of --nodes; may be given several times. NAME:1 is another device at the host NAME' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -l seed -d 'Seed of chance' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -l ports -d 'Ports of each node' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -l lmc -d 'LID mask control of each port' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -l pkeys -d '`P_Key` table of each port, in hex' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -l mtu -d 'MTU of each port' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -l rate -d 'Rate of each port in Gb/s' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -l sm-lid -d 'LID of the subnet manager' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -l subnet-timeout -d 'PortInfo.SubnetTimeOut: a packet crosses the subnet in 4.096 us x 2^N' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -l virtual-fabric -d 'A virtual fabric, which the subnet administrator lists as that of Omni-Path does. May be repeated' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -l loss -d 'Loss of datagrams (0.3 or 30%)' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -l duplicate -d 'Duplication of datagrams' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -l reorder -d 'Reordering of datagrams' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -l delay-ms -d 'Time from sender to receiver, in ms' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -l jitter-ms -d 'At most how much is added to it by chance, in ms' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -l set -d 'Any setting (`ib-sim ctl ... settings` lists them); may be given several times' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -l ibsim -d 'Let the subnet manager of a running ibsim administer the subnet (at most 9 nodes, with ibsim\'s names). NAME is the first part of the names of ibsim\'s sockets [default: $IBSIM_SOCKNAME, else sim]' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -l tree -d 'Keep files of each host\'s devices, as Linux\'s sysfs has them, in DIR/HOST' -r -F
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -l trace -d 'Write what programs send to this file, a line each: `MICROSECONDS NODE/PORT mad|datagram HEX HEADERS`' -r -F
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -l record -d 'Write every packet that crosses the fabric to this file, as Wireshark and `acm-replay --print` read it (pcapng)' -r -F
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -l only -d 'Only at this node of the subnet; may be given several times' -r
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -l dir -d 'Where each node\'s `run` and `etc-rdma` are (in DIR/NODE): its /run and /etc/rdma in namespaces. Kept' -r -F
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -l preload -d 'The preload library [default: `libib_sim_preload.so` beside this program, or installed with it]' -r -F
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -l no-namespaces -d 'Even as root, do not make namespaces: the environment alone gives programs their node'
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -l stand-in -d 'Also give the library to programs that open `libibverbs.so.1` themselves (`dlopen`), by `LD_LIBRARY_PATH`. The loader warns of programs that are linked to it then'
complete -c ib-sim -n "__fish_ib_sim_using_subcommand run" -s h -l help -d 'Print help'
complete -c ib-sim -n "__fish_ib_sim_using_subcommand enter" -l namespaces -d 'Directory of the node, with `run` and `etc-rdma`: gives the program mount and network namespaces' -r -F
complete -c ib-sim -n "__fish_ib_sim_using_subcommand enter" -l preload -d 'The library that makes programs see the node\'s devices' -r -F
complete -c ib-sim -n "__fish_ib_sim_using_subcommand enter" -l stand-in -d 'Directory with another `libibverbs.so.1`' -r -F
complete -c ib-sim -n "__fish_ib_sim_using_subcommand enter" -s h -l help -d 'Print help'
complete -c ib-sim -n "__fish_ib_sim_using_subcommand ctl" -l socket -d 'The server\'s socket' -r -F
complete -c ib-sim -n "__fish_ib_sim_using_subcommand ctl" -s h -l help -d 'Print help'
complete -c ib-sim -n "__fish_ib_sim_using_subcommand help; and not __fish_seen_subcommand_from serve run enter ctl help" -f -a "serve" -d 'Serves a subnet until it gets SIGTERM or SIGINT; prints one line when it is ready'
complete -c ib-sim -n "__fish_ib_sim_using_subcommand help; and not __fish_seen_subcommand_from serve run enter ctl help" -f -a "run" -d 'Runs a program at each node, on the node\'s simulated devices, and waits for all of them'
complete -c ib-sim -n "__fish_ib_sim_using_subcommand help; and not __fish_seen_subcommand_from serve run enter ctl help" -f -a "enter" -d 'Becomes the program of `run` at one node'
complete -c ib-sim -n "__fish_ib_sim_using_subcommand help; and not __fish_seen_subcommand_from serve run enter ctl help" -f -a "ctl" -d 'Gives a served subnet a command and prints the answer; `help` lists them'
complete -c ib-sim -n "__fish_ib_sim_using_subcommand help; and not __fish_seen_subcommand_from serve run enter ctl help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
