# Uses only shell builtins if the stored paths to Node.js and steward are valid. Runs nothing from the current folder.
node=@NODE@
node_alias=@NODE_ALIAS@
steward=@STEWARD@
[ -f "$node" ] && [ -x "$node" ] || node=$node_alias
if [ -f "$node" ] && [ -x "$node" ] && [ -f "$steward" ]; then
  run "$@"
fi

# Node.js or steward was upgraded, moved or removed.

is_node() { [ -f "$1" ] && [ -x "$1" ]; }

# Succeeds if a Node.js on the PATH is new enough for steward; an older one would fail silently.
is_new_node() {
  is_node "$1" || return 1
  case $("$1" --version 2>/dev/null) in
    v2[0-9].* | v[3-9][0-9].* | v[1-9][0-9][0-9].*) return 0 ;;
  esac
  return 1
}

# The steward command on the PATH may be a version manager's shim; the real script has a Node.js shebang.
is_steward() {
  [ -f "$1" ] && [ -r "$1" ] || return 1
  first=
  IFS= read -r first <"$1" || [ -n "$first" ] || return 1
  case $first in '#!'*node*) return 0 ;; esac
  return 1
}

# Succeeds if the PATH entry $1 is relative or in a project's node_modules.
is_foreign() {
  case $1 in
    */node_modules/.bin | */node_modules/.bin/*) return 0 ;;
    /*) return 1 ;;
  esac
  return 0
}

# Looks for Node.js and steward in $1, the installation folder of a Node.js version. Skips versions of Node.js that
# steward does not support.
look_in() {
  version=${1%/installation}
  version=${version##*/}
  version=${version#v}
  case ${version%%.*} in
    [0-9] | 1[0-9]) ;;
    *) is_node "$node" || { is_node "$1/bin/node" && node=$1/bin/node; } ;;
  esac
  script=$1/lib/node_modules/@PACKAGE@/bin/run.js
  [ -f "$steward" ] || { [ -f "$script" ] && steward=$script; }
  is_node "$node" && [ -f "$steward" ]
}

set -f
IFS=:
for folder in ${PATH-}; do
  is_foreign "$folder" && continue
  folder=${folder%/}
  is_node "$node" || { is_new_node "$folder/node" && node=$folder/node; }
  [ -f "$steward" ] || { is_steward "$folder/steward" && steward=$folder/steward; }
done
unset IFS
set +f

# The folders of version managers and package managers. A pattern without a match is skipped: the shell leaves it
# unchanged, and no such folder exists.
home=${HOME-}
case $home in /*) ;; *) home=/nonexistent ;; esac
is_node "$node" && [ -f "$steward" ] || for folder in \
  "${NVM_DIR:-$home/.nvm}"/versions/node/* \
  "${FNM_DIR:-$home/.local/share/fnm}"/node-versions/*/installation \
  "$home"/.fnm/node-versions/*/installation \
  "$home/Library/Application Support"/fnm/node-versions/*/installation \
  "${VOLTA_HOME:-$home/.volta}"/tools/image/packages/@PACKAGE@ \
  "${VOLTA_HOME:-$home/.volta}"/tools/image/node/* \
  "${ASDF_DATA_DIR:-$home/.asdf}"/installs/nodejs/* \
  "${MISE_DATA_DIR:-$home/.local/share/mise}"/installs/node/* \
  "${MISE_DATA_DIR:-$home/.local/share/mise}"/installs/npm-@PACKAGE@/* \
  "${N_PREFIX:-/usr/local}" \
  "$home"/.npm-global "$home"/.local \
  "${HOMEBREW_PREFIX:-/opt/homebrew}"/opt/steward/libexec /home/linuxbrew/.linuxbrew/opt/steward/libexec \
  "$home"/.nix-profile/lib/steward "$home"/.local/state/nix/profile/lib/steward \
  "/etc/profiles/per-user/${USER-}/lib/steward" /run/current-system/sw/lib/steward \
  "${HOMEBREW_PREFIX:-/opt/homebrew}" /home/linuxbrew/.linuxbrew /usr/local /opt/local /usr /snap/node/current; do
  case $folder in /*) look_in "$folder" && break ;; esac
done
for folder in \
  "${PNPM_HOME:-$home/.local/share/pnpm}"/global/* \
  "$home"/Library/pnpm/global/* \
  "$home"/.config/yarn/global \
  "$home"/.bun/install/global; do
  [ -f "$steward" ] && break
  case $folder in /*) [ -f "$folder/node_modules/@PACKAGE@/bin/run.js" ] && steward=$folder/node_modules/@PACKAGE@/bin/run.js ;; esac
done

if is_node "$node" && [ -f "$steward" ]; then
  run "$@"
fi
