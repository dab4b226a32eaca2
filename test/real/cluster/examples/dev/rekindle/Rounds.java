package dev.rekindle;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * A job that goes on for as long as it is told to, so that what befalls its executors befalls them at work. Every round
 * shuffles: a lost executor takes along results that others have to make again. Its last line can be checked:
 * {@code R rounds add up to T}, where round r (from 0) adds up i + r for every i below the slices times 1000.
 *
 * <p>Arguments: a file whose existence ends it, the seconds that it runs at least, slices, milliseconds of a task.
 */
public final class Rounds {
  private static final int PER_SLICE = 1_000;

  private Rounds() {}

  private static Tuple2<Integer, Long> counted(int number, int round, int sleepMs) throws InterruptedException {
    if (number % PER_SLICE == 0) Thread.sleep(sleepMs);
    return new Tuple2<>(number % 16, (long) number + round);
  }

  public static void main(String[] args) throws Exception {
    Path gate = Path.of(args[0]);
    long least = Long.parseLong(args[1]) * 1_000_000_000L;
    int slices = Integer.parseInt(args[2]);
    int sleepMs = Integer.parseInt(args[3]);
    List<Integer> numbers = new ArrayList<>();
    for (int i = 0; i < slices * PER_SLICE; i++) numbers.add(i);
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf())) {
      long began = System.nanoTime();
      long total = 0;
      int rounds = 0;
      while (System.nanoTime() - began < least || !Files.exists(gate)) {
        int round = rounds++;
        total +=
            context
                .parallelize(numbers, slices)
                .mapToPair(number -> counted(number, round, sleepMs))
                .reduceByKey(Long::sum, slices)
                .values()
                .reduce(Long::sum);
      }
      System.out.println(rounds + " rounds add up to " + total);
    }
  }
}
