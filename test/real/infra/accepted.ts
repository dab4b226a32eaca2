/** Whether a real API server takes what people would apply: a dry run of its own, strict about fields, without a warning. */
import { parseAllDocuments } from "yaml";
import * as z from "zod";
import type { Cluster } from "../cluster/cluster.ts";

/** Gives what is wrong. */
export type Check = { readonly name: string; readonly run: () => Promise<readonly string[]> };

/** As much of an object as is looked at here. */
const shape = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});

export type Manifest = z.infer<typeof shape>;

/** The objects of a stream; what is only a comment is none. */
export const objectsIn = (text: string): readonly Manifest[] =>
  parseAllDocuments(text)
    .map((document): unknown => document.toJS())
    .filter((found) => found !== null)
    .map((found) => shape.parse(found));

/** What stands between a workload and the pods that it makes. */
const templates = z.union([
  z.object({ kind: z.enum(["Deployment", "Job"]), spec: z.object({ template: z.looseObject({}) }) }),
  z
    .object({
      kind: z.literal("CronJob"),
      spec: z.object({ jobTemplate: z.object({ spec: z.object({ template: z.looseObject({}) }) }) }),
    })
    .transform(({ spec }) => ({ spec: spec.jobTemplate.spec })),
]);

/** The pod that a workload would make. */
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

/** Applies it, so that what needs it can be tried. Throws what the server says against it. */
export const install = async (cluster: Cluster, text: string): Promise<void> => {
  const wrong = await apply(cluster, text);
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
};

const isFirst = ({ kind }: Manifest): boolean => ["Namespace", "ServiceAccount"].includes(kind);

const streamOf = (objects: readonly object[]): string => objects.map((one) => JSON.stringify(one)).join("\n---\n");

/** What the server says against these objects, and against the pods of their workloads in their namespaces; empty: it takes all. */
export const objections = async (cluster: Cluster, text: string): Promise<readonly string[]> => {
  const objects = objectsIn(text);
  if (objects.length === 0) return ["there is nothing to apply"];
  // A dry run makes no namespace for the next object, and a pod needs its account.
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
