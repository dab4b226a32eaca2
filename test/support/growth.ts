/** Measures how work grows with its input, in processor time of this thread: a busy machine changes little. */
import assert from "node:assert/strict";

const tries = 3;
/** Less than this is noise, ms. */
const noiseMs = 4;

const cpuMs = (work: () => unknown): number => {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
};

/** The least of several runs, so that a garbage collection within one does not count; none follows one within `enoughMs`. */
const leastMs = (work: () => unknown, enoughMs = 0): number => {
  let least = cpuMs(work);
  for (let run = 1; run < tries && least > enoughMs; run += 1) least = Math.min(least, cpuMs(work));
  return least;
};

/** Eight times the input: linear work takes eight times as long, quadratic work 64 times. */
const factor = 8;
const most = 24;

/** Fails where the work for `8 n` takes more than 24 times as long as that for `n`. `input` makes an input of a size. */
export const assertLinear = <Input>(n: number, input: (n: number) => Input, work: (given: Input) => unknown): void => {
  const [small, large] = [input(n), input(n * factor)];
  const few = Math.max(
    noiseMs,
    leastMs(() => work(small)),
  );
  const many = leastMs(() => work(large), few * most);
  assert.ok(many <= few * most, `${n}: ${few.toFixed(1)} ms, ${n * factor}: ${many.toFixed(1)} ms`);
};
