# needs: moosefs
# variables: SERVERS ALLOWED
moosefs_master_exports() { for range in $ALLOWED; do echo "$range / rw,alldirs,admin,maproot=0:0"; done; }
moosefs_master_check() {
    is_first || { echo "this host is not the first of SERVERS: $SERVERS" && return 2; }
    server_configuration | has_text /etc/mfs/mfsmaster.cfg && moosefs_master_exports | has_text /var/lib/mfs/exports && service_is_on moosefs-master
}
moosefs_master_plan() { echo "run the master of MooseFS for clients in $ALLOWED"; }
moosefs_master_run() {
    own_address >/dev/null
    server_configuration | put_file /etc/mfs/mfsmaster.cfg 644
    moosefs_master_exports | put_file /var/lib/mfs/exports 644
    [ -e /var/lib/mfs/topology ] || : | put_file /var/lib/mfs/topology 644
    # Names and places of all files: never a new one beside one that is there.
    if ! [ -e /var/lib/mfs/metadata.mfs ] && ! [ -e /var/lib/mfs/metadata.mfs.back ]; then
        printf 'MFSM NEW' | put_file /var/lib/mfs/metadata.mfs 640
    fi
    if id mfs >/dev/null 2>&1; then chown -R mfs:mfs /var/lib/mfs; fi
    service_on moosefs-master
}
