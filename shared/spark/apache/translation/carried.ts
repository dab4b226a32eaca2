/** The metadata that a translation copies from one API to the other. */
import { pausedAnnotation } from "../../../core/annotation.ts";
import type { Metadata, Obj } from "../../../core/object.ts";
import { movedFrom, movingTo } from "../../../kube/api-move.ts";

/** Annotations that a move does not carry over. */
export const uncarried: readonly string[] = [
  ...[pausedAnnotation, movingTo, movedFrom],
  "kubectl.kubernetes.io/last-applied-configuration",
];

/** Name, labels and annotations. */
export const carried = ({ metadata: { name, namespace, labels, annotations = {} } }: Obj): Metadata => {
  const kept = Object.entries(annotations).filter(([key]) => !uncarried.includes(key));
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(labels === undefined ? {} : { labels }),
    ...(kept.length === 0 ? {} : { annotations: Object.fromEntries(kept) }),
  };
};
