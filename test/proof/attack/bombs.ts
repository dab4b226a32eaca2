/** Bombs: short texts that expand to much. Doubling references, chains, products of lists, graphs, endless counts. */
import type { Attack } from "./attack.ts";
import {
  application,
  bothWays,
  connect,
  container,
  cron,
  type Fields,
  flow,
  job,
  jobSpec,
  type Row,
  rowsOf,
  scheduled,
  type Texts,
  task,
} from "./objects.ts";

const many = <T>(count: number, make: (at: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, at) => make(at));

const mapped = (count: number, pair: (at: number) => readonly [string, string]): Texts =>
  Object.fromEntries(many(count, pair));

const conf = (name: string, sparkConf: () => Texts, more: Partial<Row> = {}): Row => ({
  name,
  object: (at) => application(at, { sparkConf: sparkConf() }),
  ...more,
});

/** Returns confs in which `spark.b0` is `times` times `spark.b1`, and so on. */
const doubling = (depth: number, times = 2): Texts => ({
  ...mapped(depth, (at) => [`spark.b${at}`, `$\{spark.b${at + 1}}`.repeat(times)]),
  [`spark.b${depth}`]: "x",
});

const chain = (depth: number): Texts => ({
  ...mapped(depth, (at) => [`spark.c${at}`, `$\{spark.c${at + 1}}`]),
  [`spark.c${depth}`]: "x",
});

