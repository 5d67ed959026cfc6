# needs: beegfs
# variables: EXPORT
beegfs_metadata_packages() { echo beegfs-meta; }
beegfs_metadata_check() { beegfs_check meta storeMetaDirectory "$EXPORT/meta"; }
beegfs_metadata_plan() { echo "run a metadata service of BeeGFS for $(first_server), with its data in $EXPORT/meta"; }
beegfs_metadata_run() { beegfs_run meta storeMetaDirectory "$EXPORT/meta"; }
