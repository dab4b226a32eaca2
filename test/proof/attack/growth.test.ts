/**
 * Feeds adversarial text of growing size to every function of the pure rooms that reads a text, and to every entry
 * point for whole objects: twice the text takes at most twice the steps. The test finds the functions in the sources; a
 * function that needs further arguments has a row, which says how to call it or why not.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { everyNth } from "../../support/cases.ts";
import { type Counter, openCounter } from "../../support/steps.ts";
import { creating, said } from "../../unit/spark/admission/reviews.ts";
import { storedOf, walk } from "../../unit/spark/input/path.ts";
import { creating as creatingOfVolcano, said as saidOfVolcano } from "../../unit/volcano/admission/reviews.ts";
import { task } from "../../unit/volcano/job/fixtures.ts";
import { sourcesUnder } from "../house/sources.ts";

const rooms = ["core", "kube", "spark", "volcano", "engine", "api", "updates"].map((room) => `shared/${room}`);

/** Matches an exported function whose first parameter is a `string` or `unknown`, also where its head has several lines. */
const reader =
  /^export const (\w+) = \(\s*(\w+): (?:string|unknown)(?: \| undefined)?((?:,\s*\w+\??: [^()]*)?),?\s*\)/gm;

type Found = { readonly file: string; readonly name: string; readonly more: boolean };

const found: readonly Found[] = sourcesUnder(...rooms).flatMap((file) =>
  [...readFileSync(file, "utf8").matchAll(reader)].map(([, name = "", , rest = ""]) => ({
    file,
    name,
    more: rest.split(",").some((part) => part.includes(":") && !part.includes("?:") && !part.includes(" = ")),
  })),
);

type Call = (read: (...args: readonly unknown[]) => unknown, text: string) => unknown;

const twice: Call = (read, text) => read("a", text);
const front: Call = (read, text) => read(text, "a");

const executorsOn = (flavors: string) => [
  { pod: { metadata: { annotations: { "rekindle.dev/kueue-flavors": flavors } } }, state: "running" },
];

