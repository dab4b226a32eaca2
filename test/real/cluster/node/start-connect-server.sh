#!/bin/bash
# What an image has under this name and the Python package lacks: a Connect server, kept by Spark's own daemon script.
set -e
exec "$SPARK_HOME/sbin/spark-daemon.sh" submit \
  org.apache.spark.sql.connect.service.SparkConnectServer 1 --name "Spark Connect server" "$@"
