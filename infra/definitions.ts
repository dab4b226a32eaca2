/** The CustomResourceDefinitions of Rekindle, made from the schemas that its code parses with. */
import * as z from "zod";
import type { Obj } from "../shared/core/object.ts";
import { ourLabels } from "../shared/installation/roles.ts";
import { ageColumn } from "../shared/kube/kind-definition.ts";
import { definitions as ofKinds } from "../shared/registry/definitions.ts";
import type { Definition } from "./definition.ts";
import { limited } from "./limits.ts";
import { structuralOf } from "./structural.ts";
import { companionDefinitions } from "./volcano.ts";

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
  short: ["ckpt"],
  columns: [
    { name: "Kind", type: "string", jsonPath: ".metadata.labels['rekindle\\.dev/kind']" },
    { name: "Application", type: "string", jsonPath: ".metadata.annotations['rekindle\\.dev/name']" },
    { name: "Waits for", type: "string", jsonPath: ".spec.waitsFor" },
    { name: "Wake at", type: "string", jsonPath: ".metadata.annotations['rekindle\\.dev/wake-at']" },
    ageColumn,
  ],
  spec: recordSchema,
};

const definitions: readonly Definition[] = [
  ...ofKinds.map(({ kind: { resource, shortNames, scope }, ...definition }) => ({
    ...definition,
    ...{ resource, short: shortNames },
    ...(scope === undefined ? {} : { scope }),
  })),
  checkpoint,
  ...companionDefinitions,
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
  const { resource, short, annotations } = definition;
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
        singular: resource.kind.toLowerCase(),
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
