# needs: packages
# The clients of FSx for Lustre come from AWS; they exist for Amazon Linux, RHEL and Ubuntu.
lustre_repository_packages() { if [ "$1" = apt ]; then echo "lustre-client-modules-$(uname -r)"; else echo lustre-client; fi; }
lustre_repository_line() {
    echo "deb [signed-by=/etc/apt/keyrings/fsx.asc] https://fsx-lustre-client-repo.s3.amazonaws.com/ubuntu $(os_value VERSION_CODENAME) main"
}
lustre_repository_check() {
    [ "$(family)" = apt ] || { echo "$(os_value ID) has the client" && return 0; }
    [ "$(os_value ID)" = ubuntu ] || { echo "AWS has no Lustre client for $(os_value ID); take an image of Ubuntu or Amazon Linux 2023" && return 2; }
    lustre_repository_line | has_text /etc/apt/sources.list.d/fsx.list && [ -s /etc/apt/keyrings/fsx.asc ]
}
lustre_repository_plan() { echo "add the package repository of FSx for Lustre"; }
lustre_repository_run() {
    key=$(download https://fsx-lustre-client-repo-public-keys.s3.amazonaws.com/fsx-ubuntu-public-key.asc)
    echo "$key" | put_file /etc/apt/keyrings/fsx.asc 644
    lustre_repository_line | put_file /etc/apt/sources.list.d/fsx.list 644
}
