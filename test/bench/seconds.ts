/** Processor seconds of the machine and of this process with its descendants, from the kernel. */
import { readFileSync } from "node:fs";

/** Linux counts processor time in hundredths of a second here. */
const ticksPerSecond = 100;

/** Returns the seconds that all processors have worked since the machine's start. */
export const busySeconds = (): number => {
  const [, user = 0, nice = 0, system = 0, , , irq = 0, soft = 0] = (
    readFileSync("/proc/stat", "utf8").split("\n")[0] ?? ""
  )
    .split(/\s+/)
    .map(Number);
  return (user + nice + system + irq + soft) / ticksPerSecond;
};

/** Returns the processor seconds of this process and of its ended descendants. */
export const ownSeconds = (): number => {
  const text = readFileSync("/proc/self/stat", "utf8");
  // The name of the process, in parentheses, may have blanks.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond;
};
