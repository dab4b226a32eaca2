/** Runs the acts of a story in order and reports each; the story ends at the first act that fails. */

export type Result = {
  readonly name: string;
  readonly ok: boolean;
  readonly seconds: number;
  readonly lines: readonly string[];
};

export type Act<S> = readonly [name: string, act: (story: S) => Promise<readonly string[]>];

const attempt = async (label: string, act: () => Promise<readonly string[]>): Promise<Result> => {
  const began = performance.now();
  const ended = (ok: boolean, lines: readonly string[]): Result => {
    const seconds = Math.round((performance.now() - began) / 100) / 10;
    for (const line of lines) console.log(`    ${line}`);
    console.log(`${ok ? "✔" : "✖"} ${label} (${seconds} s)`);
    return { name: label, ok, seconds, lines };
  };
  try {
    return ended(true, await act());
  } catch (error) {
    return ended(false, [error instanceof Error ? error.message : String(error)]);
  }
};

export const played = async <S>(acts: readonly Act<S>[], story: S): Promise<readonly Result[]> => {
  const results: Result[] = [];
  for (const [label, act] of acts) {
    results.push(await attempt(label, () => act(story)));
    if (results.at(-1)?.ok !== true) break;
  }
  return results;
};
