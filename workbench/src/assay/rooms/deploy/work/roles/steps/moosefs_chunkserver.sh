# needs: moosefs
# variables: SERVERS EXPORT
moosefs_chunkserver_check() {
    server_configuration | has_text /etc/mfs/mfschunkserver.cfg && echo "$EXPORT/chunks" | has_text /var/lib/mfs/disks && service_is_on moosefs-chunkserver
}
moosefs_chunkserver_plan() { echo "keep chunks for the master $(first_server) in $EXPORT/chunks"; }
moosefs_chunkserver_run() {
    own_address >/dev/null
    mkdir -p "$EXPORT/chunks" /var/lib/mfs
    if id mfs >/dev/null 2>&1; then chown mfs:mfs "$EXPORT/chunks" /var/lib/mfs; fi
    server_configuration | put_file /etc/mfs/mfschunkserver.cfg 644
    echo "$EXPORT/chunks" | put_file /var/lib/mfs/disks 644
    service_on moosefs-chunkserver
}
