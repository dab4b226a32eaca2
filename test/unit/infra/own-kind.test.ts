/**
 * `infra/examples/own-kind`, a kind of another package, beside the unpacked package (`published.test.ts` has npm install it):
 * it compiles, runs in a host and in functions, and is swept.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import * as z from "zod";
import { recordDefinition } from "../../../shared/deployments/library/record-definition.ts";
import { serveSimulator } from "../../../shared/simulator/http/serve.ts";
import { openSimulator, type Simulator } from "../../../shared/simulator/open.ts";
import { openTarball } from "../../support/packed.ts";
import { taken } from "../adapters/sqs/fake.ts";
import { withQueue } from "../deployments/surroundings.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const empty = mkdtempSync(join(tmpdir(), "rekindle-own-kind-"));
const home = join(empty, "own-kind");

before(async () => {
  const { tarball } = await openTarball();
  const unpacked = join(home, "node_modules", "rekindle");
  mkdirSync(unpacked, { recursive: true });
  const { status, stderr } = spawnSync("tar", ["-xzf", tarball, "-C", unpacked, "--strip-components=1"]);
  assert.equal(status, 0, String(stderr));
  cpSync(join(unpacked, "infra", "examples", "own-kind"), home, { recursive: true });
});
after(() => rmSync(empty, { recursive: true }));

const node = (folder: string, ...args: readonly string[]) =>
  spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8", env: { PATH: process.env["PATH"] ?? "" } });

const example = { apiVersion: "example.com/v1", kind: "PodSet", metadata: { name: "web" } };
const template = { restartPolicy: "Never", containers: [{ name: "main", image: "busybox" }] };
const collection = "/apis/example.com/v1/namespaces/default/podsets";

const asked = (simulator: Simulator, method: "GET" | "POST", path: string, body?: unknown): unknown => {
  const headers = { "content-type": "application/json" };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  return JSON.parse(simulator.handle({ method, path, headers, ...sent }).body);
};

const shown = z.object({ status: z.object({ ready: z.number() }).optional() });
const readyIn = (simulator: Simulator): number | undefined =>
  shown.parse(asked(simulator, "GET", `${collection}/web`)).status?.ready;

const podsIn = ({ store }: Simulator): readonly string[] => store.list("pods").map(({ metadata }) => metadata.name);

/** Serves a simulator with a PodSet of three. */
const onSimulator = async (work: (simulator: Simulator, url: string, kubeconfig: string) => Promise<void>) => {
  const { definition } = z
    .object({ definition: z.unknown() })
    .parse(await import(pathToFileURL(join(home, "kind.ts")).href));
  const simulator = openSimulator({ crds: [recordDefinition, definition] });
  const { url, kubeconfig, close } = await serveSimulator(simulator);
  try {
    asked(simulator, "POST", collection, { ...example, spec: { replicas: 3, template } });
    await work(simulator, url, kubeconfig);
  } finally {
    await close();
  }
};

const until = async (what: string, isSo: () => boolean): Promise<void> => {
  for (let tries = 0; !isSo(); tries += 1) {
    assert.ok(tries < 300, what);
    await sleep(100);
  }
};

const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => child.once("exit", (code) => resolve(code)));

