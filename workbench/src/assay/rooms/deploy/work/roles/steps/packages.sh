# variables: PROXY
packages_wanted() {
    if [ "$(family)" = apt ]; then echo "$APT_PACKAGES"; else echo "$DNF_PACKAGES"; fi | tr ' ' '\n'
    for one in $STEPS; do
        if has "${one}_packages"; then "${one}_packages" "$(family)" | tr ' ' '\n'; fi
    done
    if [ -n "$SIGNAL_URL" ] && ! has curl; then echo curl; fi
}
packages_missing() {
    for package in $(packages_wanted | grep . | sort -u); do
        if [ "$(family)" = apt ]; then
            [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
        else
            rpm -q --quiet --whatprovides "$package" || echo "$package"
        fi
    done
}
packages_check() {
    family >/dev/null || return $?
    [ -z "$(packages_missing)" ]
}
packages_plan() { echo "install $(packages_missing | tr '\n' ' ')with $(family)"; }
packages_run() {
    # shellcheck disable=SC2046
    packages_install $(packages_missing)
}
packages_install() {
    if [ -n "$PROXY" ]; then export http_proxy="$PROXY" https_proxy="$PROXY"; fi
    if [ "$(family)" = apt ]; then
        # After a reboot in the middle apt-get refuses to do anything; another program's dpkg has files there, too.
        [ -z "$(ls /var/lib/dpkg/updates 2>/dev/null)" ] || wait_until 600 dpkg --configure -a
        wait_until 300 apt-get -q -o DPkg::Lock::Timeout=600 -o APT::Update::Error-Mode=any update
        apt-get -q -y -o DPkg::Lock::Timeout=600 install --no-install-recommends "$@"
    else
        "$(if has dnf; then echo dnf; else echo yum; fi)" -q -y install "$@"
    fi
}
# Prints what is at an address.
download() {
    has curl || packages_install curl ca-certificates >&2
    curl -fsSL --retry 5 --max-time 600 ${PROXY:+--proxy "$PROXY"} "$1"
}
os_value() { sed -n "s/^$1=//p" /etc/os-release | tr -d '"'; }
