# needs: beegfs
# variables: MOUNT_POINT MOUNT_WAIT_S SERVERS
beegfs_client_packages() {
    echo beegfs-client beegfs-helperd beegfs-utils
    if [ "$1" = apt ]; then echo "linux-headers-$(uname -r)"; else echo "kernel-devel-$(uname -r)" gcc make elfutils-libelf-devel; fi
}
beegfs_client_mounts() { echo "$MOUNT_POINT /etc/beegfs/beegfs-client.conf"; }
beegfs_client_check() {
    found=$(mount_at "$MOUNT_POINT")
    case $found in
        '') reason=$(directory_fault "$MOUNT_POINT") && [ -z "$reason" ] || { echo "$reason" && return 2; } ;;
        'beegfs_nodev beegfs') ;;
        *) echo "something else is mounted at $MOUNT_POINT: $found" && return 2 ;;
    esac
    conf_is /etc/beegfs/beegfs-client.conf sysMgmtdHost "$(first_server)" && beegfs_client_mounts | has_text /etc/beegfs/beegfs-mounts.conf &&
        beegfs_auth_is /etc/beegfs/beegfs-client.conf && service_is_on beegfs-client && [ -n "$found" ]
}
beegfs_client_plan() { echo "mount BeeGFS of $(first_server) at $MOUNT_POINT; its kernel module is built for this kernel"; }
beegfs_client_run() {
    wait_until "$MOUNT_WAIT_S" answers "$(first_server)" 8008 || fail "the management service on $(first_server) does not answer at port 8008"
    /opt/beegfs/sbin/beegfs-setup-client -m "$(first_server)"
    for conf in client helperd; do beegfs_auth_set "/etc/beegfs/beegfs-$conf.conf"; done
    mkdir -p "$MOUNT_POINT"
    beegfs_client_mounts | put_file /etc/beegfs/beegfs-mounts.conf 644
    service_on beegfs-helperd
    service_on beegfs-client
    write_probe "$MOUNT_POINT"
}