describe("the example of a kind of one's own", () => {
  it("has at most 120 lines, package.json included", () => {
    const files = globSync("*", { cwd: join(root, "infra", "examples", "own-kind") });
    const lines = files.map(
      (file) => readFileSync(join(root, "infra/examples/own-kind", file), "utf8").split("\n").length - 1,
    );
    assert.ok(files.length >= 4);
    assert.ok(lines.reduce((sum, count) => sum + count, 0) <= 120, `${lines}`);
  });

  it("compiles against the package's types in strict mode", () => {
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    const settings = ["--strict", "--noEmit", "--target", "es2024", "--lib", "es2024", "--module", "nodenext"];
    const types = ["--types", "node", "--typeRoots", join(root, "node_modules", "@types")];
    const files = globSync("*.ts", { cwd: home });
    const { stdout, status } = node(home, tsc, ...settings, "--allowImportingTsExtensions", ...types, ...files);
    assert.deepEqual([stdout, status], ["", 0]);
  });

  it("runs in a host, which ends when it is told to", async () => {
    await onSimulator(async (simulator, _, kubeconfig) => {
      const file = join(empty, "kubeconfig");
      writeFileSync(file, kubeconfig);
      const host = spawn(process.execPath, ["host.ts"], {
        ...{ cwd: home, env: { PATH: process.env["PATH"] ?? "", KUBECONFIG: file } },
        stdio: ["ignore", "inherit", "inherit"],
      });
      const code = ended(host);
      try {
        await until("three pods are ready", () => readyIn(simulator) === 3);
        simulator.killPod("default", "web-1", { code: 1 });
        await until("the killed pod is missed", () => readyIn(simulator) !== 3);
        await until("the killed pod is replaced", () => readyIn(simulator) === 3);
      } finally {
        host.kill("SIGTERM");
      }
      assert.equal(await code, 0);
    });
  });

  it("runs in functions: two find its keys, and one takes its steps", async () => {
    await onSimulator(async (simulator, server) => {
      await withQueue(taken, async (queues, bodies) => {
        const invoke = async (name: string, event: object, remainingMs: number): Promise<unknown> => {
          const program = `import { ${name} as run } from "./function.ts";
const context = { getRemainingTimeInMillis: () => ${remainingMs} };
const answer = await run(${JSON.stringify(event)}, context);
console.log(JSON.stringify(answer));
process.exit();`;
          const awsOf = Object.entries(process.env).filter(([key]) => key.startsWith("AWS_"));
          const env = { PATH: process.env["PATH"] ?? "", ...Object.fromEntries(awsOf), ...queues };
          const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
            ...{ cwd: home, env: { ...env, REKINDLE_CLUSTER_RECORD: JSON.stringify({ server }) } },
            stdio: ["ignore", "pipe", "inherit"],
          });
          const code = ended(child);
          let text = "";
          for await (const chunk of child.stdout) text += String(chunk);
          assert.equal(await code, 0);
          return JSON.parse(text.trim().split("\n").at(-1) ?? "");
        };
        const keys = () => bodies().map((body) => JSON.stringify(body));
        await invoke("forward", {}, 12_000);
        assert.ok(keys().some((key) => key.includes('"kind":"PodSet"') && key.includes('"name":"web"')));
        const forwarded = keys().length;
        await invoke("resync", {}, 30_000);
        assert.ok(keys().length > forwarded, "a resync finds the object without a record");
        const event = {
          Records: [
            { messageId: "1", body: JSON.stringify(bodies()[0]), attributes: { ApproximateReceiveCount: "1" } },
          ],
        };
        const done = { batchItemFailures: [] };
        assert.deepEqual(await invoke("handler", event, 30_000), done);
        assert.deepEqual(podsIn(simulator), ["web-0", "web-1", "web-2"]);
        await until("the pods run", () =>
          simulator.store.list("pods").every((pod) => JSON.stringify(pod).includes('"phase":"Running"')),
        );
        assert.deepEqual(await invoke("handler", event, 30_000), done);
        assert.equal(readyIn(simulator), 3);
      });
    });
  });
});

type Edits = readonly (readonly [from: string, to: string])[];

/** Planted faults: each is no fault of the life without deaths, and the sweep finds it. */
const planted: readonly { name: string; edits: Edits; found: RegExp }[] = [
  {
    name: "a rest that no resync ends",
    edits: [['next: { do: "wait" }', 'next: { do: "rest" }']],
    found: /^message \d+: lost: /m,
  },
  {
    name: "a record that counts as proof of its effects",
    edits: [
      ["{ object, uid }: View", "{ object, uid, memory }: View"],
      ["const missing = names", "const missing = (memory !== undefined && found.length === 0 ? [] : names)"],
    ],
    found: /^call \d+, .*: dies (before|after): /m,
  },
];

/** A planted fault shows with two pods as with three, in half the time. */
const twoPods: Edits = [
  ["replicas: 3", "replicas: 2"],
  ["owned.length === 3", "owned.length === 2"],
  ["ready === 3", "ready === 2"],
];

const edit = (file: string, edits: Edits): void => {
  const right = readFileSync(file, "utf8");
  const wrong = edits.reduce((text, [from, to]) => {
    assert.equal(text.split(from).length, 2, from);
    return text.replace(from, to);
  }, right);
  writeFileSync(file, wrong);
};

describe("the sweep of the example", () => {
  it("finds no violation at any death, failure or lost message", () => {
    const { stdout, stderr, status } = node(home, "sweep.ts");
    const [, cases = "0"] = /^\d+ calls, (\d+) cases, 0 violations$/m.exec(stdout) ?? [];
    assert.equal(status, 0, stdout + stderr);
    assert.ok(Number(cases) > 250, `${cases} cases`);
  });

  for (const { name, edits, found } of planted) {
    it(`finds ${name}`, () => {
      const folder = join(empty, name.replaceAll(" ", "-"));
      cpSync(home, folder, { recursive: true });
      edit(join(folder, "kind.ts"), edits);
      edit(join(folder, "sweep.ts"), twoPods);
      const { stderr, status } = node(folder, "sweep.ts");
      assert.match(stderr, found);
      assert.doesNotMatch(stderr, /without a fault: /);
      assert.equal(status, 1);
    });
  }
});
