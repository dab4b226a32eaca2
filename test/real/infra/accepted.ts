/** Checks that a real API server accepts manifests: a server-side dry run, strict about fields, without warnings. */
import { parseAllDocuments } from "yaml";
import * as z from "zod";
import type { Cluster } from "../cluster/cluster.ts";

/** A check. `run` returns the defects. */
export type Check = { readonly name: string; readonly run: () => Promise<readonly string[]> };

/** The fields of an object that these checks read. */
const shape = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});

export type Manifest = z.infer<typeof shape>;

/** Returns the objects of a stream, without documents that are only comments. */
export const objectsIn = (text: string): readonly Manifest[] =>
  parseAllDocuments(text)
    .map((document): unknown => document.toJS())
    .filter((found) => found !== null)
    .map((found) => shape.parse(found));

/** The path from a workload to the template of its pods. */
const templates = z.union([
  z.object({ kind: z.enum(["Deployment", "Job"]), spec: z.object({ template: z.looseObject({}) }) }),
  z
    .object({
      kind: z.literal("CronJob"),
      spec: z.object({ jobTemplate: z.object({ spec: z.object({ template: z.looseObject({}) }) }) }),
    })
    .transform(({ spec }) => ({ spec: spec.jobTemplate.spec })),
]);

/** Returns the pod that a workload would create. */
const podOf = (object: Manifest): object | undefined => {
  const found = templates.safeParse(object).data?.spec.template;
  if (found === undefined) return undefined;
  const { name, namespace } = object.metadata;
  return { apiVersion: "v1", kind: "Pod", ...found, metadata: { name, namespace } };
};

const apply = async (cluster: Cluster, text: string, ...flags: readonly string[]): Promise<readonly string[]> => {
  const { code, stderr } = await cluster.kubectl(
    ["apply", "--server-side", "--force-conflicts", "--validate=strict", ...flags, "-f", "-"],
    { input: text },
  );
  return code === 0 && !stderr.includes("Warning:") ? [] : [stderr.trim()];
};

/** Applies the objects that other checks need. Throws the server's errors. */
export const install = async (cluster: Cluster, text: string): Promise<void> => {
  const wrong = await apply(cluster, text);
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
};

const isFirst = ({ kind }: Manifest): boolean => ["Namespace", "ServiceAccount"].includes(kind);

const streamOf = (objects: readonly object[]): string => objects.map((one) => JSON.stringify(one)).join("\n---\n");

/**
 * Returns the server's errors for these objects, and for the pods of their workloads in their namespaces; empty if it
 * accepts all.
 */
export const objections = async (cluster: Cluster, text: string): Promise<readonly string[]> => {
  const objects = objectsIn(text);
  if (objects.length === 0) return ["there is nothing to apply"];
  // A dry run stores no namespace for the next object, and a pod needs its service account.
  const first = objects.filter(isFirst);
  if (first.length > 0) await install(cluster, streamOf(first));
  const pods = objects.map(podOf).filter((pod) => pod !== undefined);
  const wrong = await apply(cluster, text, "--dry-run=server");
  if (pods.length === 0) return wrong;
  const { code, stderr } = await cluster.kubectl(["create", "--dry-run=server", "--validate=strict", "-f", "-"], {
    input: streamOf(pods),
  });
  return code === 0 ? wrong : [...wrong, stderr.trim()];
};
