/** The updates of an object that can matter to a decision about it. */
import { same } from "../core/json.ts";
import type { Obj } from "../core/object.ts";
import { isEnding } from "./pods.ts";

/** True if spec, labels, annotations or deletion have changed. Status writes come from Rekindle itself. */
export const changed = (before: Obj | undefined, after: Obj): boolean =>
  before === undefined ||
  before.metadata.uid !== after.metadata.uid ||
  before.metadata.generation !== after.metadata.generation ||
  isEnding(before) !== isEnding(after) ||
  !same(before.metadata.annotations, after.metadata.annotations) ||
  !same(before.metadata.labels, after.metadata.labels);
