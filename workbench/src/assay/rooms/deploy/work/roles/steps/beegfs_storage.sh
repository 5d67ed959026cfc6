# needs: beegfs
# variables: EXPORT
beegfs_storage_packages() { echo beegfs-storage; }
beegfs_storage_check() { beegfs_check storage storeStorageDirectory "$EXPORT/storage"; }
beegfs_storage_plan() { echo "run a storage service of BeeGFS for $(first_server), with its data in $EXPORT/storage"; }
beegfs_storage_run() { beegfs_run storage storeStorageDirectory "$EXPORT/storage"; }
