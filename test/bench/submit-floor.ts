/**
 * The floor of applications that are submitted: the objects that the applications and their host created, created once more by bare
 * requests in another namespace.
 */
import * as z from "zod";
import type { Api } from "../real/cluster/api.ts";
import { each } from "../support/parallel.ts";

const from = "default";
const into = "floor";

const namespaced = (api: string, plural: string): string => `${api}/namespaces/${from}/${plural}`;

/** The collections of the objects of each application, beside that of the application itself. */
const inOrder = [
  namespaced("/apis/rekindle.dev/v1alpha1", "checkpoints"),
  namespaced("/api/v1", "services"),
  namespaced("/api/v1", "configmaps"),
  namespaced("/apis/networking.k8s.io/v1", "networkpolicies"),
  namespaced("/api/v1", "pods"),
] as const;

/** The objects that each application has at least: itself, its record, a Service, a ConfigMap and its driver. */
const fewest = 5;

const list = z.object({
  items: z.array(
    z.looseObject({ metadata: z.looseObject({ name: z.string(), uid: z.string() }), status: z.unknown().optional() }),
  ),
});

type Item = z.infer<typeof list>["items"][number];
type Post = { readonly collection: string; readonly object: object };

/** The name of an application in the name of its object: `bench-17` in `bench-17-driver` and in `sparkapplication.bench-17`. */
const applicationIn = (name: string): string | undefined => /\bbench-\d+/.exec(name)?.[0];

/** Returns an object without what the API server adds; a service gets a new address. */
const bare = ({ metadata, status: _, ...item }: Item): object => {
  const { name, labels, annotations } = metadata;
  const spec = z.looseObject({}).parse(item["spec"] ?? {});
  const { clusterIP: _1, clusterIPs: _2, ...kept } = spec;
  return { ...item, metadata: { name, labels, annotations }, ...(item["spec"] === undefined ? {} : { spec: kept }) };
};

/** Returns the requests of each application in their order: itself, its record, then the objects of its driver. */
const postsOf = async (api: Api, applications: string): Promise<readonly (readonly Post[])[]> => {
  const posts = new Map<string, Post[]>();
  for (const path of [applications, ...inOrder]) {
    const collection = path.replace(`/${from}/`, `/${into}/`);
    const { items } = list.parse((await api.call("GET", path)).body);
    for (const item of items) {
      const application = applicationIn(item.metadata.name);
      if (application === undefined) continue;
      posts.set(application, [...(posts.get(application) ?? []), { collection, object: bare(item) }]);
    }
  }
  return [...posts.values()];
};

const sent = async (api: Api, { collection, object }: Post): Promise<void> => {
  const reply = await api.call("POST", collection, object);
  if (reply.status !== 201) throw new Error(`the floor's ${collection}: ${JSON.stringify(reply.body)}`);
};

/** Creates the namespace of the floor, and the account that pods need. */
const founded = async (api: Api): Promise<void> => {
  await api.call("POST", "/api/v1/namespaces", { metadata: { name: into } });
  await api.call("POST", `/api/v1/namespaces/${into}/serviceaccounts`, { metadata: { name: "spark" } });
};

/**
 * Returns for each of `count` applications the ms from the answer to its creation until its driver's POST could leave:
 * its record is created, then the other objects of the driver at once. The host must have ended.
 */
export const bareStarts = async (api: Api, applications: string, count: number): Promise<readonly number[]> => {
  const posts = (await postsOf(api, applications)).slice(0, count);
  await founded(api);
  const took: number[] = [];
  for (const [application, record, ...others] of posts) {
    if (application === undefined || record === undefined) throw new Error("an application has no record");
    await sent(api, application);
    const began = performance.now();
    await sent(api, record);
    await Promise.all(others.slice(0, -1).map((post) => sent(api, post)));
    took.push(performance.now() - began);
  }
  return took;
};

/**
 * Returns the seconds until the last object of `count` applications of a collection exists, 16 applications at a time. Only
 * applications whose objects were kept count. The host must have ended.
 */
export const bareSubmissions = async (api: Api, applications: string, count: number): Promise<number> => {
  const posts = (await postsOf(api, applications)).filter(({ length }) => length >= fewest).slice(0, count);
  const total = posts.reduce((sum, { length }) => sum + length, 0);
  if (posts.length !== count)
    throw new Error(`the floor found ${posts.length} applications with ${total} objects in all`);
  await founded(api);
  const began = performance.now();
  await each(posts, async (application) => {
    for (const post of application) await sent(api, post);
  });
  return (performance.now() - began) / 1_000;
};
