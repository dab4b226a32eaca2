/**
 * 64 kB of adversarial text in every field that users write: repeats, nesting, doubling and near misses of its format.
 */
import type { Attack } from "./attack.ts";
import {
  application,
  apply,
  connect,
  container,
  cron,
  type Fields,
  flow,
  job,
  type Obj,
  queue,
  rehearse,
  scheduled,
  task,
} from "./objects.ts";
import { fresh, type Stand } from "./stand.ts";

const size = 64_000;

/** Repeats a unit as often as it fits, and appends `end`. */
const filled = (unit: string, end = ""): string =>
  `${unit.repeat(Math.floor((size - end.length) / unit.length))}${end}`;

const kinds = ["repeats", "nesting", "doubling", "near misses"] as const;
type Kind = (typeof kinds)[number];

/**
 * A field by its format: `unit` is repeated, `opens` is a bracket that is never closed, `good` is valid and followed by
 * an invalid text.
 */
type Field = {
  readonly name: string;
  readonly unit: string;
  readonly opens?: string;
  readonly good: string;
  readonly object: (name: string, text: string) => Obj;
  readonly short?: true;
};

const textOf = ({ unit, opens = "((", good }: Field, kind: Kind): string => {
  switch (kind) {
    case "repeats":
      return filled(unit, "!");
    case "nesting":
      return filled(opens);
    case "doubling":
      return filled(`$\{spark.a}$\{spark.a}`);
    case "near misses":
      return filled(good, "\u0001");
  }
};

const field = (
  name: string,
  unit: string,
  good: string,
  object: Field["object"],
  more: Partial<Field> = {},
): Field => ({
  ...{ name, unit, good, object },
  ...more,
});

const spark = (name: string, unit: string, good: string, spec: (text: string) => Fields, more: Partial<Field> = {}) =>
  field(name, unit, good, (at, text) => application(at, spec(text)), more);

const conf = (key: string, unit: string, good: string, more: Partial<Field> = {}): Field =>
  spark(`sparkConf ${key}`, unit, good, (text) => ({ sparkConf: { [key]: text } }), more);

const driver = (name: string, unit: string, good: string, fields: (text: string) => Fields): Field =>
  spark(`driver ${name}`, unit, good, (text) => ({
    driver: { cores: 1, memory: "512m", serviceAccount: "spark", ...fields(text) },
  }));

const annotated = (key: string, unit: string, good: string): Field =>
  field(`annotation ${key}`, unit, good, (at, text) => application(at, {}, { annotations: { [key]: text } }));