/** Calls of functions that need more than one argument; a text is the reason why a function is not called. */
const rows: Readonly<Record<string, Call | string>> = {
  amountSaying: twice,
  streamName: (read, text) => read(text, { cluster: text, kind: "Job", namespace: text, name: text }, text),
  accountIn: (read, text) => read(text, { serviceAccountName: text }),
  qualifiedNameErrors: (read, text) => read(text),
  isMadeClaim: (read, text) => [read(text, text), read("a", text)],
  matches: (read, text) => [read(text.slice(0, 200).replaceAll(/./g, "a*"), text), read("a*b*c", text)],
  amountsIn: (read, text) => read({ memory: text, cpu: text }),
  readAmounts: (read, text) => read({ memory: text, cpu: text }, "path"),
  bytesOf: (read, text) => read(text, "b"),
  splitCommand: (read, text) => read(text),
  partOf: (read, text) =>
    read(
      text,
      { nodeSelector: { a: text }, nodeName: text, containers: [{ resources: { requests: { cpu: text } } }] },
      1,
      1,
    ),
  partitionKey: (read, text) => [read(text, 0), read("a", text)],
  withoutEnd: (read, text) => [read(text, text[0]), read(text, "x")],
  quoted: (read, text) => [read(text, text), read("a", text)],
  isListener: (read, text) => [read(text), read(`https://${text}`)],
  startOf: (read, text) => [read(text, 10), read(text, text.length - 1)],
  nearTo: (read, text) => read(text, ["alpha", "beta", "--gamma"]),
  verified: (read, text) =>
    read("key", { timestamp: text, method: "POST", path: text, body: text, headers: { a: text } }, text, 0),
  signature: (read, text) =>
    read("key", { timestamp: "1", method: "POST", path: text, body: text, headers: { a: text } }),
  alertIntents: (read, text) => [
    read(text, { kinds: ["Job"], now: 0, plurals: {} }),
    read(
      JSON.stringify({
        version: "4",
        alerts: [{ status: "firing", labels: { volcano_job: text, namespace: text }, startsAt: text }],
      }),
      { kinds: ["Job"], now: 0, plurals: {} },
    ),
  ],
  bridgedIntent: (read, text) =>
    read(
      { id: "a", source: text, "detail-type": text, time: text, detail: { "instance-id": text } },
      { kinds: [], now: 0, plurals: {} },
    ),
  derivedLabel: (read, text) => [read(text, "a"), read("a", text.slice(0, 20))],
  openApi: (read, text) => read(text, ["Job"]),
  jobWarnings: (read, text) => read("a", { plugins: { svc: [text], ray: [text] }, tasks: [task(text, 1)] }),
  leafSaying: (read, text) => read(text, 1),
  membersOn: (read, text) => read(text, executorsOn(text)),
  occupiedOn: (read, text) => read(text, executorsOn(text), { underway: [{ at: 0, ids: "1", flavors: text }] }),
  cronSaying: (read, text) => [read("a", { schedule: text }), read(text, { schedule: "* * * * *", timeZone: text })],
  newJobSaying: (read, text) => [
    read(text, { tasks: [task(text, 1)] }),
    read("a", { queue: text, tasks: [task("a", 1)] }),
  ],
  changedJobSaying: (read, text) => read("a", { tasks: [task("a", 1)] }, { tasks: [task("a", 1)], queue: text }),
  templateWarnings: (read, text) => read("a", { jobTemplate: { spec: { tasks: [task(text, 1)] } } }),
  flowSaying: (read, text) => read({ flows: [{ name: text, dependsOn: { targets: [text] } }] }),
  hyperNodeSaying: (read, text) => read({ members: [{ type: "Node", selector: { regexMatch: { pattern: text } } }] }),
  mergePatch: (read, text) => read({ a: text }, { a: `${text}b`, b: text }),
  same: (read, text) => read({ a: [text, text] }, { a: [text, text] }),
  additions: (read, text) => read({ a: text }, { a: text, b: { [text]: text } }, ""),
  labelOf: (read, text) => read(text),
  invalid: (read, text) => read("path", text, text),
  jobName: (read, text) => [read(text, "a"), read(text, 1)],
  makerText: front,
  podName: (read, text) => [read(text, "a", 1), read("a", text, 1)],
  listenerKey: (read, text) => read("secret", text),
  until: (read, text) => read(text, "ready", text),
  noticeKey: (read, text) => read("here", "Job", text),
  runName: (read, text) => read(text, 1),
  withQuery: (read, text) => read(text, { a: text }),
  identityOf: (read, text) => read(text, "seed"),
  propertiesText: (read, text) => read(text, new Map([[text, text]])),
  pairIfSet: front,
  each: (read, text) => read("spark.", { [text]: text }),
  podOf: (read, text) => read({ spec: { containers: [{ name: text, image: text }] } }, text),
  below: (read, text) => read(text, []),
  withoutBad: (read, text) => read({ [text]: text }, []),
  jobQueueSaying: (read, text) => read(text, undefined),
  hostsOf: (read, text) => read(text, { name: text, replicas: 1 }),
  domainsOf: (read, text) => read(text, { name: text, replicas: 1 }),
  firstDomain: (read, text) => read(text, { name: text, replicas: 1 }),
  lineOf: (read, text) => read(text, new Map()),
  leftover: (read, text) => read(text, []),
  childrenOf: (read, text) => read(text, new Map()),
  deletionSaying: (read, text) => read(text, undefined),
  errorOf: (read, text) =>
    read("GET /", { status: 500, headers: {}, body: JSON.stringify({ message: text, reason: text }) }),
  storedOf: "takes an answer of the API server, as bodyOf does",
  refusalOf: (read, text) => [read(text, { tasks: [task("a", 1)] }), read("a", { tasks: [task(text, 1)] })],
  pageOf: (read, text) =>
    read(
      "GET /",
      { status: 200, headers: {}, body: JSON.stringify({ metadata: { resourceVersion: text }, items: [{ a: text }] }) },
      { apiVersion: "v1", kind: "Pod" },
    ),
  bodyOf: (read, text) => read("GET /", { status: 200, headers: {}, body: JSON.stringify({ a: text }) }),
  opensMoreThan: (read, text) => read(text, Number.POSITIVE_INFINITY),
  standIn: (read, text) => read(text),
  podSetFor: (read, text) => read(text, 1, { metadata: { labels: { a: text } }, spec: { nodeSelector: { a: text } } }),
  admissionText: (read, text) => read(text, text, { is: "waiting", why: text }),
};

