/** The CustomResourceDefinitions of Rekindle, made from the schemas that its code parses with. */
import * as z from "zod";
import { ourLabels } from "../shared/cli/installation/roles.ts";
import type { Obj } from "../shared/core/object.ts";
import {
  connectSpecSchema,
  connectStatusSchema,
  scheduledSpecSchema,
  scheduledStatusSchema,
  specSchema,
  statusSchema,
} from "../shared/spark/schema/application.ts";
import { scheduledSparkApplications, sparkApplications, sparkConnects } from "../shared/spark/schema/resource.ts";
import type { Column, Definition } from "./definition.ts";
import { limited } from "./limits.ts";
import { structuralOf } from "./structural.ts";
import { volcano } from "./volcano.ts";

const age: Column = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

/** The group ends in k8s.io: the API server asks for the place of its approval. */
const approved = { "api-approved.kubernetes.io": "https://github.com/kubeflow/spark-operator/pull/1298" };

const sparkApplication: Definition = {
  resource: sparkApplications,
  singular: "sparkapplication",
  short: ["sparkapp"],
  columns: [
    { name: "Suspend", type: "boolean", jsonPath: ".spec.suspend" },
    { name: "Status", type: "string", jsonPath: ".status.applicationState.state" },
    { name: "Attempts", type: "string", jsonPath: ".status.executionAttempts" },
    { name: "Start", type: "string", jsonPath: ".status.lastSubmissionAttemptTime" },
    { name: "Finish", type: "string", jsonPath: ".status.terminationTime" },
    age,
  ],
  spec: specSchema,
  status: statusSchema,
  annotations: approved,
};

const scheduledSparkApplication: Definition = {
  resource: scheduledSparkApplications,
  singular: "scheduledsparkapplication",
  short: ["scheduledsparkapp"],
  columns: [
    { name: "Schedule", type: "string", jsonPath: ".spec.schedule" },
    { name: "TimeZone", type: "string", jsonPath: ".spec.timeZone" },
    { name: "Suspend", type: "string", jsonPath: ".spec.suspend" },
    { name: "Last Run", type: "date", jsonPath: ".status.lastRun" },
    { name: "Last Run Name", type: "string", jsonPath: ".status.lastRunName" },
    age,
  ],
  spec: scheduledSpecSchema,
  status: scheduledStatusSchema,
  annotations: approved,
};

const sparkConnect: Definition = {
  resource: sparkConnects,
  singular: "sparkconnect",
  short: ["sparkconn"],
  columns: [
    age,
    { name: "Status", type: "string", jsonPath: ".status.state" },
    { name: "PodName", type: "string", jsonPath: ".status.server.podName" },
  ],
  spec: connectSpecSchema,
  status: connectStatusSchema,
  annotations: approved,
};

/** The fields of a record beside the operator's memory. The server keeps all of it, as the code reads it with care. */
const recordSchema = z
  .looseObject({
    schema: z.int().describe("version of this form"),
    cluster: z.string().describe("UID of the cluster's kube-system namespace"),
    uid: z.string().describe("UID of the application"),
    saves: z.int().describe("counts the saves"),
    waitsFor: z.string().optional().describe("what the application waits for"),
    wakeAt: z.int().optional().describe("when to look again, milliseconds since 1970"),
    untimed: z
      .boolean()
      .optional()
      .describe("only an event leads to the next step: timers that still come are outdated"),
  })
  .meta({ "x-kubernetes-preserve-unknown-fields": true });

const checkpoint: Definition = {
  resource: { group: "rekindle.dev", version: "v1alpha1", plural: "checkpoints", kind: "Checkpoint" },
  singular: "checkpoint",
  short: ["ckpt"],
  columns: [
    { name: "Kind", type: "string", jsonPath: ".metadata.labels['rekindle\\.dev/kind']" },
    { name: "Application", type: "string", jsonPath: ".metadata.annotations['rekindle\\.dev/name']" },
    { name: "Waits for", type: "string", jsonPath: ".spec.waitsFor" },
    { name: "Wake at", type: "string", jsonPath: ".metadata.annotations['rekindle\\.dev/wake-at']" },
    age,
  ],
  spec: recordSchema,
};

const definitions: readonly Definition[] = [
  sparkApplication,
  scheduledSparkApplication,
  sparkConnect,
  checkpoint,
  ...volcano,
];

const text = { type: "string" } as const;

const rootSchema = ({ spec, fields = {}, status, limits }: Definition) => ({
  type: "object",
  properties: limited(
    {
      apiVersion: text,
      kind: text,
      metadata: { type: "object" },
      ...(spec === undefined ? {} : { spec: structuralOf(spec) }),
      ...Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, structuralOf(field)])),
      ...(status === undefined ? {} : { status: structuralOf(status) }),
    },
    limits,
  ),
  ...(limits === undefined && spec !== undefined ? { required: ["metadata", "spec"] } : {}),
});

const subresourcesOf = ({ status, plainStatus }: Definition) => {
  if (plainStatus === true) return { subresources: {} };
  return status === undefined ? {} : { subresources: { status: {} } };
};

const versionOf = (definition: Definition) => ({
  name: definition.resource.version,
  served: true,
  storage: true,
  ...(definition.columns.length === 0 ? {} : { additionalPrinterColumns: definition.columns }),
  schema: { openAPIV3Schema: rootSchema(definition) },
  ...subresourcesOf(definition),
});

const crdOf = (definition: Definition): Obj => {
  const { resource, singular, short, annotations } = definition;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${resource.plural}.${resource.group}`,
      labels: ourLabels,
      ...(annotations === undefined ? {} : { annotations }),
    },
    spec: {
      group: resource.group,
      names: {
        kind: resource.kind,
        listKind: `${resource.kind}List`,
        plural: resource.plural,
        singular,
        shortNames: short,
      },
      scope: definition.scope ?? "Namespaced",
      versions: [versionOf(definition)],
    },
  };
};

/** Every definition by the name of its file. */
export const crdFiles = (): readonly { readonly file: string; readonly object: Obj }[] =>
  definitions.map((definition) => {
    const { group, plural } = definition.resource;
    return { file: `${group}_${plural}.yaml`, object: crdOf(definition) };
  });
