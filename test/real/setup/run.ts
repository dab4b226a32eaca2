/** `npm run setup [-- PART …]`: downloads and builds the real parts that tests and benchmarks run on, once, into a cache. */
import { parseArgs } from "node:util";
import { conclude } from "../../../infra/tally.ts";
import { type Outcome, prepare, UnknownPart } from "./ensure.ts";
import { cacheDir } from "./part.ts";
import { parts, usual } from "./parts.ts";

const usage = (): string =>
  [
    "npm run setup [-- PART …] [--system] [--json FILE]",
    "",
    ...parts.map((part) => `  ${part.name.padEnd(11)}${part.why}\n${" ".repeat(13)}${part.sizeHint}`),
    "",
    `Without a PART: ${usual.join(" ")}. Everything goes to ${cacheDir()} (REKINDLE_CACHE names another folder).`,
    "Programs of the operating system are installed only with --system or CI=true.",
  ].join("\n");

const line = ({ part, ok, ms, message }: Outcome): string =>
  `${ok ? "ok  " : "FAIL"} ${part.padEnd(11)}${message}${ms < 1000 ? "" : ` in ${(ms / 1000).toFixed(0)} s`}`;

const main = async (): Promise<void> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { help: { type: "boolean" }, system: { type: "boolean" }, json: { type: "string" } },
  });
  if (values.help) {
    console.log(usage());
    return;
  }
  const names = positionals.length > 0 ? positionals : usual;
  const outcomes = await prepare(names, (part, text) => console.log(`     ${part.padEnd(11)}${text}`));
  for (const outcome of outcomes) console.log(line(outcome));
  const failed = outcomes.filter((outcome) => !outcome.ok).length;
  const tally = { passed: outcomes.length - failed, failed, skipped: 0 };
  conclude(tally, values.json === undefined ? undefined : { file: values.json, details: { outcomes } });
};

await main().catch((error: unknown) => {
  if (!(error instanceof UnknownPart || (error instanceof TypeError && "code" in error))) throw error;
  console.error(error.message);
  process.exitCode = 2;
});
