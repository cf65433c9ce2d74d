complete -c acm-replay -l plot -d 'Draw all requests over time into this file (SVG, for a browser) instead of replaying' -r -F
complete -c acm-replay -l anonymize -d 'Write a copy with other names and IP addresses, and replay the copy. GIDs, LIDs and user ids stay. The file must not exist yet; only its owner can read it' -r -F
complete -c acm-replay -l from -d 'Show only facts at or after this time of the core\'s clock' -r
complete -c acm-replay -l to -d 'Show only facts at or before this time of the core\'s clock' -r
complete -c acm-replay -l print -d 'Print one line for each fact instead of replaying: > is an input, < is an output'
complete -c acm-replay -l stats -d 'Print counts and durations instead of replaying'
complete -c acm-replay -s h -l help -d 'Print help (see more with \'--help\')'
complete -c acm-replay -s V -l version -d 'Print version'
