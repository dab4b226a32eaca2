/** Runs one case of a lane: its result are lines for people, its error is the reason for a failure. */

export type Result = {
  readonly name: string;
  readonly ok: boolean;
  readonly seconds: number;
  readonly lines: readonly string[];
};

export const attempt = async (name: string, run: () => Promise<readonly string[]>): Promise<Result> => {
  const began = performance.now();
  const ended = (ok: boolean, lines: readonly string[]): Result => {
    const seconds = Math.round((performance.now() - began) / 100) / 10;
    console.log(`${ok ? "✔" : "✖"} ${name} (${seconds} s)`);
    for (const line of lines) console.log(`    ${line}`);
    return { name, ok, seconds, lines };
  };
  try {
    return ended(true, await run());
  } catch (error) {
    return ended(false, [error instanceof Error ? error.message : String(error)]);
  }
};
