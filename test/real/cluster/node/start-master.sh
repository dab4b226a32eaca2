#!/bin/bash
# What an image has under this name and the Python package lacks: a master, kept by Spark's own daemon script.
set -e
exec "$SPARK_HOME/sbin/spark-daemon.sh" start org.apache.spark.deploy.master.Master 1 --port 7077 --webui-port 8080 "$@"
