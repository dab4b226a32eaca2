/** What a deployment decides for its SparkApplications: settings named as upstream's controller flags. */
import * as z from "zod";
import type { Options } from "../../spark/auxiliary-objects/options.ts";
import type { Naming } from "../host/metrics.ts";
import { count, json, list, text, yesOrNo } from "./formats.ts";

const texts = z.record(z.string(), z.string(), { error: 'write JSON such as [{"key": "value"}]' });

/** Upstream writes a list of maps. */
const annotations = json(
  z
    .union([texts, z.array(texts)], { error: 'write JSON such as [{"key": "value"}]' })
    .default({})
    .transform((given): Record<string, string> => Object.assign({}, ...[given].flat())),
);

const tls = json(
  z.array(z.record(z.string(), z.unknown()), { error: 'write JSON such as [{"secretName": "name"}]' }).default([]),
);

const rising = (values: readonly number[]): boolean =>
  values.length > 0 && values.every((value, at) => Number.isFinite(value) && value > (values[at - 1] ?? 0));

const buckets = list
  .transform((texts) => texts.map(Number))
  .refine(rising, { error: "write growing numbers separated by commas" });

export const sparkKeys = {
  enableUiService: yesOrNo.prefault("true").describe("a Service of the web UI beside every driver"),
  ingressUrlFormat: text
    .prefault("")
    .describe("an Ingress of the web UI at this URL, e.g. {{$appName}}.example.com or example.com/{{$appName}}"),
  ingressClassName: text.prefault("").describe("class of the ingresses that are made"),
  ingressAnnotations: annotations.prefault("").describe("JSON: annotations of ingresses whose application gives none"),
  ingressTls: tls.prefault("").describe("JSON: TLS of ingresses whose application gives none"),
  enableBatchScheduler: yesOrNo.prefault("false").describe("make what the batch scheduler of an application needs"),
  defaultBatchScheduler: text.prefault("").describe("batch scheduler of applications that name none"),
  kubeSchedulerNames: list
    .prefault("")
    .describe("schedulers with the coscheduling plugin, separated by commas: they get its PodGroups"),
  enableDriverPdb: yesOrNo
    .prefault("false")
    .describe("a PodDisruptionBudget for drivers whose application asks for one"),
  defaultTimeToLiveSeconds: count(2_147_483_647, 0)
    .prefault("0")
    .describe("delete ended applications that say nothing of it after so many seconds; 0 keeps them"),
  maxTrackedExecutorPerApp: count(100_000).prefault("1000").describe("executors that a status tells of"),
  metricsPrefix: text.prefault("").describe("stands before the names of applications' figures, with an underscore"),
  metricsLabels: list
    .prefault("")
    .describe("labels of applications by which their figures are told apart, or `namespace`; Unknown where absent"),
  metricsJobSubmitLatencyBuckets: buckets.prefault("0.5,1,2,4,8,16,32,64,128,256").describe("seconds, increasing"),
  metricsJobStartLatencyBuckets: buckets
    .prefault("30,60,90,120,150,180,210,240,270,300")
    .describe("seconds, increasing"),
} as const;

const shape = z.object(sparkKeys);

type Values = z.infer<typeof shape>;

export const optionsOf = (values: Values): Options => ({
  uiService: values.enableUiService,
  ingressUrlFormat: values.ingressUrlFormat,
  ingressClassName: values.ingressClassName,
  ingressAnnotations: values.ingressAnnotations,
  ingressTls: values.ingressTls,
  batchScheduler: values.enableBatchScheduler,
  defaultBatchScheduler: values.defaultBatchScheduler,
  kubeSchedulerNames: values.kubeSchedulerNames,
  driverPdb: values.enableDriverPdb,
  defaultTimeToLiveSeconds: values.defaultTimeToLiveSeconds,
  trackedExecutors: values.maxTrackedExecutorPerApp,
});

export const namingOf = (values: Values): Naming => ({
  prefix: values.metricsPrefix,
  labels: values.metricsLabels,
  submitBuckets: values.metricsJobSubmitLatencyBuckets,
  startBuckets: values.metricsJobStartLatencyBuckets,
});

const variableOf = (name: string): string =>
  `REKINDLE_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;

/** The same from a function's environment. Throws one line that names what is wrong. */
export const sparkOptionsIn = (env: Readonly<Record<string, string | undefined>>): Options => {
  const given = Object.keys(sparkKeys).flatMap((name) => {
    const value = env[variableOf(name)];
    return value === undefined ? [] : [[name, value] as const];
  });
  const read = shape.safeParse(Object.fromEntries(given));
  if (read.success) return optionsOf(read.data);
  const wrong = read.error.issues.map(({ path, message }) => `${variableOf(String(path[0]))} (${message})`);
  throw new Error(`set the function's environment: ${wrong.join(", ")}`);
};
