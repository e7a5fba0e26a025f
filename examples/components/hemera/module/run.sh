#!/bin/sh
# What is started for `run.bat` on this machine.
set -eu
training='' validation='' result='' counts=''
while [ $# -gt 0 ]; do
  case $1 in
    %CLUSTER%=*) echo "cluster ${1#*=}"; shift; continue ;;
    -JobQueue) echo "queue $2" ;;
    -ResultDir) result=$2 ;;
    -_TrainingDataDir) training=$2 ;;
    -_ValidationDataDir) validation=$2 ;;
    -_Counts) counts=$2 ;;
  esac
  shift 2
done
mkdir -p "$result"
for folder in "$training" "$validation"; do
  [ -z "$folder" ] || find "$folder" -type f -exec cat {} + | wc -w
done > "$result/words.txt"
echo "$result" > "$counts"
