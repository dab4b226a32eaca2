/** An application of `spark.apache.org`, its record, and pods of an attempt in each condition that the tests observe. */
import type { Stored } from "../../../../shared/core/object.ts";
import { readApache, tolerationsOf } from "../../../../shared/spark/apache/spec/read.ts";
import type { ApacheSpec } from "../../../../shared/spark/apache/spec/schema.ts";
import type { Observed, Policy } from "../../../../shared/spark/apache/status/progress.ts";
import { type ApplicationRecord, submittedAt, withState } from "../../../../shared/spark/apache/status/record.ts";
import type { Summary } from "../../../../shared/spark/apache/status/summary.ts";

export type Fields = Readonly<Record<string, unknown>>;

export const t0 = Date.parse("2026-11-02T08:00:00Z");

export const app = { name: "pi", namespace: "default", uid: "a-1" };

export const pi: Fields = {
  runtimeVersions: { sparkVersion: "4.2.0" },
  mainClass: "org.apache.spark.examples.SparkPi",
  jars: "local:///opt/spark/examples/jars/spark-examples.jar",
  sparkConf: { "spark.kubernetes.container.image": "apache/spark:{{SPARK_VERSION}}" },
};

export const readOf = (spec: unknown, name = app.name): ReturnType<typeof readApache> =>
  readApache({ metadata: { name }, spec });

export const specOf = (fields: Fields = {}): ApacheSpec => {
  const read = readOf({ ...pi, ...fields });
  if (!read.ok) throw new Error(read.message);
  return read.spec;
};

/** The policy of an application with these tolerations, whose histories are trimmed. */
export const policyOf = (applicationTolerations: Fields = {}, sparkConf: Fields = {}): Policy => ({
  ...tolerationsOf(specOf({ applicationTolerations, sparkConf })),
  trims: true,
});

export const main = "spark-kubernetes-driver";

export const pod = (status: Fields, metadata: Fields = {}): Stored => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "pi-0-driver", namespace: "default", uid: "p-1", resourceVersion: "1", ...metadata },
  spec: { containers: [{ name: main }] },
  status,
});

export const container = (fields: Fields = {}): Fields => ({ name: main, ready: false, restartCount: 0, ...fields });

export const ended = (exitCode: number, fields: Fields = {}): Fields =>
  container({ state: { terminated: { exitCode } }, ...fields });

const isReady = { type: "Ready", status: "True" };

export const pending = pod({ phase: "Pending" });
export const started = pod({ phase: "Running", containerStatuses: [container({ ready: true })] });
export const ready = pod({
  phase: "Running",
  conditions: [isReady],
  containerStatuses: [container({ ready: true })],
});
export const succeeded = pod({ phase: "Succeeded", containerStatuses: [ended(0)] });
export const failed = pod({ phase: "Failed", containerStatuses: [ended(1)] });
export const evicted = pod({ phase: "Failed", reason: "Evicted" });

export const executors = (count: number): readonly Stored[] => Array.from({ length: count }, () => ready);

export const seen = (fields: Partial<Observed> = {}): Observed => ({
  now: t0,
  driver: "unseen",
  main,
  executors: [],
  created: false,
  released: false,
  ...fields,
});

/** A record that went through these states, each ten seconds after the one before; `Submitted` is the first. */
export const recordOf = (...summaries: readonly Summary[]): ApplicationRecord =>
  summaries.reduce((record, summary, at) => withState(record, summary, t0 + (at + 1) * 10_000), submittedAt(t0));

export const namesOf = ({ history }: Pick<ApplicationRecord, "history">): readonly Summary[] =>
  history.map(({ summary }) => summary);
