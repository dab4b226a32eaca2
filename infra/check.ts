/** `npm run check`: types, lint and format, limits, dead code, house rules; each with its seconds. */
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { parseArgs } from "node:util";
import { conclude, type Tally } from "./tally.ts";
import { runTests } from "./tests.ts";

type Tool = { readonly name: string; readonly what: string; readonly args: readonly string[] };

const bin = (path: string): string => `node_modules/${path}`;

const tools: readonly Tool[] = [
  { name: "types", what: "tsc, strict", args: [bin("typescript/bin/tsc"), "-p", "tsconfig.json"] },
  {
    name: "style",
    what: "biome: lint and format",
    args: [bin("@biomejs/biome/bin/biome"), "check", "--error-on-warnings"],
  },
  {
    name: "limits",
    what: "functions end before 50 lines and 5 parameters (aim: 40 and 4)",
    args: [bin("@biomejs/biome/bin/biome"), "lint", "--config-path=infra/limits.json", "functions", "infra", "shared"],
  },
  {
    name: "dead code",
    what: "knip: unused files, exports, dependencies",
    args: [bin("knip/bin/knip.js"), "--no-progress"],
  },
];

const help = `npm run check [-- [NAME…] [--json FILE]]

${tools.map(({ name, what }) => `  ${name.padEnd(10)} ${what}`).join("\n")}
  house      rooms and their imports, names, lengths, purity (test/house)`;

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1).padStart(6)} s`;

/** Runs one tool quietly; what it says is shown only when it objects. */
const ask = ({ name, what, args }: Tool): boolean => {
  const start = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  const ok = status === 0;
  console.log(`${ok ? "✓" : "✗"} ${name.padEnd(10)} ${what.padEnd(62)} ${seconds(performance.now() - start)}`);
  if (!ok) console.log(`${stdout}${stderr}`.trim());
  return ok;
};

const house = async (): Promise<Tally> => {
  const { tally } = await runTests({ files: globSync("test/house/*.test.ts").sort() });
  return tally;
};

const main = async (): Promise<void> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { json: { type: "string" }, help: { type: "boolean", short: "h" } },
  });
  if (values.help) return console.log(help);
  const wanted = (name: string): boolean => positionals.length === 0 || positionals.includes(name);
  const asked = tools.filter(({ name }) => wanted(name)).map((tool) => ({ name: tool.name, ok: ask(tool) }));
  const tests = wanted("house") ? await house() : { passed: 0, failed: 0, skipped: 0 };
  const tally: Tally = {
    passed: tests.passed + asked.filter(({ ok }) => ok).length,
    failed: tests.failed + asked.filter(({ ok }) => !ok).length,
    skipped: tests.skipped,
  };
  conclude(
    tally,
    values.json === undefined ? undefined : { file: values.json, details: { tools: asked, house: tests } },
  );
};

process.chdir(new URL("..", import.meta.url).pathname);
await main();
