/** `npm run setup [-- PART …]`: downloads and builds the real parts that tests and benchmarks run on, once, into a cache. */
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { type Outcome, prepare, UnknownPart } from "./ensure.ts";
import { cacheDir } from "./part.ts";
import { parts, usual } from "./parts.ts";

const usage = (): string =>
  [
    "npm run setup [-- PART …] [--system] [--json FILE]",
    "",
    ...parts.map((part) => `  ${part.name.padEnd(10)}${part.why}\n${" ".repeat(12)}${part.sizeHint}`),
    "",
    `Without a PART: ${usual.join(" ")}. Everything goes to ${cacheDir()} (REKINDLE_CACHE names another folder).`,
    "Programs of the operating system are installed only with --system or CI=true.",
  ].join("\n");

const line = ({ part, ok, ms, message }: Outcome): string =>
  `${ok ? "ok  " : "FAIL"} ${part.padEnd(10)}${message}${ms < 1000 ? "" : ` in ${(ms / 1000).toFixed(0)} s`}`;

const main = async (): Promise<number> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { help: { type: "boolean" }, system: { type: "boolean" }, json: { type: "string" } },
  });
  if (values.help) {
    console.log(usage());
    return 0;
  }
  const names = positionals.length > 0 ? positionals : usual;
  const outcomes = await prepare(names, (part, text) => console.log(`     ${part.padEnd(10)}${text}`));
  for (const outcome of outcomes) console.log(line(outcome));
  const failed = outcomes.filter((outcome) => !outcome.ok).length;
  const passed = outcomes.length - failed;
  if (values.json !== undefined)
    await writeFile(values.json, `${JSON.stringify({ passed, failed, outcomes }, null, 2)}\n`);
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
};

process.exitCode = await main().catch((error: unknown) => {
  if (error instanceof UnknownPart || (error instanceof TypeError && "code" in error)) {
    console.error(error.message);
    return 2;
  }
  throw error;
});
