/** JobFlows and JobTemplates in the columns of vcctl. */
import type { Stored } from "../../core/object.ts";
import { instantOf } from "../../core/time.ts";
import { columns, spanText } from "../io/text.ts";
import { jobFlows, statusOf } from "../kinds/job-shape.ts";

/** The output form, and the time, epoch ms. */
export type Shown = { readonly output: string; readonly now: number };

const ageOf = ({ metadata: { creationTimestamp } }: Stored, now: number): string => {
  const made = instantOf(creationTimestamp);
  return made === undefined ? "<unknown>" : spanText(now - made);
};

/** As `vcctl jobflow list` and `vcctl jobtemplate list`: templates have no phase. */
export const flowTable = (objects: readonly Stored[], now: number): string => {
  const [first] = objects;
  if (first === undefined) return "No resources found";
  const isFlow = first.kind === jobFlows.kind;
  return columns([
    ["Name", "Namespace", ...(isFlow ? ["Phase", "Age"] : [])],
    ...objects.map((object) => {
      const { name, namespace = "" } = object.metadata;
      return [name, namespace, ...(isFlow ? [statusOf(object).state.phase ?? "", ageOf(object, now)] : [])];
    }),
  ]);
};
