# needs: packages
# variables: ORANGEFS_SOURCE ORANGEFS_SHA256
# Fedora and EPEL have packages; elsewhere it is built from its source, as its own quick start guide has it.
orangefs_packages() {
    if [ "$1" = dnf ]; then echo orangefs orangefs-server; else echo gcc make flex bison perl libssl-dev libattr1-dev curl ca-certificates; fi
}
orangefs_program() {
    for one in /opt/orangefs/sbin /opt/orangefs/bin /usr/sbin /usr/bin; do
        if [ -x "$one/$1" ]; then echo "$one/$1" && return; fi
    done
    return 1
}
orangefs_check() { orangefs_program pvfs2-server; }
orangefs_plan() { if [ "$(family)" = apt ]; then echo "build OrangeFS in /opt/orangefs from $ORANGEFS_SOURCE"; else echo "install OrangeFS with dnf"; fi; }
orangefs_run() {
    [ "$(family)" = apt ] || fail "the packages brought no pvfs2-server; OrangeFS is in EPEL"
    source=$WORK/orangefs.tar.gz build=/var/tmp/assay-orangefs
    download "$ORANGEFS_SOURCE" >"$source"
    is=$(sha256sum "$source" | cut -d ' ' -f 1)
    [ -z "$ORANGEFS_SHA256" ] || [ "$is" = "$ORANGEFS_SHA256" ] || fail "$ORANGEFS_SOURCE has SHA-256 $is, not $ORANGEFS_SHA256"
    mkdir -p "$build"
    tar -xzf "$source" -C "$build" --strip-components=1
    cd "$build"
    # It defines some variables in several files, which gcc takes since version 10 only with -fcommon.
    CFLAGS='-O2 -fcommon -w' ./configure --prefix=/opt/orangefs --with-db-backend=lmdb --enable-shared
    make -j "$(nproc)" && make install
}
