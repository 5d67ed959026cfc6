# needs: fstab
# variables: EXPORT ALLOWED EXPORT_OPTIONS POOL
# mp: nothing is exported while the file system is not mounted, instead of the root disk below it.
nfs_export_text() {
    [ "$POOL" = none ] && mp='' || mp=,mp
    for range in $ALLOWED; do echo "$EXPORT $range($EXPORT_OPTIONS$mp)"; done
}
nfs_export_check() {
    case $ALLOWED in *'*'* | *'('*) echo "ALLOWED is $ALLOWED; write ranges such as 10.0.0.0/16" && return 2 ;; esac
    other=$(set +f && cat /etc/exports /etc/exports.d/*.exports 2>/dev/null | awk -v at="$EXPORT" '$1 == at' | sort | uniq)
    other=$(echo "$other" | grep . | grep -vxF "$(cat /etc/exports.d/assay.exports 2>/dev/null || echo none)")
    [ -z "$other" ] || { echo "$EXPORT is exported already: $other" && return 2; }
    nfs_export_text | has_text /etc/exports.d/assay.exports && nfs_mount_port_is && service_is_on "$(nfs_service)" && exportfs -s | grep -q "^$EXPORT "
}
# NFS 3 mounts by a service of its own; a firewall has to know its port. Before nfs-utils 2.3.3 there is no nfsconf.
NFS_MOUNT_PORT=20048
nfs_mount_port_is() { ! has nfsconf || [ "$(nfsconf --get mountd port)" = "$NFS_MOUNT_PORT" ]; }
# With systemd, nfs-kernel-server of Debian is only another name, which cannot be enabled.
nfs_service() { if has_systemd || [ "$(family)" = dnf ]; then echo nfs-server; else echo nfs-kernel-server; fi; }
nfs_export_plan() { nfs_export_text | sed 's/^/export /'; }
nfs_export_run() {
    nfs_export_text | put_file /etc/exports.d/assay.exports 644
    # exportfs wants it even if all exports are in exports.d.
    [ -e /etc/exports ] || : | put_file /etc/exports 644
    if ! nfs_mount_port_is; then
        nfsconf --set mountd port "$NFS_MOUNT_PORT"
        service_on "$(nfs_service)"
    fi
    service_is_on "$(nfs_service)" || service_on "$(nfs_service)"
    exportfs -ra
}
