#!/bin/bash
# What an image has under this name and the Python package lacks: ends what start-connect-server.sh began.
exec "$SPARK_HOME/sbin/spark-daemon.sh" stop org.apache.spark.sql.connect.service.SparkConnectServer 1
