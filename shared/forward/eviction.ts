/**
 * Takes the key of an eviction. The API server deletes an evicted pod without a review, and the review of the eviction has only the
 * pod's name, so this step reads the pod, and sends the keys of its owners when its deletion has begun.
 */
import { dedupe, type Message } from "../core/key.ts";
import type { Cluster, Queue } from "../engine/ports.ts";
import { isEnding } from "../kube/pods.ts";
import { pods } from "../kube/resources.ts";
import { evictedRings } from "./bell.ts";
import type { Subject } from "./keys.ts";

export type EvictionContext = {
  readonly cluster: Pick<Cluster, "get">;
  readonly queue: Queue;
  readonly subjects: readonly Subject[];
};

type Taken = { readonly did: "nothing"; readonly why: string } | { readonly did: "step"; readonly writes: number };

/** The delays after which a pod is looked at again that is not being deleted, ms. */
const delaysMs = [1_000, 5_000] as const;

/** Sends the key again later; a budget may have refused the eviction, so this ends. */
const again = async ({ queue }: EvictionContext, message: Message, version: string): Promise<Taken> => {
  const { looks = 0 } = message;
  const delayMs = delaysMs[looks];
  if (delayMs === undefined) return { did: "nothing", why: "the pod was not evicted" };
  const id = dedupe.timer(message, `look ${looks} ${version} ${message.trace ?? ""}`);
  await queue.sendLater({ ...message, looks: looks + 1 }, id, delayMs);
  return { did: "nothing", why: "the deletion of the pod is not visible yet" };
};

/** Makes the function that takes evictions. */
export const takingEvictions =
  (context: EvictionContext) =>
  async (message: Message): Promise<Taken> => {
    const { namespace, name } = message;
    const { value: pod } = await context.cluster.get({ resource: pods, namespace, name });
    // The last deletion of a pod that had a node rings by itself.
    if (pod === undefined) return { did: "nothing", why: "the pod is gone" };
    const { uid, resourceVersion } = pod.metadata;
    if (!isEnding(pod)) return await again(context, message, resourceVersion);
    const rings = evictedRings(pod, { subjects: context.subjects, cluster: message.cluster });
    await Promise.all(
      rings.map(({ message: sent }) => context.queue.send(sent, dedupe.trigger(sent, `evicted ${uid}`))),
    );
    return { did: "step", writes: 0 };
  };
