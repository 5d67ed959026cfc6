# needs: fstab
# variables: MOUNT MOUNT_TYPE MOUNT_POINT MOUNT_OPTIONS MOUNT_WAIT_S
client_mount_host() { case $MOUNT in \[*) echo "${MOUNT#?}" | cut -d ']' -f 1 ;; *) echo "$MOUNT" | sed 's,^tcp://,,; s/[@:].*//' ;; esac; }
client_mount_port() {
    case $MOUNT_TYPE in nfs | nfs4) echo 2049 ;; lustre) echo 988 ;; glusterfs) echo 24007 ;; moosefs) echo 9421 ;; ceph) echo 6789 ;; pvfs2) echo 3334 ;; esac
}
# As fstab and /proc have it.
client_mount_source() {
    case $MOUNT_TYPE in moosefs) echo mfsmount ;; ceph) echo none ;; *) echo "$MOUNT" ;; esac
}
client_mount_line() {
    options=_netdev,nofail${MOUNT_OPTIONS:+,$MOUNT_OPTIONS} type=$MOUNT_TYPE
    case $MOUNT_TYPE in
        moosefs) type=fuse options=mfsmaster=$(client_mount_host),$options ;;
        ceph) type=fuse.ceph options=ceph.conf=/etc/ceph/ceph.conf,$options ;;
        nfs) type=nfs4 ;;
    esac
    echo "$(client_mount_source) $MOUNT_POINT $type $options 0 0"
}
client_mount_is() {
    found=$(mount_at "$MOUNT_POINT")
    case $MOUNT_TYPE in
        moosefs) case $found in mfs#"$(client_mount_host)"* | "$(client_mount_host)"*' fuse.mfs' | 'mfsmount fuse.mfs') return 0 ;; esac ;;
        ceph) [ "$found" = 'ceph-fuse fuse.ceph-fuse' ] && return 0 ;;
        nfs) [ "$found" = "$MOUNT nfs4" ] && return 0 ;;
        glusterfs) [ "$found" = "$MOUNT fuse.glusterfs" ] && return 0 ;;
        *) [ "$found" = "$MOUNT $MOUNT_TYPE" ] && return 0 ;;
    esac
    return 1
}
client_mount_check() {
    [ -n "$MOUNT" ] || { echo "no mount is asked for" && return 0; }
    if [ -n "$(mount_at "$MOUNT_POINT")" ]; then
        client_mount_is || { echo "something else is mounted at $MOUNT_POINT: $(mount_at "$MOUNT_POINT")" && return 2; }
    else
        found=$(directory_fault "$MOUNT_POINT") && [ -z "$found" ] || { echo "$found" && return 2; }
    fi
    fstab_check "$(client_mount_line)" "$MOUNT_POINT" || return $?
    client_mount_is
}
client_mount_plan() {
    port=$(client_mount_port)
    [ -z "$port" ] || answers "$(client_mount_host)" "$port" || echo "$(client_mount_host) does not answer at port $port now"
    echo "mount $MOUNT at $MOUNT_POINT, and at each boot: $(client_mount_line)"
}
client_mount_run() {
    port=$(client_mount_port)
    if [ -n "$port" ]; then
        wait_until "$MOUNT_WAIT_S" answers "$(client_mount_host)" "$port" ||
            fail "$(client_mount_host) does not answer at port $port; is the server up, and does its firewall let this host in?"
    fi
    mkdir -p "$MOUNT_POINT"
    fstab_put "$(client_mount_line)" "$MOUNT_POINT"
    # A server answers as soon as its package is there, long before its disks are pooled and exported.
    [ -n "$(mount_at "$MOUNT_POINT")" ] || wait_until "$MOUNT_WAIT_S" timeout -k 5 120 sh -c 'mount "$0" 9>&-' "$MOUNT_POINT"
    client_mount_is || fail "mounted is $(mount_at "$MOUNT_POINT"), not $MOUNT"
    case ",$MOUNT_OPTIONS," in *,ro,*) return ;; esac
    write_probe "$MOUNT_POINT"
}
