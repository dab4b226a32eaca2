/** A mistake in the settings at the start costs one line that says what to change, and nothing else. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type Machine, onMachine } from "./machine.ts";
import { answer } from "./way.ts";

const it = (title: string, act: Parameters<typeof onMachine>[0]): void => void test(title, onMachine(act));

describe("a mistake at the start of a host", () => {
  const free = "http://127.0.0.1:1";
  const config = (server: string): string =>
    JSON.stringify({
      clusters: [{ name: "c", cluster: { server } }],
      contexts: [{ name: "c", context: { cluster: "c" } }],
      "current-context": "c",
    });
  type Case = { name: string; args: readonly string[]; files?: Readonly<Record<string, string>>; says: RegExp };
  const cases: readonly Case[] = [
    {
      name: "an unknown flag",
      args: ["--namespace=a"],
      says: /^flag --namespace: unknown; did you mean --namespaces\?$/,
    },
    {
      name: "a setting without sense",
      args: ["--resync=soon"],
      says: /^flag --resync=soon: write a duration such as 30s or 5m$/,
    },
    { name: "a word too many", args: ["spark"], says: /^spark: settings are flags/ },
    { name: "a selector that is none", args: ["--selector=a in"], says: /^flag --selector=a in: .*team=data/ },
    { name: "a config file that is not there", args: ["--config=FOLDER/none"], says: /none: cannot be read \(ENOENT/ },
    {
      name: "a config file with an unknown name",
      args: ["--config=FOLDER/c.yaml"],
      files: { "c.yaml": "namespacess: a\n" },
      says: /c\.yaml: namespacess: unknown; did you mean namespaces\?$/,
    },
    {
      name: "a config file that is not YAML",
      args: ["--config=FOLDER/c.yaml"],
      files: { "c.yaml": "a: [\n" },
      says: /c\.yaml: is not YAML/,
    },
    {
      name: "a kubeconfig that is not there",
      args: ["--kubeconfig=FOLDER/none"],
      says: /^rekindle: kubeconfig not found: .*none$/,
    },
    {
      name: "a kubeconfig that is none",
      args: ["--kubeconfig=FOLDER/k"],
      files: { k: "clusters: 3\n" },
      says: /^rekindle: kubeconfig .*k is not valid: clusters:/,
    },
    {
      name: "a context that is not there",
      args: ["--context=prod"],
      says: /^rekindle: the kubeconfig has no context prod \(it has simulator\)$/,
    },
    {
      name: "a server that is away",
      args: ["--kubeconfig=FOLDER/k"],
      files: { k: config(free) },
      says: /^the API server http:\/\/127\.0\.0\.1:1 \(context c\) cannot be reached: .*ECONNREFUSED/,
    },
    {
      name: "a secret that is not there",
      args: ["--trigger-secret-file=FOLDER/none"],
      says: /^rekindle: setting triggerSecret: .*none cannot be read/,
    },
    {
      name: "a secret that is short",
      args: ["--trigger-secret-file=FOLDER/s"],
      files: { s: "short" },
      says: /^rekindle: setting triggerSecret: .*s: a secret of at least 16 characters is needed$/,
    },
  ];
  const mistaken = async ({ folder, host, asked }: Machine, { args, files = {}, says }: Case): Promise<void> => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const run = host(...args.map((arg) => arg.replace("FOLDER", folder)));
    assert.equal(await run.code, 1);
    assert.equal(run.err.length, 1, run.err.join("\n"));
    assert.match(run.err[0] ?? "", says);
    assert.doesNotMatch(run.err[0] ?? "", /\n|\bat .*:\d+/);
    assert.deepEqual([run.lines, asked.filter((line) => !line.startsWith("GET"))], [[], []]);
  };
  for (const one of cases) it(`${one.name}: one line, and no change`, (machine) => mistaken(machine, one));

  it("a missing right to read the cluster's identity: one line that names it", async ({ fault, host }) => {
    const words = 'namespaces "kube-system" is forbidden: User "x" cannot get resource "namespaces"';
    fault(({ path }) => (path.endsWith("/namespaces/kube-system") ? answer(403, "Forbidden", words) : undefined));
    const run = host();
    assert.deepEqual(
      [await run.code, run.err],
      [1, [`rekindle host: cannot start: get namespaces kube-system: ${words}`]],
    );
  });

  it("a port that is in use: one line, and the host ends", async ({ host, asked }) => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const address = taken.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    try {
      const run = host("--listen", `127.0.0.1:${port}`);
      assert.equal(await run.code, 1);
      assert.match(
        run.err.join("\n"),
        new RegExp(`^rekindle: cannot listen on 127.0.0.1:${port}: .*EADDRINUSE.*set --listen$`),
      );
      const before = asked.length;
      await new Promise((resolve) => setTimeout(resolve, 30));
      assert.equal(asked.length, before, "it asks nothing any more");
    } finally {
      taken.close();
    }
  });
});