const ofSpark: readonly Field[] = [
  conf("spark.x", `$\{spark.`, `$\{spark.a}`, { opens: `$\{spark.$\{`, short: true }),
  conf("spark.driver.memoryOverhead", "1", "1m"),
  conf("spark.executor.memoryOverheadFactor", "9", "0.1"),
  conf("spark.kubernetes.driver.volumes.hostPath.v.mount.path", "/", "/a"),
  conf("spark.kubernetes.allocation.batch.delay", "1", "1s"),
  conf("spark.driver.extraJavaOptions", "-", "-Da=b ", { opens: '"' }),
  conf("spark.kubernetes.driver.podTemplateFile", "/", "file:///"),
  conf("spark.jars", ",", "a.jar,"),
  spark("the key of a conf", "a.", "spark.", (text) => ({ sparkConf: { [text]: "x" } })),
  spark("hadoopConf", " ", "a=b,", (text) => ({ hadoopConf: { a: text } })),
  spark("arguments", "-", "--a=b ", (text) => ({ arguments: [text] })),
  spark("mainClass", ".", "a.b", (text) => ({ mainClass: text })),
  spark("mainApplicationFile", "/", "local:///a", (text) => ({ mainApplicationFile: text })),
  spark("image", "/", "a/b:", (text) => ({ image: text })),
  spark("sparkVersion", "4.", "4.1.1", (text) => ({ sparkVersion: text })),
  spark("memoryOverheadFactor", "0", "0.1", (text) => ({ memoryOverheadFactor: text })),
  spark("proxyUser", " ", "a", (text) => ({ proxyUser: text })),
  spark("deps.packages", ":", "a:b:1,", (text) => ({ deps: { packages: [text] } })),
  spark("sparkConfigMap", "-", "a-", (text) => ({ sparkConfigMap: text })),
  spark("metricsProperties", "\n", "*.a=b\n", (text) => ({
    monitoring: { exposeDriverMetrics: true, exposeExecutorMetrics: true, metricsProperties: text },
  })),
  spark("ingressURLFormat", "{", "{{$appName}}", (text) => ({
    driverIngressOptions: [{ servicePort: 1_234, servicePortName: "p", ingressURLFormat: text }],
  })),
  spark("batchSchedulerOptions.resources", "1", "1Gi", (text) => ({
    batchScheduler: "volcano",
    batchSchedulerOptions: { resources: { memory: text } },
  })),
  driver("memory", "1", "512m", (text) => ({ memory: text })),
  driver("coreLimit", "1", "1200m", (text) => ({ coreLimit: text })),
  driver("javaOptions", "-", "-Da=b ", (text) => ({ javaOptions: text })),
  driver("secrets[].path", "/", "/a", (text) => ({
    secrets: [{ name: "s", path: text, secretType: "GCPServiceAccount" }],
  })),
  driver("envSecretKeyRefs key", ":", "a:b", (text) => ({ envSecretKeyRefs: { A: { name: "s", key: text } } })),
  driver("env value", "$", "$(A)", (text) => ({ env: [{ name: "A", value: text }] })),
  driver("envVars", "$", "$(A)", (text) => ({ envVars: { A: text } })),
  driver("lifecycle command", ";", "echo ;", (text) => ({
    lifecycle: { preStop: { exec: { command: ["/bin/sh", "-c", text] } } },
  })),
  annotated("rekindle.dev/restart-on", ",", "OOMKilled,"),
  annotated("rekindle.dev/exit-codes", ",", "1-2,"),
  annotated("rekindle.dev/active-deadline", "1", "1h"),
  annotated("rekindle.dev/restart-backoff", "9", "10s"),
  annotated("rekindle.dev/executor-batch", "9", "1"),
  annotated("rekindle.dev/updates-to", "/", "https://a.b/"),
  annotated("rekindle.dev/trace", "0", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
];

const ofSchedules: readonly Field[] = [
  field("schedule", "1", "@every 1h", (at, text) => scheduled(at, { schedule: text }), { short: true }),
  field("schedule of fields", "*/1,", "* ", (at, text) => scheduled(at, { schedule: text })),
  field("schedule after @every", "1h", "@every 1h", (at, text) => scheduled(at, { schedule: `@every ${text}` })),
  field("timeZone", "A/", "Europe/Berlin", (at, text) => scheduled(at, { timeZone: text })),
  field("CronJob schedule", "0-59,", "* * ", (at, text) => cron(at, { schedule: text })),
  field("CronJob timeZone", "/", "Europe/", (at, text) => cron(at, { timeZone: text })),
  field("Connect conf", `$\{spark.`, `$\{spark.a}`, (at, text) => connect(at, { sparkConf: { "spark.x": text } })),
  field("Connect memory", "1", "512m", (at, text) =>
    connect(at, {
      server: { cores: 1, memory: text, template: { spec: { containers: [], serviceAccount: "spark" } } },
    }),
  ),
];

const plugin = (name: string, unit: string, good: string): Field =>
  field(`plugin ${name}`, unit, good, (at, text) => job(at, { plugins: { [name]: [text] } }));

const ofVolcano: readonly Field[] = [
  plugin("ssh", "-", "--ssh-key-file-path=/a "),
  plugin("svc", "=", "--publish-not-ready-addresses="),
  plugin("pytorch", "-", "--master=m "),
  plugin("mpi", "-", "--port=22 "),
  plugin("tensorflow", "-", "--ps=p "),
  plugin("ray", "-", "--head=h "),
  field("policy timeout", "1h", "1h30m", (at, text) =>
    job(at, { policies: [{ event: "PodFailed", action: "RestartJob", timeout: text }] }),
  ),
  field("task name", "a-", "a", (at, text) => job(at, { tasks: [task(text, 1)] })),
  field("dependsOn", "a", "w", (at, text) => job(at, { tasks: [task("w", 1, { dependsOn: { name: [text] } })] })),
  field("queue of a job", "a", "default", (at, text) => job(at, { queue: text })),
  field("mountPath", "/", "/a", (at, text) => job(at, { volumes: [{ mountPath: text, volumeClaimName: "c" }] })),
  field("priorityClassName", "-", "a-", (at, text) => job(at, { priorityClassName: text })),
  field("amounts of a container", "1", "1Gi", (at, text) =>
    job(at, {
      tasks: [task("w", 1, {}, { containers: [{ ...container, resources: { requests: { memory: text } } }] })],
    }),
  ),
  field("command of a container", "(", "$(A)", (at, text) =>
    job(at, { tasks: [task("w", 1, {}, { containers: [{ ...container, command: [text] }] })] }),
  ),
  field("networkTopology", "a", "hard", (at, text) => job(at, { networkTopology: { mode: text } })),
  field("partition labels", "a", "a", (at, text) => job(at, {}, { annotations: { "volcano.sh/task-topology": text } })),
  field("name of a flow's job", "a-", "a", (at, text) => flow(at, [{ name: text }])),
  field("a flow's target", "a", "b", (at, text) => flow(at, [{ name: "a", dependsOn: { targets: [text] } }])),
  field("a flow's probe", "/", "/a", (at, text) =>
    flow(at, [
      {
        name: "a",
        dependsOn: {
          targets: ["b"],
          probe: { httpGetList: [{ taskName: "w", path: text, port: 1, httpHeader: { name: "a", value: "b" } }] },
        },
      },
    ]),
  ),
  field("hierarchy of a queue", "/", "root/a", (at, text) => queue(at, {}, { "volcano.sh/hierarchy": text })),
  field("capability of a queue", "1", "1Gi", (at, text) => queue(at, { capability: { memory: text } })),
  field("parent of a queue", "a", "root", (at, text) => queue(at, { parent: text })),
];

/** Sends one dry run per class of text; refusing and admitting both pass. */
const atDoor = async (stand: Stand, one: Field): Promise<string | undefined> => {
  for (const kind of kinds) await rehearse(stand, one.object(fresh("text"), textOf(one, kind)));
  return undefined;
};

const attacksOn = (one: Field): readonly Attack[] => [
  ...kinds.map(
    (kind): Attack => ({
      class: "text",
      name: `${one.name}, ${kind}`,
      stage: "cluster",
      ...(one.short && kind === "repeats" ? { short: true } : {}),
      run: (stand) => apply(stand, one.object(fresh("text"), textOf(one, kind))),
    }),
  ),
  {
    ...{ class: "text", name: `${one.name}, every class at admission`, stage: "admission" },
    ...(one.short ? { short: true } : {}),
    run: (stand) => atDoor(stand, one),
  },
];

export const texts: readonly Attack[] = [...ofSpark, ...ofSchedules, ...ofVolcano].flatMap(attacksOn);
