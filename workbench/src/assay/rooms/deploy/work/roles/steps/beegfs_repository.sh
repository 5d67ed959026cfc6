# needs: packages
# variables: BEEGFS_VERSION
beegfs_repository_url() { echo "https://www.beegfs.io/release/beegfs_$BEEGFS_VERSION"; }
beegfs_repository_line() {
    echo "deb [signed-by=/etc/apt/keyrings/beegfs.asc] $(beegfs_repository_url)/ $(os_value VERSION_CODENAME) non-free"
}
beegfs_repository_file() { echo "/etc/yum.repos.d/beegfs-$BEEGFS_VERSION.repo"; }
beegfs_repository_check() {
    if [ "$(family)" = apt ]; then
        beegfs_repository_line | has_text /etc/apt/sources.list.d/beegfs.list && [ -s /etc/apt/keyrings/beegfs.asc ]
    else
        [ -s "$(beegfs_repository_file)" ]
    fi
}
beegfs_repository_plan() { echo "add the package repository of BeeGFS $BEEGFS_VERSION: $(beegfs_repository_url)"; }
beegfs_repository_run() {
    if [ "$(family)" = apt ]; then
        key=$(download "$(beegfs_repository_url)/gpg/GPG-KEY-beegfs")
        echo "$key" | put_file /etc/apt/keyrings/beegfs.asc 644
        beegfs_repository_line | put_file /etc/apt/sources.list.d/beegfs.list 644
    else
        version=$(os_value VERSION_ID)
        repository=$(download "$(beegfs_repository_url)/dists/beegfs-rhel${version%%.*}.repo")
        echo "$repository" | put_file "$(beegfs_repository_file)" 644
    fi
}
