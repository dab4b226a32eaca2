/** The folder of recorded data: beside the project, never in it. A clone without it skips the tests that need it. */
import { existsSync } from "node:fs";
import { join } from "node:path";

const beside = join(import.meta.dirname, "..", "..", "..", "shared", "data");

/** The folder of recorded data; undefined in a clone that stands alone. REKINDLE_DATA names another. */
export const dataDir: string | undefined = [process.env["REKINDLE_DATA"], beside].find(
  (path): path is string => path !== undefined && existsSync(path),
);

/** Why a test is skipped that needs the recorded data; false where it is. */
export const skipWithoutData: string | false =
  dataDir === undefined && "needs the recorded data of upstream: see shared/docs/contributing.md";
