# needs: fstab servers
# variables: SERVERS EXPORT VOLUME
glusterfs_volume_check() {
    [ -n "$(own_server)" ] || { echo "this host is none of SERVERS: $SERVERS" && return 2; }
    service_is_on glusterd || return 1
    is_first || { echo "$(first_server) makes the volume" && return 0; }
    timeout 60 gluster volume info assay 2>/dev/null | grep -qx 'Status: Started'
}
glusterfs_volume_plan() {
    echo "run glusterd"
    is_first && echo "make the volume assay ($VOLUME) over $EXPORT of $SERVERS"
    return 0
}
glusterfs_volume_run() {
    service_is_on glusterd || service_on glusterd
    is_first || return 0
    for server in $SERVERS; do wait_until 900 answers "$server" 24007 || fail "glusterd on $server does not answer"; done
    if gluster volume info assay >/dev/null 2>&1; then gluster --mode=script volume start assay; else server_configuration; fi
}
