/** An application whose queued tasks rise and fall as its gates open, and the answer that it must give. */
import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sparkPi } from "../../../support/pi.ts";

/** The gates in the order in which they open. */
export const gateNames = ["many", "few", "again"] as const;
export type Gate = (typeof gateNames)[number];

/** Two cores run all of this; a JVM that compiles less starts sooner. */
const javaOptions = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";

export type Waves = {
  readonly name: string;
  readonly sparkVersion: string;
  /** The number of queued tasks before the first gate opens, between the gates, and after the second one. */
  readonly first: number;
  readonly middle: number;
  readonly last: number;
  readonly most: number;
};

/** Returns the application; `gates` is a folder of this machine that its driver mounts, with the program in it. */
export const application = ({ name, sparkVersion, first, middle, last, most }: Waves, gates: string) => {
  const body = sparkPi(name, {
    ...{ sparkVersion, image: `docker.io/apache/spark:${sparkVersion}` },
    type: "Python",
    mainClass: undefined,
    mainApplicationFile: "local:///gates/waves.py",
    arguments: ["/gates", String(first), String(middle), String(last)],
    restartPolicy: { type: "Never" },
    sparkConf: { "spark.dynamicAllocation.executorIdleTimeout": "15s" },
    dynamicAllocation: { enabled: true, initialExecutors: 0, minExecutors: 0, maxExecutors: most },
    volumes: [{ name: "gates", hostPath: { path: gates, type: "Directory" } }],
    driver: {
      ...{ cores: 1, memory: "512m", serviceAccount: "spark", javaOptions },
      volumeMounts: [{ name: "gates", mountPath: "/gates", readOnly: true }],
    },
    executor: { cores: 1, memory: "512m", javaOptions },
  });
  return { ...body, metadata: { ...body.metadata, annotations: { "rekindle.dev/executors": "own" } } };
};

/** Puts the program where drivers find it. */
export const laid = (gates: string): Promise<void> =>
  copyFile(join(import.meta.dirname, "waves.py"), join(gates, "waves.py"));

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
