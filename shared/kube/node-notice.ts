/** The notice that a pod's node is about to go: an annotation of the pod, so that every step sees it for itself, whoever told of it. */
import type { Obj } from "../core/object.ts";
import { instantOf } from "../core/time.ts";

/** Its value is the time at which the node goes, as RFC 3339 writes it. */
export const leavingAnnotation = "rekindle.dev/leaving";

/** When the pod's node goes, epoch ms; undefined while nobody has said that it does, or when. */
export const leavingAt = (pod: Obj): number | undefined => instantOf(pod.metadata.annotations?.[leavingAnnotation]);
