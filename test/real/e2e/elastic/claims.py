"""A job that shuffles, waits for a gate, writes another shuffle on every executor, and reads the first one again."""
import os
import sys
import time
from operator import add

from pyspark import SparkContext

gates, executors = sys.argv[1], int(sys.argv[2])


def slowly(partition):
    time.sleep(3)
    return ((number % 8, number) for number in partition)


def shuffle(context, partitions):
    return context.parallelize(range(400), partitions).mapPartitions(slowly).reduceByKey(add)


def registered(context):
    """The number of executors that the driver knows; one entry is the driver's own."""
    return context._jsc.sc().getExecutorMemoryStatus().size() - 1


with SparkContext() as context:
    while registered(context) < executors:
        time.sleep(0.2)
    shuffled = shuffle(context, 2 * executors)
    before = sorted(shuffled.collect())
    print("shuffled", flush=True)
    while not os.path.exists(os.path.join(gates, "lost")) or registered(context) < executors:
        time.sleep(0.2)
    shuffle(context, executors).count()
    after = sorted(shuffled.collect())
    print(f"executors {executors} same {before == after}")
