/**
 * Every command in README, guides and reference. The test runs `rekindle …` on a simulated cluster, checks that npm
 * scripts exist, and has one list of commands that cannot run here, with reasons.
 */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setImmediate as immediate } from "node:timers/promises";
import { stringify } from "yaml";
import * as z from "zod";
import { request } from "../../../shared/adapters/kubernetes/requests.ts";
import type { Obj } from "../../../shared/core/object.ts";
import type { Simulator } from "../../../shared/simulator/open.ts";
import { pages } from "../../proof/house/pages.ts";
import { problemIn, wordsOf } from "../cli/command-parser.ts";
import { application, full, make, onTerminal, openTerminal, type Terminal } from "../cli/terminal.ts";
import { itOnStand, type Stand } from "../host/stand.ts";

const root = join(import.meta.dirname, "..", "..", "..");

type Block = { readonly page: string; readonly commands: readonly string[] };

const fence = /^ {0,3}```(\w*)$/;

/** Returns the commands of one line, such as both sides of a pipe, without comment and redirection. */
const commandsOf = (line: string): readonly string[] =>
  line
    .replace(/(^|\s+)# .*$/, "")
    .split(/ \| (?=kubectl )| && | &\s*$/)
    .map((one) => one.replace(/ > \S+$/, "").trim())
    .filter((one) => one !== "");

const blocksOf = (page: string): readonly Block[] => {
  const blocks: string[][] = [];
  let language: string | undefined;
  for (const line of readFileSync(join(root, page), "utf8").split("\n")) {
    const [opens, found = ""] = fence.exec(line) ?? [];
    if (opens !== undefined) {
      language = language === undefined ? found : undefined;
      if (language !== undefined) blocks.push([]);
    } else if (language !== undefined && ["", "text"].includes(language)) blocks.at(-1)?.push(line);
  }
  return blocks
    .map((lines) =>
      lines
        .join("\n")
        .replaceAll(/\\\n\s*/g, "")
        .split("\n")
        .flatMap(commandsOf),
    )
    .filter((commands) => commands.length > 0)
    .map((commands) => ({ page, commands }));
};

/** Commands that are not run here, with the reason. */
const notRun: readonly (readonly [begins: RegExp, because: string])[] = [
  [/^npm install$/, "asks a package registry"],
  [/^npm (pack|install --global )/, "packs and installs: published.test.ts does it"],
  [/^npm test( |$)/, "runs tests, this one among them"],
  [/^npx node --test /, "runs tests, this one among them"],
  [
    /^kubectl -n argocd patch /,
    "no kubectl and no Argo CD is here; argocd.test.ts compares the scripts with the states",
  ],
  [/^kubectl (apply --server-side|delete)/, "no kubectl is here; what is applied is printed by the command before it"],
  [
    /^kubectl (create namespace|-n \S+ create secret|apply -k) /,
    "no kubectl is here; kubernetes.test.ts reads the overlays",
  ],
  [/^kubectl port-forward /, "no kubectl is here, and no port of a pod"],
  [/^helm /, "no Helm is here: npm run infra:check renders the chart with Helm's engine"],
  [/^podman /, "no container engine is here: npm run infra:check carries the Containerfile's steps out"],
  [/^aws /, "asks an AWS account"],
  [/^nk /, "a tool of NATS, which is not here: npm run queue makes such a key itself"],
  [/^rekindle checkpoints migrate --to dynamodb:/, "asks a table: records-dynamodb.test.ts types it against one"],
  [
    /^rekindle log \S*team-a\//,
    "its pods here have no log: log runs for the guides, and process.test.ts of cli follows one",
  ],
  [
    /^(rekindle record team-a|rekindle replay|kubectl logs )/,
    "recording.test.ts of host records decisions and replays their log",
  ],
  [/^export /, "sets a variable of the reader's terminal"],
  [/[─◄►│]/, "a drawing"],
  [/^(function\*|if \(|const |return |\})/, "code of an example, which is no command"],
];

/** Commands whose exit code here is not 0, with their message. */
const endsOtherwise: readonly (readonly [command: RegExp, code: number, says: RegExp])[] = [
  [/^migrate --apply$/, 1, /nothing to take over from/],
  [/^migrate spark-pi --to /, 1, /there is no SparkApplication default\/spark-pi of/],
  [/^migrate --undo$/, 1, /nothing to undo: no record of a migration/],
  [/^create -f etl\.yaml --upload-to /, 1, /etl\.jar: cannot be read/],
];

/** Values for the placeholders that readers replace. */
const own = { NAME: "prod", REGION: "eu-west-1", TABLE: "records" } as const;

const filled = (command: string): string =>
  Object.entries(own).reduce(
    (text, [name, value]) => text.replaceAll(new RegExp(`\\b${name}\\b`, "g"), value),
    command,
  );

type Owner = { readonly apiVersion: string; readonly kind: string; readonly name: string };

const pod = (name: string, owner: Owner, labels: Readonly<Record<string, string>>): Obj => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "team-a", labels, ownerReferences: [{ ...owner, uid: "", controller: true }] },
  spec: { containers: [{ name: "main", image: "busybox" }] },
});

/** Returns the objects that the pages name, without those that the block itself creates. */
const objectsFor = (commands: readonly string[]): readonly Obj[] => {
  const creates = (kind: string, name: string): boolean =>
    commands.some((command) => command.includes(`${kind} create ${name}`) || command.includes(`${kind} run ${name}`));
  const etl = application("etl", { driverInfo: { podName: "etl-driver" }, applicationState: { state: "RUNNING" } });
  const spark = (role: string, more: Readonly<Record<string, string>> = {}) => ({
    "sparkoperator.k8s.io/app-name": "etl",
    "spark-role": role,
    ...more,
  });
  const volcano = (kind: string, name: string, namespace?: string, spec: object = {}): Obj => ({
    apiVersion: `${kind === "Job" ? "batch" : kind === "JobFlow" ? "flow" : "scheduling"}.volcano.sh/v1${kind === "Queue" ? "beta1" : "alpha1"}`,
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    spec,
  });
  const task = {
    name: "worker",
    replicas: 1,
    template: { spec: { containers: [{ name: "main", image: "busybox" }] } },
  };
  const ofEtl = { apiVersion: "sparkoperator.k8s.io/v1beta2", kind: "SparkApplication", name: "etl" };
  const ofTrain = { apiVersion: "batch.volcano.sh/v1alpha1", kind: "Job", name: "train" };
  const all: readonly Obj[] = [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "team-a" } },
    { ...etl, metadata: { ...etl.metadata, namespace: "team-a", labels: { team: "data", run: "7" } } },
    pod("etl-driver", ofEtl, spark("driver")),
    pod("etl-exec-3", ofEtl, spark("executor", { "spark-exec-id": "3" })),
    volcano("Job", "train", "team-a", { tasks: [task] }),
    pod("train-worker-0", ofTrain, {
      "volcano.sh/job-name": "train",
      "volcano.sh/task-spec": "worker",
      "volcano.sh/task-index": "0",
    }),
    volcano("Job", "pair", "team-a", { tasks: [task] }),
    volcano("JobFlow", "pipeline", "default", { flows: [], jobRetainPolicy: "retain" }),
    volcano("Queue", "team-a", undefined, { weight: 1 }),
  ];
  return all.filter(({ kind, metadata }) => !creates(kind.toLowerCase(), metadata.name));
};

/** The objects of the demo's cluster besides the CRDs. */
const installed: readonly Obj[] = [
  { apiVersion: "v1", kind: "Namespace", metadata: { name: "rekindle" } },
  { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "spark", namespace: "default" } },
];

const nightly: Obj = {
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "ScheduledSparkApplication",
  metadata: { name: "nightly", namespace: "default" },
  spec: { schedule: "@daily", concurrencyPolicy: "Forbid", template: full("nightly").spec },
};

const isRunning = z.object({ metadata: z.object({ name: z.string(), namespace: z.string() }) });

/** Ends every application and job, for commands that watch or wait. */
const endAll = async (simulator: Simulator): Promise<void> => {
  const ends = [
    [
      "sparkapplications.sparkoperator.k8s.io",
      "apis/sparkoperator.k8s.io/v1beta2",
      { applicationState: { state: "COMPLETED" } },
    ],
    ["jobs.batch.volcano.sh", "apis/batch.volcano.sh/v1alpha1", { state: { phase: "Completed" } }],
  ] as const;
  for (const [table, api, status] of ends)
    for (const item of simulator.store.list(table)) {
      const { metadata } = isRunning.parse(item);
      const path = `/${api}/namespaces/${metadata.namespace}/${table.split(".")[0]}/${metadata.name}`;
      const found = await request(simulator.transport, "GET", path);
      await request(simulator.transport, "PUT", `${path}/status`, { ...found, status: { driverInfo: {}, ...status } });
    }
};

const typed = /^(?:npx |node infra\/)?rekindle(?:\.mjs)? (.*)$/;
const applied = /^kubectl apply -f (\S+)$/;

/** Returns the arguments of `rekindle` for a command: `kubectl apply` stands for `create`. */
const argumentsOf = (command: string): string | undefined => {
  const [, file] = applied.exec(command) ?? [];
  return file === undefined ? typed.exec(command)?.[1] : `create -f ${file}`;
};

const script = /^npm run (\w[\w:]*)(?: -- (.*))?$/;

const documentation = pages.filter((page) => /^(README\.md$|infra\/docs\/|shared\/docs\/)/.test(page));
const blocks = documentation.flatMap(blocksOf);
const shown = [...new Set(blocks.map(({ page }) => page))];
const commandsIn = (page: string) => blocks.filter((block) => block.page === page).flatMap(({ commands }) => commands);
const isReference = (page: string): boolean => page.startsWith("infra/docs/reference/");
const reasonsUsed = new Set<number>();
const endsUsed = new Set<number>();
const folder = mkdtempSync(join(tmpdir(), "rekindle-blocks-"));

before(() => {
  for (const name of ["infra", "functions", "shared", "package.json"])
    symlinkSync(join(root, name), join(folder, name));
  mkdirSync(join(folder, "jobs"));
  const etl = full("etl");
  writeFileSync(join(folder, "jobs", "etl.yaml"), stringify({ ...etl, metadata: { name: "other" } }));
  writeFileSync(join(folder, "etl.yaml"), stringify({ ...etl, spec: { ...etl.spec, mainApplicationFile: "etl.jar" } }));
  const flow = { apiVersion: "flow.volcano.sh/v1alpha1", kind: "JobFlow", metadata: { name: "flow" } };
  writeFileSync(join(folder, "flow.yaml"), stringify({ ...flow, spec: { flows: [], jobRetainPolicy: "retain" } }));
  process.chdir(folder);
});
after(() => {
  process.chdir(root);
  rmSync(folder, { recursive: true });
});

/** Runs one command of `rekindle`, and asserts its exit code and output. */
const typeIn = async (terminal: Terminal, line: string): Promise<void> => {
  const at = endsOtherwise.findIndex(([command]) => command.test(line));
  const [, code, says] = endsOtherwise[at] ?? [/^/, 0, /^/];
  endsUsed.add(at);
  const ran = await terminal.run(...wordsOf(filled(line)));
  assert.equal(ran.code, code, `rekindle ${line}: ${ran.err}${ran.out}`);
  assert.match(`${ran.err}${ran.out}`, says, line);
};

/** Advances the host's time while a command runs, so that the event for which it waits happens. */
const whileTimePasses = async (stand: Stand, work: Promise<void>): Promise<void> => {
  let isOver = false;
  const end = work.finally(() => {
    isOver = true;
  });
  const until = process.hrtime.bigint() + 200_000_000_000n;
  while (!isOver && process.hrtime.bigint() < until) {
    await stand.pass(1 / 3_600);
    for (let left = 20; left > 0 && !isOver; left -= 1) await immediate();
  }
  assert.ok(isOver, "the command does not end within 200 s");
  await end;
};

const scripts = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8"))).scripts;

const reasonAt = (command: string): number => notRun.findIndex(([begins]) => begins.test(command));

/** Runs a command, or asserts that there is a reason why it does not run. */
const tryOut = async (terminal: Terminal, command: string): Promise<void> => {
  const at = reasonAt(command);
  const line = argumentsOf(command);
  if (at < 0 && line !== undefined) return await typeIn(terminal, line);
  const [, name] = script.exec(command) ?? [];
  if (name !== undefined)
    return assert.ok(scripts[name] !== undefined, `${command}: package.json has no script ${name}`);
  assert.ok(at >= 0, `${command}: run it in this test, or give the reason why it cannot run`);
  if (line !== undefined) assert.equal(await problemIn(wordsOf(filled(line))), undefined, command);
  reasonsUsed.add(at);
};

/** Commands of `rekindle` within sentences, which leave out arguments, and the page of each. */
const spans = pages.flatMap((page) =>
  [...readFileSync(join(root, page), "utf8").matchAll(/`rekindle ([a-z][^`…]*)`/g)].map(([, words = ""]) => ({
    page,
    words: words.split(/ \\?[|>] | -- /)[0] ?? "",
  })),
);

