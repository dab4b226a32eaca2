/** Values of the priority classes that a job's pods name: those of the highest count first in what the group needs. */
import type { Query } from "../../core/plan.ts";
import { priorityClasses } from "../../kube/resources.ts";
import type { Priorities } from "../podgroup/group.ts";
import { type JobSpec, tasksOf } from "../schema/spec.ts";
import { answerTo, type JobContext } from "./context.ts";

const namesOf = (spec: JobSpec): readonly string[] => {
  const own = tasksOf(spec).map(({ template }) => template?.spec?.["priorityClassName"]);
  const named = [...own, spec.priorityClassName].filter((name) => typeof name === "string" && name !== "");
  return [...new Set(named.map(String))];
};

const queryOf = (name: string): Query => ({ do: "get", ref: { resource: priorityClasses, name } });

/** With one class for all, or none, there is nothing to put in order. */
export const classesOf = (spec: JobSpec): readonly Query[] =>
  tasksOf(spec).some(({ template }) => typeof template?.spec?.["priorityClassName"] === "string")
    ? namesOf(spec).map(queryOf)
    : [];

export const prioritiesOf = ({ spec, view }: Pick<JobContext, "spec" | "view">): Priorities =>
  new Map(
    namesOf(spec).flatMap((name): readonly [string, number][] => {
      const value = answerTo(view, queryOf(name))?.[0]?.["value"];
      return typeof value === "number" ? [[name, value]] : [];
    }),
  );
