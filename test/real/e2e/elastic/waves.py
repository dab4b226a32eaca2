"""A job whose demand is a number of tasks until a gate opens, and then another one; its last line can be checked."""
import os
import sys
import time
from operator import add

from pyspark import SparkContext

gates, first, middle, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])


def slow(number):
    time.sleep(2)
    return number


def waves(context, tasks, gate):
    """The number of rounds of this many tasks until the gate opens, and the sum of their results."""
    rounds, total = 0, 0
    while rounds == 0 or not os.path.exists(os.path.join(gates, gate)):
        total += context.parallelize(range(tasks), tasks).map(slow).reduce(add)
        rounds += 1
    return rounds, total


with SparkContext() as context:
    many = waves(context, first, "many")
    shuffled = context.parallelize(range(400), first).map(lambda number: (number % 8, number)).reduceByKey(add)
    before = sorted(shuffled.collect())
    few = waves(context, middle, "few")
    after = sorted(shuffled.collect())
    again = waves(context, last, "again")
    print(f"rounds {many[0]} {few[0]} {again[0]} sum {many[1] + few[1] + again[1]} same {before == after}")