const classes: readonly (readonly [what: string, text: (size: number) => string])[] = [
  ["letters", (size) => "a".repeat(size)],
  ["digits", (size) => `${"1".repeat(size)}!`],
  ["units", (size) => `${"1h".repeat(size / 2)}!`],
  ["blanks", (size) => `a${" ".repeat(size)}a`],
  ["line ends", (size) => "\n \n".repeat(size / 3)],
  ["slashes", (size) => `${"/".repeat(size)}x`],
  ["separators", (size) => "a,b:c=d;".repeat(size / 8)],
  ["dashes and points", (size) => "a-.".repeat(size / 3)],
  ["open brackets", (size) => "{[(".repeat(size / 3)],
  ["open references", (size) => `$\{spark.`.repeat(size / 8)],
  ["references", (size) => `$\{spark.a}{{$appName}}`.repeat(size / 22)],
  ["open quotations", (size) => `"'\\`.repeat(size / 3)],
  ["ranges", (size) => "0-9,".repeat(size / 4)],
  ["at signs", (size) => `${"@every ".repeat(size / 7)}\n`],
];

const sizes = [8_000, 16_000, 32_000, 64_000];
/**
 * The largest growth for twice the text: 2, and an allowance for sorting. `always` allows for steps without any text.
 */
const most = 2.25;
const always = 4_000;

let counter: Counter;
before(() => {
  counter = openCounter();
});
after(() => counter.close());

const quietly = (work: () => unknown): void => {
  try {
    work();
  } catch {
    // A refused text was read all the same.
  }
};

type Text = (size: number) => string;

const stepsFor = (work: (text: string) => unknown, texts: readonly Text[], size: number): number => {
  const given = texts.map((text) => text(size));
  return counter.stepsOf(() => {
    for (const text of given) quietly(() => work(text));
  });
};

const isLinear = (work: (text: string) => unknown, texts: readonly Text[]): boolean =>
  stepsFor(work, texts, 64_000) <= stepsFor(work, texts, 32_000) * most + always * texts.length;

/**
 * Returns the classes of text for which `work` grows faster than its text. All classes run together first; only if they
 * grow too fast does each run by itself.
 */
const grows = (work: (text: string) => unknown, of = classes): readonly string[] => {
  // The first call does work that later calls do not repeat: it happens before the count.
  for (const [, text] of of) quietly(() => work(text(100)));
  const texts = of.map(([, text]) => text);
  if (isLinear(work, texts)) return [];
  const wrong = of.filter(([, text]) => !isLinear(work, [text]));
  return (wrong.length > 0 ? wrong : of).map(
    ([what, text]) =>
      `${what}: ${sizes.map((size) => `${size} letters ${stepsFor(work, [text], size)} steps`).join(", ")}`,
  );
};

const mustBeLinear = (work: (text: string) => unknown): void => assert.deepEqual(grows(work), []);

const functionOf = async ({ file, name }: Found): Promise<(...args: readonly unknown[]) => unknown> => {
  const module: unknown = await import(new URL(`../../../${file}`, import.meta.url).href);
  const value: unknown = Reflect.get(Object(module), name);
  if (typeof value !== "function") throw new Error(`${file} exports no function ${name}`);
  return (...args) => Reflect.apply(value, undefined, args);
};

describe("functions that read a text", () => {
  test("are found: a hundred of them", () => assert.ok(found.length >= 100, `${found.length}`));

  test("each can be fed: by itself, or as its row says", () => {
    const odd = found
      .filter(({ name, more }) => more && rows[name] === undefined)
      .map(({ file, name }) => `${file}: ${name}`);
    assert.deepEqual(odd, []);
  });

  test("that have a row are there", () => {
    const names = new Set(found.map(({ name }) => name));
    assert.deepEqual(
      Object.keys(rows).filter((name) => !names.has(name)),
      [],
    );
  });

  for (const one of everyNth(6, found)) {
    const row = rows[one.name];
    if (typeof row === "string") continue;
    test(`${one.name} of ${one.file}`, async () => {
      const read = await functionOf(one);
      mustBeLinear((text) => (row === undefined ? read(text) : row(read, text)));
    });
  }
});

