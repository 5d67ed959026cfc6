# needs: packages fstab servers
# variables: SERVERS EXPORT BEEGFS_AUTH_FILE
# Helpers: a service of BeeGFS, as the vendor's quick start guide sets it up. The management host is the first of SERVERS.
# A line `KEY = VALUE` of a configuration, in place of the one that is there.
conf_is() { grep -q "^ *$2 *= *$(echo "$3" | sed 's/[].[*^$\/]/\\&/g') *\$" "$1" 2>/dev/null; }
conf_set() { add_line "$1" 644 "$2 = $3" "^ *$2 *="; }
beegfs_auth_is() {
    if [ -n "$BEEGFS_AUTH_FILE" ]; then conf_is "$1" connAuthFile "$BEEGFS_AUTH_FILE"; else conf_is "$1" connDisableAuthentication true; fi
}
beegfs_auth_set() {
    if [ -n "$BEEGFS_AUTH_FILE" ]; then
        [ -s "$BEEGFS_AUTH_FILE" ] || fail "$BEEGFS_AUTH_FILE is not there; put the shared secret of all hosts there, with mode 0400"
        conf_set "$1" connAuthFile "$BEEGFS_AUTH_FILE"
    else
        conf_set "$1" connDisableAuthentication true
    fi
}
# Service, key of its directory, directory.
beegfs_check() {
    conf=/etc/beegfs/beegfs-$1.conf
    conf_is "$conf" "$2" "$3" && beegfs_auth_is "$conf" && service_is_on "beegfs-$1"
}
beegfs_run() {
    conf=/etc/beegfs/beegfs-$1.conf
    if ! conf_is "$conf" "$2" "$3"; then
        mkdir -p "$3"
        if [ "$1" = mgmtd ]; then
            /opt/beegfs/sbin/beegfs-setup-mgmtd -p "$3"
        else
            "/opt/beegfs/sbin/beegfs-setup-$1" -p "$3" -m "$(first_server)"
        fi
    fi
    beegfs_auth_set "$conf"
    service_on "beegfs-$1"
}
