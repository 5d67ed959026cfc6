# needs: servers
# variables: SERVERS
# The address by which the first server sees this host.
own_address() {
    own=$(own_server)
    if [ -z "$own" ]; then
        own=$(ip -o route get "$(getent ahosts "$(first_server)" | awk '{print $1; exit}')" | sed -n 's/.* src \([^ ]*\).*/\1/p')
    fi
    [ -n "$own" ] || fail "there is no way from this host to $(first_server)"
    echo "$own"
}
