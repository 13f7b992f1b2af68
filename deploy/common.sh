# Read by deploy/up and deploy/test, with the repository's root as working folder.

say() { printf '%s\n' "$*" >&2; }
fail() { printf '\n%s: %s\n' "${0##*/}" "$1" >&2; [ $# -lt 2 ] || printf '→ %s\n' "$2" >&2; exit 1; }

# The one thing that is not installed here.
require_swift() {
    command -v swift >/dev/null 2>&1 || fail "there is no swift on the PATH" \
        "install the Swift 6.3 toolchain for Debian 12: https://www.swift.org/install/linux/"
    local version
    version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' | head -n 1)
    [ -n "$version" ] || fail "swift --version says nothing" "is the toolchain complete?"
    local least=6.3
    [ "$(printf '%s\n%s\n' "$least" "$version" | sort -V | head -n 1)" = "$least" ] || fail \
        "Swift $version is too old: 6.3 is needed" "https://www.swift.org/install/linux/"
}

# Installs the packages of the list files that are missing.
install_packages() {
    command -v dpkg-query >/dev/null 2>&1 || fail "this is no Debian: dpkg-query is missing" \
        "install by hand what deploy/apt-packages names"
    local missing=() name
    for name in $(sed 's/#.*//' "$@"); do
        dpkg-query -W -f='${Status}\n' "$name" 2>/dev/null | grep -q 'install ok installed' \
            || missing+=("$name")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    say "missing packages: ${missing[*]}"
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then as_root=(sudo -n); else
            fail "packages are missing, and only root may install them" \
                "as root: apt-get install -y --no-install-recommends ${missing[*]}"
        fi
    fi
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get update -q >&2 \
        || fail "apt-get update failed" "look at the network and /etc/apt/sources.list"
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -q --no-install-recommends \
        "${missing[@]}" >&2 \
        || fail "apt-get could not install ${missing[*]}" "its words are above"
}

# Builds what runs, and the products named besides, in release, one after the other so that progress is seen.
products="fusionctl fusion-broker fusion-sandbox fusion-token fusion-verification fusion-smscode fusion-scene fusion-gateway fusion-echo"
build_release() {
    local product number=0 count
    count=$(wc -w <<<"$products $*")
    for product in $products "$@"; do
        number=$((number + 1))
        say "building $product ($number of $count)"
        swift build -c release --product "$product" >&2 \
            || fail "$product could not be built" "the compiler's words are above"
    done
}
