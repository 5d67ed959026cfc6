set -uf
umask 022
export LC_ALL=C DEBIAN_FRONTEND=noninteractive LVM_SUPPRESS_FD_WARNINGS=1
PATH=${PATH:-/usr/bin:/bin}:/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin
STATE=/var/lib/assay
PLAN='' PRINT_JSON='' RECORDS='' FAILED=''

# A check of a step ends with 0: it is so, 1: it is not, 2 and a reason: it must not be made so. Commands in it, too, end with 2
# (grep without a file, getent without a host) or more (systemctl); that only says that it is not so.
REFUSED=9
fail() {
    echo "error: $*" >&2
    exit "$REFUSED"
}
has() { command -v "$1" >/dev/null 2>&1; }
family() {
    if has apt-get; then echo apt; elif has dnf || has yum; then echo dnf; else fail "neither apt-get nor dnf is here"; fi
}
# Tries again after pauses of 5 s, in all for about so many seconds.
wait_until() {
    tries=$(($1 / 5))
    shift
    until "$@"; do
        [ "$tries" -gt 0 ] || return 1
        tries=$((tries - 1))
        sleep 5 || return 1
    done
}
# Takes the text from standard input; the old file stays whole until the new one is, after a loss of power too.
put_file() {
    mkdir -p "$(dirname "$1")" && put_to=$(readlink -f "$1") && cat >"$put_to.assay-new" &&
        chmod "$2" "$put_to.assay-new" && sync "$put_to.assay-new" && mv "$put_to.assay-new" "$put_to"
}
# File, mode, line, and a pattern of the lines that it replaces; a file that cannot be read is left as it is.
add_line() {
    old=
    if [ -e "$1" ]; then old=$(awk -v out="${4:-}" 'out == "" || $0 !~ out' "$1") || fail "$1 cannot be read"; fi
    { [ -z "$old" ] || printf '%s\n' "$old"; printf '%s\n' "$3"; } | put_file "$1" "$2"
}
has_text() { [ -f "$1" ] && cmp -s - "$1"; }
has_systemd() { [ -d /run/systemd/system ] && has systemctl; }
service_is_on() {
    if has_systemd; then
        systemctl -q is-active "$1" && systemctl -q is-enabled "$1"
    else
        has service && service "$1" status >/dev/null 2>&1
    fi
}
service_on() {
    if has_systemd; then
        systemctl daemon-reload
        systemctl enable "$1"
        systemctl restart "$1"
    elif has service; then
        # The lock is open in all that a step starts; a daemon must not have it.
        service "$1" restart 9>&-
        if has update-rc.d; then update-rc.d "$1" defaults; fi
    else
        fail "$1 cannot be started: there is neither systemd nor service(8) here"
    fi
}
answers() { timeout 5 bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$1" "$2" 2>/dev/null; }

# A file of /sys that may offer a list such as `always [madvise] never`; tmpfiles.d sets it at each boot.
sys_value() { sed 's/.*\[\(.*\)\].*/\1/' "$1"; }
sys_check() {
    [ -n "$2" ] || { echo "left as it is" && return 0; }
    [ -e "$1" ] || { echo "this host has no $1" && return 2; }
    [ "$(sys_value "$1")" = "$2" ] && grep -qxF "w $1 - - - - $2" "/etc/tmpfiles.d/assay-$3.conf" 2>/dev/null
}
sys_run() {
    echo "$2" >"$1" || fail "$1 does not take $2; it has: $(cat "$1")"
    echo "w $1 - - - - $2" | put_file "/etc/tmpfiles.d/assay-$3.conf" 644
}

# Lines KEY=VALUE; nothing in them is executed.
read_values() {
    while IFS= read -r line || [ -n "$line" ]; do
        name=${line%%=*}
        case $name in '' | *[!A-Z_]*) continue ;; esac
        case $line in "$name") continue ;; esac
        case " $VARIABLES " in *" $name "*) value=${line#*=} && eval "$name=\$value" ;; esac
    done
}
require_values() {
    for name in $REQUIRED; do
        eval "[ -n \"\$$name\" ]" || stop values "$name is not set"
    done
}
json() {
    tr -d '\000-\010\013-\037' | tr '\177-\377' '?' | sed 's/\\/\\\\/g; s/"/\\"/g; s/	/\\t/g' |
        awk '{ printf "%s%s", (NR > 1 ? "\\n" : ""), $0 }'
}
# Step, state, seconds, one line, file with its output.
record() {
    last=
    if [ "$2" = failed ]; then last=$(tail -n 20 "$5"); fi
    RECORDS="$RECORDS${RECORDS:+,
  }{\"step\": \"$1\", \"state\": \"$2\", \"seconds\": $3, \"detail\": \"$(printf %s "$4" | json)\", \"output\": \"$(printf %s "$last" | json)\"}"
    if [ "$2" = failed ]; then
        FAILED=${FAILED:-$1: $4}
        last_lines=$last
    fi
    [ -n "$PRINT_JSON" ] || printf '%-12s %-20s %s\n' "$2" "$1" "$(printf %s "$4" | sed '2,$s/^/                                  /')"
    [ -n "$PLAN" ] || document running | put_file "$STATE/$ROLE.status.json" 644
}
document() {
    state=$1
    [ -z "$FAILED" ] || state=failed
    printf '{"role": "%s", "state": "%s", "plan": %s, "steps": [\n  %s\n]}\n' "$ROLE" "$state" "${PLAN:-false}" "$RECORDS"
}
step() {
    begun=$(date +%s) out=$WORK/$1
    detail=$("$1_check" 2>"$out") && code=0 || code=$?
    seconds=$(($(date +%s) - begun))
    if [ "$code" = 0 ]; then
        record "$1" 'already so' "$seconds" "$detail" "$out"
    elif [ "$code" = "$REFUSED" ] || { [ "$code" = 2 ] && [ -n "$detail" ]; }; then
        [ -n "$detail" ] || detail=$(cause "$out")
        record "$1" failed "$seconds" "$detail" "$out"
    elif [ -n "$PLAN" ]; then
        detail=$("$1_plan" 2>"$out") || detail="$detail $(cause "$out")"
        record "$1" 'would do' "$seconds" "$detail" "$out"
    else
        detail=$("$1_plan" 2>/dev/null)
        (set -e && "$1_run") >"$out" 2>&1 </dev/null
        code=$?
        seconds=$(($(date +%s) - begun))
        if [ "$code" = 0 ]; then
            again=$("$1_check" 2>>"$out") || code=$?
            [ "$code" = 0 ] || echo "error: done, but it is not so: $again" >>"$out"
        fi
        if [ "$code" = 0 ]; then
            record "$1" "done" "$seconds" "$detail" "$out"
        else
            record "$1" failed "$seconds" "$(cause "$out")" "$out"
        fi
    fi
}
# Our own message, else the last line that is not blank, nor indented as explanations are.
cause() {
    grep -m 1 '^error: ' "$1" | sed 's/^error: //' | grep . ||
        grep '^[^[:space:]]' "$1" | tail -n 1 | grep . || grep . "$1" | tail -n 1 | grep . || echo 'no output'
}
# A failure outside of a step.
stop() {
    echo "$2" >"$WORK/stop"
    record "$1" failed 0 "$2" "$WORK/stop"
    finish
}
signal() {
    status=SUCCESS reason="$ROLE is set up" id=$({ uname -n && cat /etc/machine-id; } 2>/dev/null | md5sum | cut -c 1-10)
    if [ -n "$FAILED" ]; then
        status=FAILURE reason=$(printf '%s %s: %s' "$(uname -n)" "$FAILED" "${last_lines:-}" | head -c 900 | json)
    fi
    # The address is no argument: others would see its key. What many hosts send is short: the stack takes 4096 bytes.
    printf 'url = "%s"\n' "$SIGNAL_URL" | curl -fsS ${PROXY:+--proxy "$PROXY"} -K - -X PUT -H 'Content-Type:' --retry 8 --max-time 60 --data-binary \
        "{\"Status\": \"$status\", \"Reason\": \"$reason\", \"UniqueId\": \"$id\", \"Data\": \"\"}" ||
        echo 'warning: the signal to the stack was not sent' >&2
}
# One run at a time, for as long as anything lives that it has started: a killed one may leave apt-get or mkfs behind.
take_lock() {
    mkdir -p "$STATE" && (: >>"$STATE/lock") || { echo "error: $STATE cannot be written" >&2 && exit 1; }
    exec 9>>"$STATE/lock"
    flock -n 9 && return
    exec 9>&-
    users=$(set +f && find /proc/[0-9]*/fd -maxdepth 1 -lname "$(readlink -f "$STATE/lock")" 2>/dev/null | cut -d / -f 3 |
        while read -r pid; do name=$(cat "/proc/$pid/comm" 2>/dev/null) && printf '%s (process %s), ' "$name" "$pid"; done)
    echo "error: an earlier run is still at work here: ${users:-just ended, }try again when it has ended" >&2
    exit 3
}
finish() {
    if [ -z "$PLAN" ]; then
        document 'done' | put_file "$STATE/$ROLE.status.json" 644
        [ -z "$SIGNAL_URL" ] || signal
    fi
    [ -z "$PRINT_JSON" ] || document 'done'
    (set +f && rm -f "$WORK"/* && rmdir "$WORK")
    [ -z "$FAILED" ]
    exit
}
main() {
    for option; do
        case $option in
            --plan) PLAN=true ;;
            --json) PRINT_JSON=yes ;;
            *) echo "usage: role.sh [--plan] [--json]" >&2 && exit 2 ;;
        esac
    done
    [ "$(id -u)" = 0 ] || { echo "error: only root can set up a host" >&2 && exit 3; }
    for one in awk cmp find flock readlink; do
        has "$one" || { echo "error: this host has no $one; install it" >&2 && exit 3; }
    done
    env=/etc/assay/$ROLE.env
    if [ -z "${ASSAY_VALUES+set}" ] && [ -e "$env" ]; then
        ASSAY_VALUES=$(cat "$env") || { echo "error: $env cannot be read" >&2 && exit 1; }
    fi
    read_values <<END
$(printf %s "${ASSAY_VALUES-}" | tr -d '\r')
END
    if [ -z "$PLAN" ]; then
        take_lock
        # Fixed names for what was set up last.
        [ ! -e "/etc/assay/$ROLE.sh" ] || ln -sf "$ROLE.sh" /etc/assay/role.sh
        ln -sf "$ROLE.status.json" "$STATE/role.status.json"
    fi
    # Outputs of steps are there; a full disk would hide why one fails.
    WORK=$(mktemp -d) && echo >"$WORK/space" || { echo "error: ${WORK:-${TMPDIR:-/tmp}} cannot be written" >&2 && exit 1; }
    require_values
    for one in $STEPS; do
        step "$one"
        [ -z "$FAILED" ] || [ -n "$PLAN" ] || break
    done
    finish
}
