/** The runner of test files: many share a process, and a file that disturbs the next one fails itself. */
import assert from "node:assert/strict";
import { globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { runTests, type TestResult } from "../../../infra/tests.ts";

const folder = mkdtempSync(join(tmpdir(), "rekindle-tests-"));
after(() => rmSync(folder, { recursive: true }));

/** Runs files with these bodies, one after the other; their names are their letters. */
const ran = async (bodies: Readonly<Record<string, string>>): Promise<TestResult> => {
  const files = Object.entries(bodies).map(([name, body]) => {
    const file = join(folder, `${name}.test.ts`);
    writeFileSync(file, `import { test, before, after } from "node:test";\n${body}\n`);
    return file;
  });
  const { log } = console;
  console.log = () => {};
  try {
    return await runTests({ files, workers: 1 });
  } finally {
    console.log = log;
  }
};

const failuresOf = ({ failures }: TestResult): readonly string[] =>
  failures.map(({ file, message }) =>
    `${file.slice(folder.length + 1)}: ${message.split("\n")[0]}`.replaceAll(`${folder}/`, ""),
  );

/** Writes its process's id, so that the next file can compare. */
const remembers = `test("remembers", () => { process.title = "a shared process"; });`;
const compares = `test("compares", () => { if (process.title !== "a shared process") throw new Error("another process"); });`;

test("files share a process", async () => {
  const result = await ran({ a: remembers, b: compares });
  assert.deepEqual(failuresOf(result), []);
  assert.deepEqual(result.tally, { passed: 2, failed: 0, skipped: 0 });
});

test("a process stores the modules that it compiled, for all later ones", async () => {
  const { NODE_COMPILE_CACHE: before = "" } = process.env;
  const cache = join(folder, "compiled");
  process.env["NODE_COMPILE_CACHE"] = cache;
  try {
    await ran({ t: `test("is well", () => {});` });
  } finally {
    if (before === "") delete process.env["NODE_COMPILE_CACHE"];
    else process.env["NODE_COMPILE_CACHE"] = before;
  }
  // Of each module of TypeScript: its JavaScript, and that compiled.
  const stored = globSync("*/*", { cwd: cache });
  assert.ok(stored.length >= 4, `${stored.length} files`);
});

test("a file that measures its process has one of its own", async () => {
  const result = await ran({ c: remembers, d: `${compares} process.cpuUsage();` });
  assert.deepEqual(failuresOf(result), ["d.test.ts: Error: another process"]);
});

test("a file starts with the environment and the folder of the first one", async () => {
  const result = await ran({
    e: `test("leaves", () => { process.env["LEFT"] = "e"; delete process.env["PATH"]; process.chdir("/"); });`,
    f: `test("finds", () => {
          const found = [process.env["LEFT"], process.env["PATH"] === undefined, process.cwd() === "/"];
          if (found.some(Boolean)) throw new Error(String(found));
        });`,
  });
  assert.deepEqual(failuresOf(result), []);
});

test("a file that leaves a function of everyone replaced fails, and the next file has a new process", async () => {
  const result = await ran({ g: `${remembers} Date.now = () => 0;`, h: compares });
  assert.deepEqual(failuresOf(result), [
    "g.test.ts: g.test.ts has left Date.now replaced",
    "h.test.ts: Error: another process",
  ]);
});

test("a file that leaves a listener of the process fails", async () => {
  const result = await ran({ i: `test("listens", () => { process.on("SIGUSR2", () => {}); });` });
  assert.deepEqual(failuresOf(result), ["i.test.ts: i.test.ts has left a listener of the process to SIGUSR2"]);
});

test("an error after the end of its test fails the file", async () => {
  const late = `test("ends early", () => { setTimeout(() => { throw new Error("late"); }, 1); });`;
  const { failures } = await ran({ j: late, k: `test("is well", () => {});` });
  assert.deepEqual(
    failures.map(({ file }) => file),
    [join(folder, "j.test.ts")],
  );
  assert.match(failures[0]?.message ?? "", /has set the exit code 1\n.*"ends early".*late/s);
});

test("a file that ends its process fails by itself, and the next one runs", async () => {
  const result = await ran({ l: `test("exits", () => process.exit(3));`, m: `test("is well", () => {});` });
  assert.deepEqual(failuresOf(result), ["l.test.ts: the process of l.test.ts ended with 3 before its tests did"]);
  assert.equal(result.tally.passed, 1);
});

test("a file that cannot be imported fails by itself", async () => {
  const result = await ran({ n: `throw new Error("no import");`, o: `test("is well", () => {});` });
  assert.deepEqual(failuresOf(result), ["n.test.ts: Error: no import"]);
  assert.equal(result.tally.passed, 1);
});

test("a file without a test fails, unless only some tests are chosen", async () => {
  assert.deepEqual(failuresOf(await ran({ p: "" })), ["p.test.ts: p.test.ts has run no test"]);
});

test("each file's hooks are its own", async () => {
  const result = await ran({
    q: `let open = true; before(() => { open = false; }); test("has its hook", () => { if (open) throw new Error("before did not run"); });`,
    r: `after(() => { throw new Error("after ran"); }); test("is well", () => {});`,
    s: `test("is well", () => {});`,
  });
  assert.deepEqual(
    result.failures.map(({ file }) => file),
    [join(folder, "r.test.ts")],
  );
});
