/**
 * Checks that every granted right is used, as seen by the API servers of the end-to-end lanes. The evidence of a lane
 * counts while its grants are the current ones. A right that no lane is sure to use is in the table of rare rights,
 * with the test that needs it.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type Evidence, evidence, evidenceDir, optional, shipped } from "../e2e/rights.ts";
import type { Check } from "./accepted.ts";
import { lanesOf, type Rare, rare } from "./rare.ts";

const read = async (dir: string): Promise<readonly Evidence[]> => {
  const files = (await readdir(dir).catch(() => [])).filter((file) => file.endsWith(".json")).toSorted();
  return await Promise.all(
    files.map(async (file) => evidence.parse(JSON.parse(await readFile(join(dir, file), "utf8")))),
  );
};

export type Judgement = {
  readonly wrong: readonly string[];
  /** Lanes that must run before unused rights are known. */
  readonly missing: readonly string[];
};

/** Returns the account's name at the API server. */
const loginOf = (account: string): string => account.replace(/ .*$/, "");

const judgedOne = (account: string, lanes: readonly string[], seen: readonly Evidence[], rows: readonly Rare[]) => {
  const granted = shipped[account] ?? [];
  const current = seen.filter(
    (one) => lanes.includes(one.lane) && isDeepStrictEqual(one.granted[account], granted.slice()),
  );
  const login = loginOf(account);
  const used = new Set(current.flatMap((one) => one.used[login] ?? []));
  const excused = rows.filter((row) => row.account === account).flatMap(({ rights }) => rights);
  const missing = lanes.filter((lane) => !current.some((one) => one.lane === lane));
  const idle = granted.filter((right) => !used.has(right) && !excused.includes(right));
  return {
    missing,
    refused: current.flatMap(({ lane, refused }) =>
      (refused[login] ?? [])
        .filter((right) => !optional.includes(right))
        .map((right) => `${login} was refused ${right} in lane ${lane}: grant it, or do not ask`),
    ),
    idle: missing.length > 0 ? [] : idle.map((right) => `${account} may ${right}, and no lane used it`),
    stale: excused
      .filter((right) => !granted.includes(right))
      .map((right) => `the rare rights of ${account} have ${right}, which is not granted`),
  };
};

/** Judges the evidence that lanes have written to `dir`. */
export const judged = async (dir = evidenceDir(), rows = rare): Promise<Judgement> => {
  const seen = await read(dir);
  const all = Object.keys(shipped).map((account) => judgedOne(account, lanesOf[account] ?? [], seen, rows));
  return {
    wrong: [...new Set(all.flatMap(({ refused, idle, stale }) => [...refused, ...stale, ...idle]))],
    missing: [...new Set(all.flatMap(({ missing }) => missing))],
  };
};

/** Lists the rows of the table whose test does not exist. */
export const untested = async (rows = rare): Promise<readonly string[]> => {
  const wrong = rows.map(async ({ account, test: [file, name] }) => {
    const text = await readFile(file, "utf8").catch(() => "");
    return text.includes(name) ? [] : [`the rare rights of ${account}: ${file} has no test ${JSON.stringify(name)}`];
  });
  return (await Promise.all(wrong)).flat();
};

/** Missing lanes are a defect only if `whole` is set; otherwise the rest is checked without them. */
export const rightsChecks = (whole: boolean): readonly Check[] => [
  {
    name: "rights granted are rights used, as the lanes' API servers saw it",
    run: async () => {
      const { wrong, missing } = await judged();
      const line = `lanes that left no account of today's rights: ${missing.join(", ")}`;
      if (missing.length > 0 && !whole) console.log(`  ${line}: unused ones are not told of`);
      return [...wrong, ...(missing.length > 0 && whole ? [`${line}: run npm run e2e with them`] : [])];
    },
  },
  { name: "each right that no lane is sure to use has a test that needs it", run: () => untested() },
];