const references: readonly Row[] = [
  conf("references that double, 22 deep", () => doubling(22), { short: true }),
  conf("references that double, 32 deep", () => doubling(32)),
  conf("references that double, 200 deep", () => doubling(200)),
  conf("references that triple, 40 deep", () => doubling(40, 3)),
  conf("references ten times each, 12 deep", () => doubling(12, 10)),
  conf("a chain of 31 references", () => chain(31)),
  conf("a chain of 40 references", () => chain(40)),
  conf("a chain of 2,000 references", () => chain(2_000)),
  conf("a reference to itself", () => ({ "spark.x": `$\{spark.x}` })),
  conf("two references to each other", () => ({ "spark.x": `$\{spark.y}`, "spark.y": `$\{spark.x}` })),
  conf("a ring of 500 references", () => mapped(500, (at) => [`spark.r${at}`, `$\{spark.r${(at + 1) % 500}}`])),
  conf("20,000 references that never end", () => ({ "spark.x": `$\{spark.`.repeat(20_000) }), { short: true }),
  conf("references inside of references", () => ({ "spark.x": `${`$\{spark.`.repeat(8_000)}${"}".repeat(8_000)}` })),
  conf("5,000 references to one large conf", () => ({
    "spark.x": `$\{spark.y}`.repeat(5_000),
    "spark.y": "y".repeat(10_000),
  })),
  conf("2,000 confs with a reference to one large conf", () => ({
    ...mapped(2_000, (at) => [`spark.x${at}`, `$\{spark.y}`]),
    "spark.y": "y".repeat(50_000),
  })),
  conf("references to the environment and the system", () => ({
    "spark.x": `$\{env:PATH}$\{system:user.home}`.repeat(900),
  })),
];

const volumes = (role: string, count: number): Texts =>
  Object.fromEntries(
    many(count, (at) => [
      [`spark.kubernetes.${role}.volumes.hostPath.v${at}.mount.path`, `/v${at}`] as const,
      [`spark.kubernetes.${role}.volumes.hostPath.v${at}.options.path`, `/v${at}`] as const,
    ]).flat(),
  );

const products: readonly Row[] = [
  conf("2,000 volumes of the driver by conf", () => volumes("driver", 2_000), { short: true }),
  conf("2,000 volumes of executors by conf", () => volumes("executor", 2_000)),
  conf("5,000 secrets by conf", () => mapped(5_000, (at) => [`spark.kubernetes.driver.secrets.s${at}`, `/s${at}`])),
  conf("5,000 labels by conf", () => mapped(5_000, (at) => [`spark.kubernetes.driver.label.l${at}`, `v${at}`])),
  conf("5,000 variables by conf", () => mapped(5_000, (at) => [`spark.kubernetes.driverEnv.E${at}`, `v${at}`])),
  conf("10,000 confs", () => mapped(10_000, (at) => [`spark.k${at}`, `v${at}`])),
  conf("a thousand node selectors", () => mapped(1_000, (at) => [`spark.kubernetes.node.selector.n${at}`, `v${at}`])),
  ...rowsOf<Row["object"]>({
    "10,000 arguments": (at) => application(at, { arguments: many(10_000, String) }),
    "10,000 jars": (at) => application(at, { deps: { jars: many(10_000, (one) => `local:///j${one}.jar`) } }),
    "5,000 Hadoop confs": (at) => application(at, { hadoopConf: mapped(5_000, (one) => [`h${one}`, "v"]) }),
    "1,000 volumes, mounted by driver and executors": (at) => {
      const mounts = many(1_000, (one) => ({ name: `v${one}`, mountPath: `/v${one}` }));
      const role = { cores: 1, memory: "512m", volumeMounts: mounts };
      return application(at, {
        volumes: many(1_000, (one) => ({ name: `v${one}`, emptyDir: {} })),
        driver: { ...role, serviceAccount: "spark" },
        executor: { ...role, instances: 1 },
      });
    },
    "300 sidecars": (at) =>
      application(at, {
        driver: { cores: 1, memory: "512m", sidecars: many(300, (one) => ({ ...container, name: `s${one}` })) },
      }),
    "2,000 tolerations": (at) =>
      application(at, {
        driver: {
          cores: 1,
          memory: "512m",
          tolerations: many(2_000, (one) => ({ key: `k${one}`, operator: "Exists" })),
        },
      }),
    "500 ingresses": (at) =>
      application(at, {
        driverIngressOptions: many(500, (one) => ({ servicePort: 1_000 + one, servicePortName: `p${one}` })),
      }),
  }),
];

const counts: readonly Row[] = [
  {
    name: "instances: 2147483647",
    object: (at) => application(at, { executor: { instances: 2_147_483_647, cores: 1, memory: "512m" } }),
  },
  conf("batch.size 2147483647", () => ({ "spark.kubernetes.allocation.batch.size": "2147483647" })),
  conf("a size of 10^300 bytes", () => ({ "spark.driver.memoryOverhead": `1${"0".repeat(300)}b` })),
  ...rowsOf<Row["object"]>({
    "a schedule that never comes": (at) => scheduled(at, { schedule: "0 0 31 2 *" }),
    "a schedule of every second": (at) => scheduled(at, { schedule: "@every 1s", suspend: true }),
    "a schedule's template with references that double": (at) => scheduled(at, {}, { sparkConf: doubling(40) }),
    "a Connect server with references that double": (at) => connect(at, { sparkConf: doubling(40) }),
    "a Connect server with 2,147,483,647 executors": (at) =>
      connect(at, { executor: { instances: 2_147_483_647, cores: 1, memory: "512m" } }),
  }),
];

const named = (count: number, more: (at: number) => Fields = () => ({})): readonly Fields[] =>
  many(count, (at) => task(`t${at}`, 0, more(at)));

const jobs: readonly Row[] = [
  { name: "replicas: 2147483647", object: (at) => job(at, { tasks: [task("w", 2_147_483_647)] }), short: true },
  ...rowsOf<Row["object"]>({
    "1,000 tasks with replicas: 2147483647": (at) =>
      job(at, { tasks: many(1_000, (one) => task(`t${one}`, 2_147_483_647)) }),
    "4,000 tasks": (at) => job(at, { tasks: named(4_000) }),
    "tasks in a chain of 1,000": (at) =>
      job(at, { tasks: named(1_000, (one) => (one === 0 ? {} : { dependsOn: { name: [`t${one - 1}`] } })) }),
    "300 tasks that depend on each other, all on all": (at) => {
      const names = many(300, (one) => `t${one}`);
      return job(at, { tasks: named(300, (one) => ({ dependsOn: { name: names.slice(0, one) } })) });
    },
    "tasks in a ring of 500": (at) =>
      job(at, { tasks: named(500, (one) => ({ dependsOn: { name: [`t${(one + 1) % 500}`] } })) }),
    "5,000 policies": (at) =>
      job(at, { policies: many(5_000, (one) => ({ exitCode: one + 1, action: "RestartJob" })) }),
    "10,000 arguments of a plugin": (at) => job(at, { plugins: { ssh: many(10_000, (one) => `--x${one}=1`) } }),
    "2,000 plugins": (at) => job(at, { plugins: Object.fromEntries(many(2_000, (one) => [`p${one}`, []])) }),
    "2,000 volumes of a job": (at) =>
      job(at, { volumes: many(2_000, (one) => ({ mountPath: `/v${one}`, volumeClaimName: `c${one}` })) }),
    "minAvailable: 2147483647": (at) => job(at, { minAvailable: 2_147_483_647 }),
    "maxRetry: 2147483647": (at) => job(at, { maxRetry: 2_147_483_647 }),
    "a CronJob whose job has 2,147,483,647 replicas": (at) =>
      cron(at, {
        schedule: "@every 2s",
        concurrencyPolicy: "Forbid",
        jobTemplate: { spec: jobSpec({ tasks: [task("w", 2_147_483_647)] }) },
      }),
    "a flow of 2,000 jobs in a chain": (at) =>
      flow(
        at,
        many(2_000, (one) => ({ name: `f${one}`, ...(one === 0 ? {} : { dependsOn: { targets: [`f${one - 1}`] } }) })),
      ),
    "a flow of 300 jobs, all on all": (at) => {
      const names = many(300, (one) => `f${one}`);
      return flow(
        at,
        many(300, (one) => ({ name: `f${one}`, dependsOn: { targets: names.slice(0, one) } })),
      );
    },
    "a flow in a ring of 500": (at) =>
      flow(
        at,
        many(500, (one) => ({ name: `f${one}`, dependsOn: { targets: [`f${(one + 1) % 500}`] } })),
      ),
  }),
];

/** More than ninety bombs, each past admission and at it. */
export const bombs: readonly Attack[] = bothWays("bombs", [...references, ...products, ...counts, ...jobs]);
