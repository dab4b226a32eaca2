package org.apache.spark.examples;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Estimates pi by throwing darts. It stands under the name that manifests of the Spark project's own examples use, takes
 * the same argument (number of slices, default 2) and prints the same line, but is written for our tests.
 */
public final class SparkPi {
  private static final int DARTS_PER_SLICE = 100_000;

  private SparkPi() {}

  /** Darts of one slice that fell into the circle. */
  static long hits(int slice, int darts) {
    SplittableRandom random = new SplittableRandom(slice);
    long inside = 0;
    for (int i = 0; i < darts; i++) {
      double x = random.nextDouble() * 2 - 1;
      double y = random.nextDouble() * 2 - 1;
      if (x * x + y * y <= 1) inside++;
    }
    return inside;
  }

  public static void main(String[] args) {
    int slices = args.length > 0 ? Integer.parseInt(args[0]) : 2;
    SparkConf conf = new SparkConf().setIfMissing("spark.app.name", "Spark Pi");
    try (JavaSparkContext context = new JavaSparkContext(conf)) {
      List<Integer> numbers = new ArrayList<>(slices);
      for (int i = 0; i < slices; i++) numbers.add(i);
      long inside =
          context.parallelize(numbers, slices).map(slice -> hits(slice, DARTS_PER_SLICE)).reduce(Long::sum);
      System.out.println("Pi is roughly " + 4.0 * inside / ((double) DARTS_PER_SLICE * slices));
    }
  }
}
