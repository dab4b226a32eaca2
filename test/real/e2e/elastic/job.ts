/** Applications whose executors follow queued tasks, or take claims of lost ones, and the answers that they must give. */
import { chmod, copyFile, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { sparkPi } from "../../../support/pi.ts";
import { driversNode, spread } from "../recovery/job.ts";
import { eventLogIn } from "./event-log.ts";

/** The gates of the waves in the order in which they open; `lost` is the gate of the job with claims. */
export const gateNames = ["many", "few", "again"] as const;
export type Gate = (typeof gateNames)[number] | "lost";

/** Two cores run all of this; a JVM that compiles less starts sooner. */
const javaOptions = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";

export type Job = { readonly name: string; readonly sparkVersion: string };

export type Waves = Job & {
  /** The number of queued tasks before the first gate opens, between the gates, and after the second one. */
  readonly first: number;
  readonly middle: number;
  readonly last: number;
  readonly most: number;
};

/** The folder of the application's event log, beside the gates. */
export const eventsDir = (gates: string, name: string): string => join(dirname(gates), `events-${name}`);

const folder = (name: string, path: string): object => ({ name, hostPath: { path, type: "Directory" } });

type Program = {
  readonly file: "waves.py" | "claims.py";
  readonly args: readonly number[];
  readonly least: number;
  readonly most: number;
  readonly confs?: Readonly<Record<string, string>>;
};

/** Returns the application; `gates` is a folder of this machine that its driver mounts, with the program in it. */
const applicationOf = ({ name, sparkVersion }: Job, program: Program, gates: string) => {
  const body = sparkPi(name, {
    ...{ sparkVersion, image: `docker.io/apache/spark:${sparkVersion}` },
    type: "Python",
    mainClass: undefined,
    mainApplicationFile: `local:///gates/${program.file}`,
    arguments: ["/gates", ...program.args.map(String)],
    restartPolicy: { type: "Never" },
    sparkConf: { "spark.dynamicAllocation.executorIdleTimeout": "15s", ...eventLogIn("/events"), ...program.confs },
    dynamicAllocation: {
      ...{ enabled: true, initialExecutors: program.least, minExecutors: program.least },
      maxExecutors: program.most,
    },
    volumes: [folder("gates", gates), folder("events", eventsDir(gates, name))],
    driver: {
      ...{ cores: 1, memory: "512m", serviceAccount: "spark", javaOptions },
      nodeSelector: { "kubernetes.io/hostname": driversNode },
      volumeMounts: [
        { name: "gates", mountPath: "/gates", readOnly: true },
        { name: "events", mountPath: "/events" },
      ],
    },
    executor: { cores: 1, memory: "512m", javaOptions, affinity: spread(name) },
  });
  return { ...body, metadata: { ...body.metadata, annotations: { "rekindle.dev/executors": "own" } } };
};

export const application = (waves: Waves, gates: string) => {
  const { first, middle, last, most } = waves;
  return applicationOf(waves, { file: "waves.py", args: [first, middle, last], least: 0, most }, gates);
};

export const storageClass = "pool";

const claim = "spark.kubernetes.executor.volumes.persistentVolumeClaim.spark-local-dir-1";

/** Shuffle data on a claim for each executor, which the next executor with the claim registers again. */
const onClaims = {
  "spark.shuffle.sort.io.plugin.class": "org.apache.spark.shuffle.KubernetesLocalDiskShuffleDataIO",
  [`${claim}.options.claimName`]: "OnDemand",
  [`${claim}.options.storageClass`]: storageClass,
  [`${claim}.options.sizeLimit`]: "1Gi",
  // Spark looks for older shuffle data two folders above.
  [`${claim}.mount.path`]: "/data/spark-x/executor-x",
  [`${claim}.mount.readOnly`]: "false",
};

export const claiming = (job: Job, executors: number, gates: string) =>
  applicationOf(
    job,
    { file: "claims.py", args: [executors], least: executors, most: executors, confs: onClaims },
    gates,
  );

/** Puts the programs where drivers find them, and makes the folder of the application's event log. */
export const laid = async (gates: string, name: string): Promise<void> => {
  for (const file of ["waves.py", "claims.py"]) await copyFile(join(import.meta.dirname, file), join(gates, file));
  const events = eventsDir(gates, name);
  await mkdir(events, { recursive: true });
  await chmod(events, 0o777);
};

export const openGate = (gates: string, gate: Gate): Promise<void> => writeFile(join(gates, gate), "");

const sumBelow = (tasks: number): number => (tasks * (tasks - 1)) / 2;

/** Returns the job's last line; throws if it is missing or wrong. */
export const checkedAnswer = (log: string, { first, middle, last }: Waves): string => {
  const found = /rounds (\d+) (\d+) (\d+) sum (\d+) same True/.exec(log);
  if (found === null) throw new Error(`the driver's log has no answer; it ends ${log.slice(-500)}`);
  const [line, many, between, again, sum] = found;
  const rounds = [
    [many, first],
    [between, middle],
    [again, last],
  ] as const;
  const wanted = rounds.reduce((all, [count, tasks]) => all + Number(count) * sumBelow(tasks), 0);
  if (Number(sum) !== wanted) throw new Error(`"${line}" is wrong: ${wanted}`);
  return line;
};