type Fields = Readonly<Record<string, unknown>>;

const spark = (spec: Fields) => ({ ...good, ...spec });
const good = {
  type: "Scala",
  mode: "cluster",
  sparkVersion: "4.1.1",
  image: "spark:4.1.1",
  mainClass: "org.example.Main",
  mainApplicationFile: "local:///opt/app.jar",
  driver: { cores: 1, memory: "1g" },
  executor: { cores: 1, memory: "1g", instances: 1 },
};

const fields: Readonly<Record<string, (text: string) => Fields>> = {
  "a conf": (text) => ({ sparkConf: { "spark.x": text } }),
  "the key of a conf": (text) => ({ sparkConf: { [`spark.${text}`]: "x" } }),
  "Java options": (text) => ({ driver: { ...good.driver, javaOptions: text } }),
  memory: (text) => ({ driver: { ...good.driver, memory: text } }),
  "a secret's path": (text) => ({
    driver: { ...good.driver, secrets: [{ name: "s", path: text, secretType: "Generic" }] },
  }),
  "a secret's key": (text) => ({ driver: { ...good.driver, envSecretKeyRefs: { A: { name: "s", key: text } } } }),
  "a variable": (text) => ({ driver: { ...good.driver, env: [{ name: "A", value: text }] } }),
  arguments: (text) => ({ arguments: [text] }),
  "many arguments": (text) => ({ arguments: text.match(/.{1,8}/gs) ?? [] }),
  "an ingress": (text) => ({
    driverIngressOptions: [{ servicePort: 1, servicePortName: "p", ingressURLFormat: text }],
  }),
  "a jar": (text) => ({ deps: { jars: [text] } }),
  image: (text) => ({ image: text }),
};

describe("doors for whole objects", () => {
  const ofApplications = Object.entries(fields);
  for (const [what, field] of everyNth(3, ofApplications))
    test(`SparkApplication, ${what}: admission`, () =>
      mustBeLinear((text) => said(creating("SparkApplication", spark(field(text))))));
  for (const [what, field] of everyNth(3, ofApplications, 1))
    test(`SparkApplication, ${what}: reconcile`, () =>
      mustBeLinear((text) => walk(storedOf({ spec: spark(field(text)) }, 1))));

  const jobs: Readonly<Record<string, (text: string) => Fields>> = {
    "a task's name": (text) => ({ tasks: [task(text, 1)] }),
    "a plugin's argument": (text) => ({ tasks: [task("a", 1)], plugins: { ssh: [text], svc: [text], mpi: [text] } }),
    "a plugin": (text) => ({ tasks: [task("a", 1)], plugins: { [text]: [] } }),
    "a timeout": (text) => ({
      tasks: [task("a", 1)],
      policies: [{ event: "PodFailed", action: "RestartJob", timeout: text }],
    }),
    "a queue": (text) => ({ tasks: [task("a", 1)], queue: text }),
    "a path": (text) => ({ tasks: [task("a", 1)], volumes: [{ mountPath: text, volumeClaimName: "c" }] }),
  };
  for (const [what, spec] of everyNth(3, Object.entries(jobs), 2))
    test(`Job, ${what}: admission`, () => mustBeLinear((text) => saidOfVolcano(creatingOfVolcano("Job", spec(text)))));
});

describe("the counter", () => {
  test("sees work that grows with the square of a text, in blocks and in built-in functions", () => {
    const inBlocks = (text: string): number => {
      let sum = 0;
      for (let at = 0; at < text.length / 20; at += 1) for (let to = 0; to < at; to += 1) sum += to;
      return sum;
    };
    const inFunctions = (text: string): boolean =>
      Array.from({ length: text.length / 100 }, (_, at) => at).every(() => !text.includes("never"));
    for (const work of [inBlocks, inFunctions])
      assert.equal(grows(work, [["letters", (size) => "a".repeat(size)]]).length, 1);
  });
});
