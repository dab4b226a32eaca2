/** JobTemplate as the engine knows it: a template is acted on by flows alone; its status names the jobs made from it. */
import * as z from "zod";
import type { Key } from "../../core/key.ts";
import type { Operator } from "../../core/operator.ts";
import type { Decision, Query, View } from "../../core/plan.ts";
import { queryId } from "../../core/plan.ts";
import { isEnding } from "../../kube/pods.ts";
import { jobs, keys } from "../resource.ts";
import { makerText } from "./read.ts";
import { templateWatcher } from "./watches.ts";

/** Nothing: the jobs that are there tell all. */
const memory = z.object({});

export type Memory = z.infer<typeof memory>;

const madeFrom = ({ namespace, name }: Key): Query => ({
  do: "list",
  resource: jobs,
  namespace,
  labels: { [keys.byTemplate]: makerText(namespace, name) },
});

/** One step's decision for a JobTemplate. As upstream, the last jobs are named also when all are gone. */
const decide = (key: Key, view: View<Memory>): Decision<Memory> => {
  const { object } = view;
  if (object === undefined) return { memory: {}, stages: [], forget: true };
  if (isEnding(object)) return { memory: {}, stages: [], rests: true };
  const found = view.seen.get(queryId(madeFrom(key)));
  if (found === undefined) return { look: [madeFrom(key)] };
  const jobDependsOnList = found.map(({ metadata }) => metadata.name).sort();
  return {
    memory: {},
    stages: [],
    rests: true,
    ...(jobDependsOnList.length === 0 ? {} : { status: { jobDependsOnList } }),
  };
};

export const volcanoJobTemplate: Operator<Memory> = {
  ...templateWatcher,
  parse: (stored) => {
    const parsed = memory.safeParse(stored);
    return parsed.success ? { ok: true, memory: {} } : { ok: false, error: "memory of a JobTemplate is no object" };
  },
  decide,
};
