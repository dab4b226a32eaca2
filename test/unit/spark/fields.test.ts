/**
 * No field is silently ignored: each field of upstream's CRDs has an effect, is refused, or is listed here with a
 * reason.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { dataDir, skipWithoutData } from "../../support/data.ts";
import { type Fields, isFields, versionAt } from "../infra/crd-comparison.ts";
import { type Context, findings, idle, type Kind, someFindings, unexpected } from "./fields/findings.ts";
import { ofApplication, ofConnect, ofSchedule } from "./fields/following.ts";
import type { Samples } from "./fields/paths.ts";

const own = join(import.meta.dirname, "..", "..", "..", "infra", "crds");

type Schema = (plural: string) => string;
/** Rekindle's CRDs keep core types opaque; upstream's list each of their fields. */
const ours: Schema = (plural) => join(own, `sparkoperator.k8s.io_${plural}.yaml`);
const theirs: Schema = (plural) => join(dataDir ?? "", "spark-operator/crds", `sparkoperator.k8s.io_${plural}.yaml`);

const specOf = (file: string): Fields => {
  const crd: unknown = parse(readFileSync(file, "utf8"));
  return versionAt(isFields(crd) ? crd : {}, ["schema", "openAPIV3Schema", "properties", "spec"]);
};

const podOf = (priority: number): Fields => ({ spec: { priority, containers: [] } });

const mounts = [
  { name: "va", mountPath: "/a" },
  { name: "vb", mountPath: "/b" },
];

/** Values for fields such as amounts and files, for which Spark or a rule refuses an arbitrary word. */
const samples: Samples = {
  mainApplicationFile: ["local:///a.jar", "local:///b.jar"],
  sparkVersion: ["4.1.1", "3.5.8"],
  imagePullPolicy: ["Always", "Never"],
  ...Object.fromEntries(
    ["jars", "files", "pyFiles", "archives"].map((list) => [`deps.${list}[]`, ["local:///a.zip", "local:///b.zip"]]),
  ),
  memory: ["1g", "2g"],
  memoryOverhead: ["1g", "2g"],
  memoryLimit: ["3g", "4g"],
  memoryOverheadFactor: ["0.5", "0.6"],
  coreRequest: ["1", "2"],
  coreLimit: ["3", "4"],
  secretType: ["GCPServiceAccount", "HadoopDelegationToken"],
  ingressURLFormat: ["va.example.com", "vb.example.com"],
  "restartPolicy.type": ["Never", "Always"],
  type: ["Scala", "Python"],
  template: [podOf(1), podOf(2)],
  "volumes[]": [
    { name: "va", emptyDir: {} },
    { name: "va", emptyDir: { medium: "Memory" } },
  ],
  "volumeMounts[]": [mounts[0], { ...mounts[0], readOnly: true }],
  "server.service": [{ spec: { type: "NodePort" } }, { spec: { type: "LoadBalancer" } }],
  schedule: ["0 * * * *", "30 * * * *"],
  timeZone: ["Asia/Kolkata", "Asia/Kathmandu"],
  concurrencyPolicy: ["Allow", "Forbid"],
};

const exporter = { jmxExporterJar: "/e.jar" };

const contexts: readonly Context[] = [
  { below: /^volumes/, with: { driver: { volumeMounts: mounts } } },
  {
    below: /^(driver|executor)\.volumeMounts/,
    with: {
      volumes: [
        { name: "va", emptyDir: {} },
        { name: "vb", hostPath: { path: "/b" } },
      ],
    },
  },
  {
    below: /^driverIngressOptions/,
    with: { driverIngressOptions: [{ servicePort: 9_000, servicePortName: "x", ingressURLFormat: "x.example.com" }] },
  },
  { below: /^batchSchedulerOptions/, with: { batchScheduler: "volcano" } },
  // Only YuniKorn gets the overhead of the language; for a small driver that is the same for all languages.
  { below: /^type$/, with: { batchScheduler: "yunikorn", driver: { memory: "8g" } } },
  { below: /^dynamicAllocation/, with: { dynamicAllocation: { enabled: true } } },
  {
    below: /^monitoring\./,
    with: { monitoring: { exposeDriverMetrics: true, exposeExecutorMetrics: true, prometheus: exporter } },
  },
  {
    below: /^restartPolicy\./,
    with: { restartPolicy: { type: "OnFailure", onFailureRetries: 2, onSubmissionFailureRetries: 2 } },
  },
];

const spark: Fields = {
  ...{
    type: "Scala",
    sparkVersion: "4.1.1",
    image: "spark:4.1.1",
    mainClass: "A",
    mainApplicationFile: "local:///a.jar",
  },
  ...{ driver: { cores: 1, memory: "512m" }, executor: { instances: 1, cores: 1, memory: "512m" } },
};

const kinds: readonly (Kind & { readonly kind: string; readonly plural: string })[] = [
  {
    kind: "SparkApplication",
    plural: "sparkapplications",
    base: spark,
    contexts,
    samples,
    follow: ofApplication,
    ignored: [
      {
        path: /^(failureRetries|retryInterval)$/,
        why: "upstream's version 2 reads them nowhere: restartPolicy is said instead",
      },
      { path: /^type$/, why: "the main file decides the program's language, as in Spark's submission client" },
    ],
    refused: [{ path: /^mode$/, why: "client mode would run the driver inside the operator" }],
  },
  {
    kind: "ScheduledSparkApplication",
    plural: "scheduledsparkapplications",
    base: { schedule: "0 * * * *", template: spark },
    contexts: [],
    samples,
    follow: ofSchedule,
    ignored: [],
    refused: [],
  },
  {
    kind: "SparkConnect",
    plural: "sparkconnects",
    base: { sparkVersion: "4.1.1", image: "spark:4.1.1", server: {}, executor: {} },
    contexts: contexts.filter(({ below }) => below.test("dynamicAllocation")),
    samples,
    follow: ofConnect,
    ignored: [
      { path: /^server\.service\.spec\.ports/, why: "the server's ports are written over them, as upstream does" },
      {
        path: /^server\.service\.(apiVersion|kind|metadata\.namespace)$/,
        why: "it is a Service, beside its SparkConnect",
      },
      { path: /^server\.service\.metadata\.finalizers/, why: "the service would never go with its SparkConnect" },
      { path: /^server\.service\.status\./, why: "the cluster writes it" },
    ],
    refused: [],
  },
];

describe("no field is silently ignored", () => {
  for (const { kind, plural, ...of } of kinds) {
    test(`each field of Rekindle's ${kind} has an effect, is refused, or is listed without one`, () => {
      assert.deepEqual(unexpected(findings(of, specOf(ours(plural))), of), []);
    });

    test(`each field of upstream's ${kind} and of its pods has an effect, is refused, or is listed without one`, {
      skip: skipWithoutData,
    }, () => {
      const all = someFindings(of, specOf(theirs(plural)));
      assert.deepEqual([unexpected(all, of), idle(all, of)], [[], []]);
    });
  }
});
