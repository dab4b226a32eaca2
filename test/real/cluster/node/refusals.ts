/** Failing pulls of known images, as from a broken registry; a test lists them in a file. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** One regular expression per line, over NAMESPACE/NAME of a pod. */
export const refusedFile = (dir: string): string => join(dir, "refused-pulls");

/** True if a pull for this pod fails; the file is read at every attempt. */
export const isRefused = (dir: string, pod: string): boolean => {
  try {
    const patterns = readFileSync(refusedFile(dir), "utf8").split("\n");
    return patterns.some((pattern) => pattern !== "" && new RegExp(pattern).test(pod));
  } catch {
    return false;
  }
};
