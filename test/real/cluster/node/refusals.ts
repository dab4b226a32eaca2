/** Images that a node cannot get though they are known: said from outside, in a file, as a broken registry would be elsewhere. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** One regular expression per line, over NAMESPACE/NAME of a pod. */
export const refusedFile = (dir: string): string => join(dir, "refused-pulls");

/** Whether a pull for this pod fails now; read anew for every try. */
export const isRefused = (dir: string, pod: string): boolean => {
  try {
    const patterns = readFileSync(refusedFile(dir), "utf8").split("\n");
    return patterns.some((pattern) => pattern !== "" && new RegExp(pattern).test(pod));
  } catch {
    return false;
  }
};
