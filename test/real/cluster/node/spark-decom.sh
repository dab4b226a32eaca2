#!/bin/bash
# The preStop hook of a Spark image: asks the executor to move its blocks (SIGPWR), and waits until it has ended.
for process in /proc/[0-9]*; do
  [[ $(readlink "$process/exe") == */java ]] || continue
  kill -PWR "${process#/proc/}"
  while [[ -d $process ]]; do sleep 0.2; done
done
