/** `npm run check`: types, lint and format, limits, dead code, house rules, all at once, each with its seconds. */
import { spawn } from "node:child_process";
import { globSync, readFileSync, rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { changedSince, type Fingerprints, fingerprints, rememberPassed } from "./fingerprints.ts";
import { conclude, type Tally } from "./tally.ts";
import { runTests } from "./tests.ts";

/** The arguments of a tool, and the function to call after it has passed; undefined when there is nothing to check. */
type Call = { readonly args: readonly string[]; readonly passed?: () => void };
type Tool = { readonly name: string; readonly what: string; readonly call: () => Call | undefined };

const bin = (path: string): string => `node_modules/${path}`;
const cached = (name: string): string => `node_modules/.cache/check/${name}`;

const biome = bin("@biomejs/biome/bin/biome");

type Linted = { readonly args: readonly string[]; readonly config: string; readonly folders: readonly string[] };

/** Lints the files that have changed since they last passed. Biome judges each file by itself. */
const linting = (name: string, { args, config, folders }: Linted, files: () => Fingerprints): Tool["call"] => {
  const isOurs = (path: string): boolean =>
    /\.([cm]?[jt]sx?|jsonc?|css|html|graphql)$/.test(path) &&
    (folders.length === 0 || folders.some((folder) => path.startsWith(`${folder}/`)));
  return () => {
    const texts = [config, "biome.json", ".gitignore", bin("@biomejs/biome/package.json")];
    const key = [...args, ...texts.map((path) => readFileSync(path, "utf8"))].join("\n");
    const all = Object.fromEntries(Object.entries(files()).filter(([path]) => isOurs(path)));
    const passed = (): void => rememberPassed(cached(name), key, all);
    const changed = changedSince(cached(name), key, all);
    if (changed === undefined) return { args: [biome, ...args, ...folders], passed };
    if (changed.length === 0) return undefined;
    return { args: [biome, ...args, "--no-errors-on-unmatched", "--files-ignore-unknown=true", ...changed], passed };
  };
};

const types = ["-p", "tsconfig.json", "--incremental", "--tsBuildInfoFile", cached("types.json")];
const pageTypes = ["-p", "shared/page/tsconfig.json", "--incremental", "--tsBuildInfoFile", cached("page-types.json")];
const limited = ["functions", "infra", "shared"];

const toolsFor = (files: () => Fingerprints): readonly Tool[] => [
  { name: "types", what: "tsc, strict", call: () => ({ args: [bin("typescript/bin/tsc"), ...types] }) },
  {
    name: "page types",
    what: "tsc, strict: what runs in a browser",
    call: () => ({ args: [bin("typescript/bin/tsc"), ...pageTypes] }),
  },
  {
    name: "style",
    what: "biome: lint and format",
    call: linting("style", { args: ["check", "--error-on-warnings"], config: "biome.json", folders: [] }, files),
  },
  {
    name: "limits",
    what: "functions end before 50 lines and 5 parameters (aim: 40 and 4)",
    call: linting(
      "limits",
      { args: ["lint", "--config-path=infra/limits.json"], config: "infra/limits.json", folders: limited },
      files,
    ),
  },
  {
    name: "dead code",
    what: "knip: unused files, exports, dependencies",
    call: () => ({ args: [bin("knip/bin/knip.js"), "--no-progress", "--cache", "--cache-location", cached("knip")] }),
  },
];

const names = toolsFor(() => ({}));

const help = `npm run check [-- [NAME…] [--fresh] [--json FILE]]

${names.map(({ name, what }) => `  ${name.padEnd(10)} ${what}`).join("\n")}
  house      rooms and their imports, names, lengths, purity (test/proof/house)

  --fresh    forgets what passed before; otherwise only what has changed is linted and its types checked`;

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1).padStart(6)} s`;

type Ran = { readonly ok: boolean; readonly said: string };

const ran = (args: readonly string[]): Promise<Ran> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        said += chunk.toString("utf8");
      });
    child.on("close", (code) => resolve({ ok: code === 0, said }));
  });

/** Runs one tool. Prints its output only when it fails. */
const ask = async ({ name, what, call }: Tool): Promise<boolean> => {
  const start = performance.now();
  const asked = call();
  const { ok, said } = asked === undefined ? { ok: true, said: "" } : await ran(asked.args);
  if (ok) asked?.passed?.();
  const about = asked === undefined ? `${what}: unchanged` : what;
  console.log(`${ok ? "✓" : "✗"} ${name.padEnd(10)} ${about.padEnd(75)} ${seconds(performance.now() - start)}`);
  if (!ok) console.log(said.trim());
  return ok;
};

const house = async (): Promise<Tally> => {
  const { tally } = await runTests({ files: globSync("test/proof/house/*.test.ts").sort() });
  return tally;
};

const main = async (): Promise<void> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { fresh: { type: "boolean" }, json: { type: "string" }, help: { type: "boolean", short: "h" } },
  });
  if (values.help) return console.log(help);
  if (values.fresh) rmSync(cached(""), { recursive: true, force: true });
  const wanted = (name: string): boolean => positionals.length === 0 || positionals.includes(name);
  const all = fingerprints();
  const tools = toolsFor(() => all).filter(({ name }) => wanted(name));
  const [tests, ...oks] = await Promise.all([
    wanted("house") ? house() : { passed: 0, failed: 0, skipped: 0 },
    ...tools.map(ask),
  ]);
  const asked = tools.map(({ name }, index) => ({ name, ok: oks[index] === true }));
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
