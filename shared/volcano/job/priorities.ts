/** Values of the priority classes that a job's pods name: its group's needs count the highest first. */
import { all, get, type Reads } from "../../core/decision.ts";
import { priorityClasses } from "../../kube/resources.ts";
import type { Priorities } from "../podgroup/group.ts";
import { type JobSpec, tasksOf } from "../schema/spec.ts";

const namesOf = (spec: JobSpec): readonly string[] => {
  const own = tasksOf(spec).map(({ template }) => template?.spec?.["priorityClassName"]);
  const named = [...own, spec.priorityClassName].filter((name) => typeof name === "string" && name !== "");
  return [...new Set(named.map(String))];
};

/** True if a task names a priority class. Otherwise there is no order among tasks, and nothing is read. */
const isOrdered = (spec: JobSpec): boolean =>
  tasksOf(spec).some(({ template }) => typeof template?.spec?.["priorityClassName"] === "string");

export function* readPriorities(spec: JobSpec): Reads<Priorities> {
  const names = isOrdered(spec) ? namesOf(spec) : [];
  const classes = yield* all(names.map((name) => get({ do: "get", ref: { resource: priorityClasses, name } })));
  return new Map(
    names.flatMap((name, index): readonly [string, number][] => {
      const value = classes[index]?.["value"];
      return typeof value === "number" ? [[name, value]] : [];
    }),
  );
}