const it = itOnStand({ commands: true });

describe("commands that the documentation shows", () => {
  test("within sentences have options and values that their commands take", async () => {
    assert.ok(spans.length > 40, `${spans.length} commands`);
    const wrong: string[] = [];
    for (const { page, words } of spans) {
      const problem = await problemIn(wordsOf(words), true);
      if (problem !== undefined) wrong.push(`${page}: rekindle ${words}: ${problem}`);
    }
    assert.deepEqual(wrong, []);
  });

  test("are found: in blocks of README, guides and reference", () => {
    assert.ok(blocks.length > 55, `${blocks.length} blocks`);
    assert.ok(blocks.flatMap(({ commands }) => commands.filter((one) => argumentsOf(one) !== undefined)).length > 70);
  });

  for (const page of shown.filter((one) => !isReference(one)))
    it(`of ${page} do what the page says beside a host, one after the other, or have a reason`, async (stand) => {
      await make(stand.simulator, ...installed);
      await stand.host();
      const terminal = onTerminal(stand.simulator, { answer: true, slept: () => immediate() });
      for (const command of commandsIn(page)) {
        await whileTimePasses(stand, tryOut(terminal, command));
        if (argumentsOf(command)?.startsWith("create ")) await stand.pass(40 / 3_600);
      }
    });

  for (const page of shown.filter(isReference))
    test(`of ${page} do what the page says to what it names, or have a reason`, async () => {
      for (const { commands } of blocks.filter((block) => block.page === page)) {
        const terminal = openTerminal({ slept: endAll, answer: true });
        await make(terminal.simulator, ...objectsFor(commands), nightly);
        const { clock } = terminal.simulator;
        clock.advanceTo(clock.now() + 5_000);
        for (const command of commands) await tryOut(terminal, command);
      }
    });

  test("have no reason and no other end than those that are needed", () => {
    assert.deepEqual(
      notRun.filter((_, at) => !reasonsUsed.has(at)),
      [],
    );
    assert.deepEqual(
      endsOtherwise.filter((_, at) => !endsUsed.has(at)),
      [],
    );
  });
});
