# variables: NFSD_THREADS
# Before nfs-utils 2.3.3 there is no nfsconf, and a file of the distribution sets them.
nfs_threads_file() { if [ "$(family)" = apt ]; then echo /etc/default/nfs-kernel-server; else echo /etc/sysconfig/nfs; fi; }
nfs_threads_kept() {
    if has nfsconf; then [ "$(nfsconf --get nfsd threads)" = "$NFSD_THREADS" ]; else
        grep -qx "RPCNFSDCOUNT=$NFSD_THREADS" "$(nfs_threads_file)" 2>/dev/null
    fi
}
nfs_threads_check() {
    case $NFSD_THREADS in *[!0-9]* | '') echo "NFSD_THREADS is $NFSD_THREADS, not a number" && return 2 ;; esac
    [ "$(cat /proc/fs/nfsd/threads 2>/dev/null)" = "$NFSD_THREADS" ] && nfs_threads_kept
}
nfs_threads_plan() { echo "serve by $NFSD_THREADS threads of nfsd (now $(cat /proc/fs/nfsd/threads 2>/dev/null || echo none)), now and at each boot"; }
nfs_threads_run() {
    if has nfsconf; then
        nfsconf --set nfsd threads "$NFSD_THREADS"
    else
        add_line "$(nfs_threads_file)" 644 "RPCNFSDCOUNT=$NFSD_THREADS" '^RPCNFSDCOUNT='
    fi
    rpc.nfsd "$NFSD_THREADS"
}
