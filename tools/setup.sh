#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Makes a Debian 12 machine ready to build, run and test ksplit. Safe to run again: what is there is
# left alone.
#
#   1. The Debian packages below: installed if we are root (or sudo asks nothing), else named.
#   2. `.venv` with torch, Triton and the test tools. If KSPLIT_PYTHON names an interpreter that has
#      torch and Triton, `.venv` sees that interpreter's packages and installs neither.
set -eu
cd "$(dirname "$0")/.."

packages='
  g++ cmake ninja-build ccache clang-format
  libfmt-dev nlohmann-json3-dev libcli11-dev libexpected-dev libtomlplusplus-dev
  libsqlite3-dev libxxhash-dev libsleef-dev libgtest-dev
  python3 python3-dev python3-venv
'
torch='torch==2.13.0 triton==3.6.0 numpy'
# Debian's clang-tidy takes five times as long as this one.
tools='pytest ruff scikit-build-core clang-tidy==23.1.4'

say() { printf 'setup: %s\n' "$*" >&2; }

install_debian_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "no Debian here; needed by the names they have there:" $packages
    return
  fi
  missing=
  for package in $packages; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" = 0 ]; then
    as_root=
  elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root='sudo -n'
  else
    say "Debian packages are missing; as root, run"
    say "  apt-get install --no-install-recommends$missing"
    exit 1
  fi
  say "installing$missing"
  $as_root apt-get update -q >&2
  DEBIAN_FRONTEND=noninteractive $as_root apt-get install -q -y --no-install-recommends $missing >&2
}

# Whether .venv imports all that is needed. numpy is what Triton's interpreter computes with.
venv_is_complete() {
  [ -x .venv/bin/python ] &&
    .venv/bin/python -c 'import torch, triton, numpy, pytest, scikit_build_core' 2>/dev/null &&
    [ -x .venv/bin/ruff ] && [ -x .venv/bin/clang-tidy ]
}

make_venv() {
  origin=${KSPLIT_PYTHON:-}
  if [ "$(cat .venv/origin 2>/dev/null || true)" = "$origin" ] && venv_is_complete; then
    return
  fi
  rm -rf .venv
  if [ -n "$origin" ]; then
    "$origin" -c 'import torch, triton' || {
      say "KSPLIT_PYTHON=$origin does not import torch and Triton (above)"
      exit 1
    }
    say "making .venv on top of $origin"
    "$origin" -m venv .venv
    .venv/bin/pip install -q $tools  # before pip sees what $origin has, so that all of it is here
    # A .pth file and not --system-site-packages, which would skip $origin if it is itself a venv.
    "$origin" -c 'import site, sysconfig
folders = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
folders += [*site.getsitepackages(), site.getusersitepackages()]
print(*dict.fromkeys(folders), sep="\n")' \
      >"$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/origin.pth"
    .venv/bin/pip install -q numpy
  else
    say "making .venv with $torch"
    python3 -m venv .venv
    .venv/bin/pip install -q $torch $tools
  fi
  printf '%s\n' "$origin" >.venv/origin
  venv_is_complete || {
    say ".venv lacks torch, triton, numpy or a test tool; see the errors above"
    exit 1
  }
}

install_debian_packages
make_venv
