# needs: beegfs
# variables: EXPORT
beegfs_management_packages() { echo beegfs-mgmtd; }
beegfs_management_check() { beegfs_check mgmtd storeMgmtdDirectory "$EXPORT/mgmtd"; }
beegfs_management_plan() { echo "run the management service of BeeGFS, with its data in $EXPORT/mgmtd"; }
beegfs_management_run() { beegfs_run mgmtd storeMgmtdDirectory "$EXPORT/mgmtd"; }
