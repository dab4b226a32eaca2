/** The fixture that all cases of the family share: the scheduler's stand-in, the book, and a host that is killed. */
import { admissionByUrl, installAdmission } from "../installed.ts";
import { killing } from "../killing.ts";
import { kubectl, must, type Scene } from "../scene.ts";
import { type Book, openBook } from "./book.ts";
import { startScheduler } from "./scheduler.ts";

/** The longest time until a kill; the start of a host alone takes a second or two. */
const longestLifeMs = 12_000;

/**
 * The component that admits groups: the host, which finds no lease of Volcano's scheduler, or a stand-in that holds
 * this lease.
 */
export type Gang = "here" | "scheduler";

const letters = { here: "by the host (--gang auto)", scheduler: "by a stand-in for Volcano's scheduler (--gang auto)" };

export type Fixture = {
  readonly scene: Scene;
  readonly gang: Gang;
  readonly book: Book;
  /** Kills the host, and runs `work` while no host runs. */
  readonly unseen: <T>(work: () => Promise<T>) => Promise<T>;
};

/**
 * Starts the scheduler's stand-in if the fixture has one; otherwise the host admits groups, and the cluster's own
 * scheduler places their pods.
 */
const letIn = async ({ cluster }: Scene, gang: Gang): Promise<() => Promise<void>> => {
  if (gang === "here") return async () => {};
  const nodes = cluster.nodes.map(({ name }) => name);
  return (await startScheduler(cluster.adminKubeconfig, nodes)).stop;
};

/** Runs `work` on a fixture. The error of a case is reported by that case, the host's own exit by all of them. */
export const withFixture = async <T>(
  scene: Scene,
  gang: Gang,
  work: (fixture: Fixture, during: <R>(one: Promise<R>) => Promise<R>) => Promise<T>,
): Promise<T> => {
  const { cluster } = scene;
  // A new CRD is served a moment later.
  for (const path of ["/apis/batch.volcano.sh/v1alpha1/jobs", "/apis/scheduling.volcano.sh/v1beta1/podgroups"])
    await cluster.api.until(path, ({ status }) => status === 200, 30_000);
  const stopped = await letIn(scene, gang);
  const book = await openBook(cluster.adminKubeconfig);
  await installAdmission(cluster);
  const killer = killing(scene, admissionByUrl, longestLifeMs);
  try {
    return await work({ scene, gang, book, unseen: killer.without }, killer.during);
  } finally {
    await killer.stop();
    scene.say(`${killer.kills()} kills of the host; groups were let in ${letters[gang]}`);
    book.stop();
    await stopped();
  }
};

/** Creates a namespace, and waits until pods can be created in it. */
export const namespaced = async ({ cluster }: Scene, name: string): Promise<void> => {
  const body = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
  const { status } = await cluster.api.call("POST", "/api/v1/namespaces", body);
  must(status === 201 || status === 409, `namespace ${name}: ${status}`);
  const account = `/api/v1/namespaces/${name}/serviceaccounts/default`;
  await cluster.api.until(account, (reply) => reply.status === 200, 30_000);
};

/** True if the API server serves the resource. */
export const serves = async ({ cluster }: Scene, path: string): Promise<boolean> =>
  (await cluster.api.call("GET", `${path}?limit=1`)).status === 200;

/** True if the host's account has the right, according to the API server. */
export const hasRight = async ({ cluster }: Scene, verb: string, resource: string): Promise<boolean> => {
  const [name, subresource] = resource.split("/");
  const of = subresource === undefined ? [] : [`--subresource=${subresource}`];
  const account = "--as=system:serviceaccount:rekindle:rekindle";
  return (await cluster.kubectl(["auth", "can-i", verb, name ?? "", ...of, account])).stdout.trim() === "yes";
};

export const applied = ({ cluster }: Scene, namespace: string, file: string): Promise<string> =>
  kubectl(cluster, ["apply", "-n", namespace, "-f", file]);
