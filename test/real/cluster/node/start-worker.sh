#!/bin/bash
# What an image has under this name and the Python package lacks: a worker of the master of the first argument.
set -e
exec "$SPARK_HOME/sbin/spark-daemon.sh" start org.apache.spark.deploy.worker.Worker 1 --webui-port 8081 "$@"
