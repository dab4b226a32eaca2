/** The notice that a pod's node is about to go: an annotation of the pod, which every step reads for itself. */
import type { Obj } from "../core/object.ts";
import { instantOf } from "../core/time.ts";

/** The value is the time at which the node goes, in RFC 3339. */
export const leavingAnnotation = "rekindle.dev/leaving";

/** Returns when the pod's node goes, epoch ms; undefined without a notice, or if its value is no time. */
export const leavingAt = (pod: Obj): number | undefined => instantOf(pod.metadata.annotations?.[leavingAnnotation]);
