/** The result of every proving command: `N passed, N failed`, the exit code, and the same as data. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

export type Tally = { readonly passed: number; readonly failed: number; readonly skipped: number };

/** The last line of every proving command. */
export const tallyLine = ({ passed, failed, skipped }: Tally): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;

/**
 * Prints the last line, writes the counts and `details` into a file where one is given, and sets the exit code. A run
 * without results has failed.
 */
export const conclude = (tally: Tally, json?: { readonly file: string; readonly details: object }): void => {
  if (json !== undefined) {
    mkdirSync(dirname(json.file), { recursive: true });
    writeFileSync(json.file, `${JSON.stringify({ ...tally, ...json.details }, null, 2)}\n`);
  }
  console.log(tallyLine(tally));
  process.exitCode = tally.failed > 0 || tally.passed + tally.skipped === 0 ? 1 : 0;
};

/** Runs a proving command. One that throws prints the error and has failed. */
export const proving = (main: () => Promise<void>): Promise<void> =>
  main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    conclude({ passed: 0, failed: 1, skipped: 0 });
  });

/** The tally of results. */
export const tallyOf = (results: readonly { readonly ok: boolean }[]): Tally => {
  const failed = results.filter(({ ok }) => !ok).length;
  return { passed: results.length - failed, failed, skipped: 0 };
};
