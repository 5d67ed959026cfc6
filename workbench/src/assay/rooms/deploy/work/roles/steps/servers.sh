# variables: SERVERS
# Helpers: which of the servers of a file system this host is. The first one makes what there is once.
own_addresses() { ip -o addr show | awk '{sub("/.*", "", $4); print $4}'; }
# Which of SERVERS is this host; nothing if none is.
own_server() {
    for one in $SERVERS; do
        case $one in "$HOST_NAME" | "$(uname -n)") echo "$one" && return ;; esac
        for address in $(getent ahosts "$one" | awk '{print $1}'); do
            if own_addresses | grep -qxF "$address"; then echo "$one" && return; fi
        done
    done
}
first_server() { echo "${SERVERS%% *}"; }
is_first() { [ "$(own_server)" = "$(first_server)" ]; }
