/** `rekindle jobflow`, `jobtemplate` and `pod`: their writes and output, in the manner of vcctl. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { stringify } from "yaml";
import type { Obj } from "../../../shared/core/object.ts";
import { make, onTerminal, openTerminal, type Terminal } from "./terminal.ts";

const object = (kind: "JobFlow" | "JobTemplate", name: string, more: object = {}): Obj => ({
  apiVersion: "flow.volcano.sh/v1alpha1",
  kind,
  metadata: { name, ...more },
  spec: kind === "JobFlow" ? { flows: [{ name: "a" }], jobRetainPolicy: "retain" } : {},
});

const cells = (text: string): readonly (readonly string[])[] => text.split("\n").map((line) => line.split(/ {2,}/));

/** Returns a terminal on the same cluster with these objects on stdin. */
const piped = (terminal: Terminal, objects: readonly Obj[]): Terminal =>
  onTerminal(terminal.simulator, { stdin: objects.map((one) => stringify(one)).join("---\n") });

const kinds = [
  ["jobflow", "JobFlow", ["Name", "Namespace", "Phase", "Age"], ["", "0s"]],
  ["jobtemplate", "JobTemplate", ["Name", "Namespace"], []],
] as const;

for (const [word, kind, heads, further] of kinds)
  describe(`rekindle ${word}`, () => {
    const opened = async (): Promise<Terminal> => {
      const terminal = openTerminal();
      const made = await piped(terminal, [object(kind, "one"), object(kind, "two")]).run(word, "create", "-f", "-");
      assert.deepEqual([made.code, made.out], [0, `Created ${kind}: default/one\nCreated ${kind}: default/two`]);
      return terminal;
    };

    test("list and get print vcctl's columns", async () => {
      const terminal = await opened();
      const rows = [
        ["one", "default", ...further],
        ["two", "default", ...further],
      ];
      const spaced = (row: readonly string[]): string => row.filter((cell) => cell !== "").join(" ");
      const shown = async (...args: readonly string[]) =>
        cells((await terminal.run(word, ...args)).out).map((row) => spaced(row));
      assert.deepEqual(await shown("list"), [heads, ...rows].map(spaced));
      assert.deepEqual(await shown("list", "--all-namespaces"), [heads, ...rows].map(spaced));
      assert.deepEqual(await shown("get", "-N", "two"), [heads, rows[1] ?? []].map(spaced));
      assert.equal((await terminal.run(word, "list", "-n", "other")).out, "No resources found");
    });

    test("describe prints one or all, complete, without managed fields", async () => {
      const terminal = await opened();
      const one = await terminal.run(word, "describe", "one", "-o", "json");
      assert.deepEqual([JSON.parse(one.out).kind, JSON.parse(one.out).metadata.name], [kind, "one"]);
      const all = (await terminal.run(word, "describe")).out;
      assert.equal(all.split("\n---------------------------------\n").length, 2);
      assert.match(all, new RegExp(`^kind: ${kind}$`, "m"));
      assert.doesNotMatch(all, /managedFields/);
    });

    test("delete removes one, or the ones of a file", async () => {
      const terminal = await opened();
      assert.equal((await terminal.run(word, "delete", "-N", "one")).out, `Deleted ${kind}: default/one`);
      const { out } = await piped(terminal, [object(kind, "two")]).run(word, "delete", "-f", "-");
      assert.equal(out, `Deleted ${kind}: default/two`);
      assert.equal((await terminal.run(word, "list")).out, "No resources found");
    });

    test("create prints the names that the server gave", async () => {
      const { metadata } = object(kind, "x");
      const drawn = { ...object(kind, "x"), metadata: { ...metadata, name: "", generateName: "nightly-" } };
      const { out } = await piped(openTerminal(), [drawn]).run(word, "create", "-f", "-");
      assert.match(out, new RegExp(`^Created ${kind}: default/nightly-[a-z0-9]{5}$`));
    });

    test("prints one line for each failure, and does the rest", async () => {
      const terminal = await opened();
      const some = piped(terminal, [object(kind, "one"), object(kind, "three")]);
      const made = await some.run(word, "create", "-f", "-");
      assert.deepEqual([made.code, made.out], [1, `Created ${kind}: default/three`]);
      assert.match(made.err, new RegExp(`^rekindle: ${kind} default/one: .*exists`));
      const foreign = { ...object(kind, "x"), kind: "Job", apiVersion: "batch.volcano.sh/v1alpha1" };
      const wrong = await piped(terminal, [foreign]).run(word, "create", "-f", "-");
      assert.match(wrong.err, new RegExp(`is a Job of batch.volcano.sh/v1alpha1, and not a ${kind}$`));
      assert.match((await terminal.run(word, "get", "none")).err, new RegExp(`there is no ${word} default/none; `));
      assert.match((await terminal.run(word, "delete")).err, new RegExp(`name one ${word}: NAME, or -N NAME$`));
      assert.equal((await terminal.run(word, "create")).code, 2);
    });
  });

const pod = (name: string, labels: Readonly<Record<string, string>>, annotations = {}): Obj => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default", labels, annotations },
  spec: { containers: [{ name: "c", image: "i" }] },
  status: {
    phase: "Running",
    containerStatuses: [{ name: "c", ready: true, restartCount: 2, state: { running: {} } }],
  },
});

describe("rekindle pod list", () => {
  const ofJob = (job: string, queue: string) => ({ "volcano.sh/job-name": job, "volcano.sh/queue-name": queue });
  const pods = [
    pod("a-w-0", ofJob("a", "gpu")),
    pod("b-w-0", ofJob("b", "cpu")),
    pod("bare", {}, { "scheduling.volcano.sh/queue-name": "gpu" }),
    pod("stranger", {}),
  ];
  const rows: readonly (readonly [args: readonly string[], names: readonly string[]])[] = [
    [[], ["a-w-0", "b-w-0"]],
    [["-A"], ["a-w-0", "b-w-0"]],
    [["-j", "a"], ["a-w-0"]],
    [
      ["--queue", "gpu"],
      ["a-w-0", "bare"],
    ],
    [["-j", "a", "-q", "gpu"], ["a-w-0"]],
  ];
  for (const [args, names] of rows)
    test(`${args.join(" ")}: ${names.join(", ")}`, async () => {
      const terminal = openTerminal();
      await make(terminal.simulator, ...pods);
      const { code, out, err } = await terminal.run("pod", "list", ...args);
      assert.equal(code, 0, err);
      assert.deepEqual(cells(out), [
        ["Name", "Ready", "Status", "Restart", "Age"],
        ...names.map((name) => [name, "1/1", "Running", "2", "0s"]),
      ]);
    });

  test("finds no pod, and refuses a queue that is not the job's", async () => {
    const terminal = openTerminal();
    await make(terminal.simulator, ...pods);
    assert.equal((await terminal.run("pod", "list", "-j", "none")).out, "No resources found");
    const { code, err } = await terminal.run("pod", "list", "-j", "a", "-q", "cpu");
    assert.deepEqual([code, err], [1, "rekindle: the job a is not of the queue cpu"]);
  });
});
