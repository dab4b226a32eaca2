/** The job whose executors are lost: it runs until its gate is opened, and its last line can be checked. */
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sparkPi } from "../../../support/pi.ts";

export const modes = ["assist", "own"] as const;
export type Mode = (typeof modes)[number];

export const nameOf = (mode: Mode): string => `rounds-${mode}`;
export const wanted = 3;

/** The shortest duration of the job, even with an open gate. */
export const leastSeconds = 120;
const slices = 12;

/** Drivers stay off the node that is frozen; executors are spread over both. */
export const [driversNode, frozenNode] = ["node-1", "node-2"] as const;

/** Prefers a node of its own for each executor. */
export const spread = (name: string): object => ({
  podAntiAffinity: {
    preferredDuringSchedulingIgnoredDuringExecution: [
      {
        weight: 100,
        podAffinityTerm: {
          topologyKey: "kubernetes.io/hostname",
          labelSelector: { matchLabels: { "sparkoperator.k8s.io/app-name": name, "spark-role": "executor" } },
        },
      },
    ],
  },
});

/** Two cores run all of this; a JVM that compiles less starts sooner. */
const javaOptions = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";

/**
 * Spark gives a silent peer up sooner than after two minutes, and repeats a lost executor's work. The number of
 * tolerated losses is left to Rekindle's settings: more executors are lost here than Spark's default allows (twice the
 * wanted number).
 */
const patience = {
  "spark.network.timeout": "60s",
  "spark.shuffle.io.connectionTimeout": "15s",
  "spark.shuffle.io.maxRetries": "2",
  "spark.shuffle.io.retryWait": "2s",
  "spark.stage.maxConsecutiveAttempts": "50",
  "spark.task.maxFailures": "50",
};

/** Returns the application; `gates` is a folder of this machine that its driver mounts. */
export const application = (mode: Mode, gates: string, annotations: Readonly<Record<string, string>>) => {
  const name = nameOf(mode);
  const body = sparkPi(name, {
    mainClass: "dev.rekindle.Rounds",
    arguments: [`/gates/${name}`, String(leastSeconds), String(slices), "400"],
    restartPolicy: { type: "Never" },
    sparkConf: patience,
    volumes: [{ name: "gates", hostPath: { path: gates, type: "Directory" } }],
    driver: {
      ...{ cores: 1, memory: "512m", serviceAccount: "spark", javaOptions },
      nodeSelector: { "kubernetes.io/hostname": driversNode },
      volumeMounts: [{ name: "gates", mountPath: "/gates", readOnly: true }],
    },
    executor: { instances: wanted, cores: 1, memory: "512m", javaOptions, affinity: spread(name) },
  });
  const owner = mode === "own" ? { "rekindle.dev/executors": "own" } : {};
  return { ...body, metadata: { ...body.metadata, annotations: { ...owner, ...annotations } } };
};

/** Creates a folder for gates that drivers can read under their own user. */
export const gatesIn = async (dir: string): Promise<string> => {
  const gates = join(dir, "gates");
  await mkdir(gates, { recursive: true });
  await chmod(gates, 0o755);
  return gates;
};

/** Lets the job end after its current round. */
export const openGate = (gates: string, mode: Mode): Promise<void> => writeFile(join(gates, nameOf(mode)), "");

/** Returns the sum of this many rounds, computed without Spark. */
const answerOf = (rounds: number): number => {
  const numbers = slices * 1_000;
  return (rounds * numbers * (numbers - 1)) / 2 + (numbers * rounds * (rounds - 1)) / 2;
};

/** Returns the job's last line; throws if it is missing or wrong. */
export const checkedAnswer = (log: string): string => {
  const found = /(\d+) rounds add up to (\d+)/.exec(log);
  if (found === null) throw new Error(`the driver's log has no answer; it ends ${log.slice(-500)}`);
  const [line, rounds, total] = found;
  if (Number(total) !== answerOf(Number(rounds))) throw new Error(`"${line}" is wrong: ${answerOf(Number(rounds))}`);
  return line;
};
