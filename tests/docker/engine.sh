#!/usr/bin/env bash
# A real Docker Engine, compose and a base image on a Debian machine that can reach no image registry.
#
#   engine.sh up            start dockerd if none answers (installs docker.io when missing); remembers its pid
#   engine.sh compose       compose and buildx as CLI plugins, from single packages of Debian unstable
#   engine.sh base TAG      a Debian image with Python under the name that the Dockerfile asks for
#   engine.sh down          stop the engine that `up` started
#
# Needs root. Everything it keeps is below $BEAD_TEST_CACHE (default: ~/.cache/bead-tests).
set -euo pipefail

cache=${BEAD_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/bead-tests}
pid_file=$cache/dockerd.pid
mkdir -p "$cache"

apt_install() {
  [ -n "$(find /var/lib/apt/lists -name '*Packages*' -mmin -720 -print -quit 2>/dev/null)" ] || apt-get -qq update
  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" >/dev/null
}

engine_up() {
  docker info >/dev/null 2>&1 && return
  command -v dockerd >/dev/null || apt_install docker.io iptables
  setsid dockerd --group root >"$cache/dockerd.log" 2>&1 &
  echo $! >"$pid_file"
  for _ in $(seq 120); do docker info >/dev/null 2>&1 && return; read -rt 0.5 <> <(:) || true; done
  tail -n 5 "$cache/dockerd.log" >&2
  echo "engine.sh: dockerd did not answer within 60 s" >&2
  exit 1
}

# Packages of Debian unstable, unpacked beside the system: its own apt lists, nothing installed.
unpack_unstable() {
  local dir=$cache/unstable; mkdir -p "$dir/lists/partial" "$dir/archives/partial" "$dir/debs"
  sed '/^$/q; s/^Suites:.*/Suites: sid/' /etc/apt/sources.list.d/debian.sources >"$dir/sid.sources"
  local options=(-o "Dir::Etc::sourcelist=$dir/sid.sources" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::Lists=$dir/lists" -o "Dir::Cache=$dir" -o APT::Sandbox::User=root)
  apt-get "${options[@]}" -qq update
  (cd "$dir/debs" && apt-get "${options[@]}" -qq download "$@")
  for package in "$dir"/debs/*.deb; do dpkg -x "$package" "$dir/root"; done
  rm -f "$dir"/debs/*.deb
}

compose_plugin() {
  docker compose version >/dev/null 2>&1 && docker buildx version >/dev/null 2>&1 && return
  local plugins=$cache/unstable/root/usr/libexec/docker/cli-plugins
  [ -x "$plugins/docker-compose" ] || unpack_unstable docker-compose docker-buildx
  mkdir -p ~/.docker/cli-plugins
  cp "$plugins"/* ~/.docker/cli-plugins/
  docker compose version
}

base_image() {
  docker image inspect "$1" >/dev/null 2>&1 && return
  command -v debootstrap >/dev/null || apt_install debootstrap
  local archive=$cache/base.tar
  if [ ! -s "$archive" ]; then
    local root; root=$(mktemp -d)
    debootstrap --variant=minbase --include=python3,python3-venv,python3-pip,ca-certificates bookworm "$root" >/dev/null
    mkdir -p "$root/usr/local/bin"
    ln -sf /usr/bin/python3 "$root/usr/local/bin/python"
    tar -C "$root" -cf "$archive.part" . && mv "$archive.part" "$archive"
    rm -rf "$root"
  fi
  docker import "$archive" "$1" >/dev/null
}

case "${1:?up | compose | base TAG | down}" in
  up) engine_up ;;
  compose) compose_plugin ;;
  base) base_image "${2:?TAG}" ;;
  down) [ ! -s "$pid_file" ] || { kill "$(cat "$pid_file")" 2>/dev/null || true; rm -f "$pid_file"; } ;;
  *) echo "engine.sh: up | compose | base TAG | down" >&2; exit 2 ;;
esac
