#!/usr/bin/env bash
# Builds into out/package what a cluster needs:
#
#   evaljob-VERSION-py3-none-any.whl   for images and environments of your own
#   evaljob.zip                        for --py-files: nodes that have numpy and pyarrow
#   evaljob-env.tar.gz                 for --archives: nodes that have only the same Python, at the same path
#
# usage: package.sh [--no-env]         --no-env leaves out the archive, which takes a minute
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
python=${EVALJOB_PYTHON:-$root/.venv/bin/python}
out=$root/out/package

refuse() {
  echo "package.sh: $1" >&2
  exit 2
}

[[ $* == '' || $* == --no-env ]] || refuse "unknown option \"$*\"; known: --no-env"
[[ -x $python ]] || refuse "there is no $python; run make setup"

rm -rf "$out"
mkdir -p "$out"
"$python" -m build --wheel --outdir "$out" "$root" >/dev/null
wheel=$(echo "$out"/*.whl)
cp "$wheel" "$out/evaljob.zip" # a wheel is a zip with the packages at its top, which is what --py-files wants

if [[ $* != --no-env ]]; then
  env=$out/env
  "$python" -m venv "$env"
  "$env/bin/python" -m pip --disable-pip-version-check install --quiet -c "$root/deploy/constraints.txt" "${wheel}[spark]"
  # the cluster brings its own Spark; a second one of another version breaks, and is most of the size
  "$env/bin/python" -m pip --disable-pip-version-check uninstall --quiet --yes pyspark py4j
  "$python" -m venv_pack --prefix "$env" --output "$out/evaljob-env.tar.gz" --quiet
  echo "evaljob-env.tar.gz needs $(readlink -f "$env/bin/python") on every node"
  rm -rf "$env"
fi
du -h "$out"/*
