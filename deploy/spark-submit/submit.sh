#!/usr/bin/env bash
# Runs evaljob through spark-submit; the exit code of the job comes through.
set -euo pipefail

usage="usage: submit.sh [options] -- score --runs ... | aggregate ... | any other evaljob command

  --master M         local (default), local-cluster (two executors on this machine),
                     spark://host:port, yarn, k8s://https://host:port
  --deploy-mode D    client (default), or cluster: the driver runs inside YARN or Kubernetes
  --archive FILE     the environment that package.sh made; YARN always uses it, from out/package unless named
  --conf KEY=VALUE   a setting of Spark; as often as needed
  --dry-run          print the command and do not run it

Environment:
  EVALJOB_PYTHON     the Python of the driver; else .venv/bin/python
  SPARK_HOME         the Spark to submit with; else the pyspark of that Python
  EVALJOB_MAIN       the file to run; else main.py beside this script, and in Kubernetes cluster mode
                     local:///opt/evaljob/main.py, a path inside the image"

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
python=${EVALJOB_PYTHON:-$root/.venv/bin/python}

refuse() {
  echo "submit.sh: $1" >&2
  exit 2
}

need_file() {
  [[ -f $1 ]] || refuse "there is no $1; build it with deploy/spark-submit/package.sh"
}

master=local mode=client archive='' dry_run='' settings=()
while (($#)); do
  case $1 in
    --master | --deploy-mode | --archive | --conf)
      (($# > 1)) || refuse "$1 needs a value"
      case $1 in
        --master) master=$2 ;;
        --deploy-mode) mode=$2 ;;
        --archive) archive=$2 ;;
        --conf) settings+=(--conf "$2") ;;
      esac
      shift 2
      ;;
    --dry-run) dry_run=yes && shift ;;
    --help | -h) echo "$usage" && exit 0 ;;
    --) shift && break ;;
    *) refuse "unknown option \"$1\"; known: --master --deploy-mode --archive --conf --dry-run, and -- before the job's own" ;;
  esac
done
(($#)) || refuse 'nothing to run; the job goes after --, for example: -- score --help'

case $master in
  local) url='local[*]' ;;
  local-cluster) url='local-cluster[2,1,1024]' ;;
  spark://* | yarn | k8s://*) url=$master ;;
  *) refuse "unknown master \"$master\"; known: local, local-cluster, spark://host:port, yarn, k8s://https://host:port" ;;
esac
case $mode-$master in
  client-* | cluster-yarn | cluster-k8s://*) ;;
  cluster-*) refuse "--deploy-mode cluster is for yarn and k8s://; Spark runs no Python driver inside $master" ;;
  *) refuse "unknown deploy mode \"$mode\"; known: client, cluster" ;;
esac

[[ $mode == cluster || -x $python ]] || refuse "there is no $python; run make setup, or set EVALJOB_PYTHON"
spark_home=${SPARK_HOME:-$("$python" -c 'import pyspark; print(pyspark.__path__[0])' 2>/dev/null || true)}
[[ -n $spark_home ]] || refuse "$python has no pyspark; run make setup, or set SPARK_HOME"
[[ -x $spark_home/bin/spark-submit ]] || refuse "there is no $spark_home/bin/spark-submit; SPARK_HOME has to be a Spark"

main=$here/main.py
command=("$spark_home/bin/spark-submit" --master "$url" --deploy-mode "$mode")
case $master in
  local)
    [[ -z $archive ]] || refuse '--archive is for clusters; local runs in the environment of EVALJOB_PYTHON'
    command+=(--conf "spark.pyspark.python=$python")
    ;;
  local-cluster)
    [[ -n $archive ]] || command+=(--conf "spark.pyspark.python=$python")
    ;;
  spark://*)
    [[ -n $archive ]] || { need_file "$root/out/package/evaljob.zip" && command+=(--py-files "$root/out/package/evaljob.zip"); }
    ;;
  yarn)
    archive=${archive:-$root/out/package/evaljob-env.tar.gz}
    command+=(--conf spark.yarn.maxAppAttempts=1) # a second attempt would meet the output of the first
    ;;
  k8s://*)
    [[ $mode == client ]] || main=local:///opt/evaljob/main.py
    ;;
esac
if [[ -n $archive ]]; then
  need_file "$archive"
  command+=(--archives "$archive#environment" --conf spark.pyspark.python=./environment/bin/python)
fi
[[ $mode == cluster ]] || command+=(--conf "spark.pyspark.driver.python=$python")
if [[ $master == local* && -z ${JAVA_HOME:-} ]] && ! command -v java >/dev/null; then
  java_home=$("$python" -c 'from jobs.java import ensure_java_home; print(ensure_java_home().home)') ||
    refuse "there is no Java; evaljob doctor says what to do"
  command=(env "JAVA_HOME=$java_home" "${command[@]}")
fi
command+=(${settings[@]+"${settings[@]}"} "${EVALJOB_MAIN:-$main}" "$@")

if [[ -n $dry_run ]]; then
  line=$(printf '%q ' "${command[@]}")
  echo "${line% }"
else
  exec "${command[@]}"
fi
