/** Which updates of an object can matter to whoever decides on it. */
import { same } from "../core/json.ts";
import type { Obj } from "../core/object.ts";
import { isEnding } from "./pods.ts";

/** A status write is nobody's news: it comes back from ourselves. */
export const changed = (before: Obj | undefined, after: Obj): boolean =>
  before === undefined ||
  before.metadata.uid !== after.metadata.uid ||
  before.metadata.generation !== after.metadata.generation ||
  isEnding(before) !== isEnding(after) ||
  !same(before.metadata.annotations, after.metadata.annotations) ||
  !same(before.metadata.labels, after.metadata.labels);
