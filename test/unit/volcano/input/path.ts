/** One step of a job in a cluster that holds only its queue, with no webhook installed. */
import type { Stored } from "../../../../shared/core/object.ts";
import type { Looking, Plan } from "../../../../shared/core/plan.ts";
import { decide } from "../../../../shared/volcano/job/decide.ts";
import { type Memory, parseMemory } from "../../../../shared/volcano/job/memory.ts";
import { readAgain, resultOf } from "../../../support/decisions.ts";

const now = Date.UTC(2026, 10, 22, 3);

const queue: Stored = {
  apiVersion: "scheduling.volcano.sh/v1beta1",
  kind: "Queue",
  metadata: { name: "default", uid: "queue-1", resourceVersion: "1" },
  status: { state: "Open" },
};

export const stored = (name: string, spec: unknown, generation = 1): Stored => ({
  apiVersion: "batch.volcano.sh/v1alpha1",
  kind: "Job",
  metadata: { name, namespace: "team", uid: "job-1", resourceVersion: `${generation}`, generation },
  ...(spec === undefined ? {} : { spec }),
});

/** Decides one step; the reads find only the queue. */
export const stepOf = (object: Stored, memory?: Memory): Plan<Memory> => {
  const key = { cluster: "here", kind: "Job", namespace: "team", name: object.metadata.name };
  const objects = (query: Looking) => (query.do === "get" && query.ref.name === "default" ? [queue] : []);
  const plan = resultOf(decide(key, { object, uid: "job-1", memory, now, refused: [] }), { objects });
  return { ...plan, memory: readAgain(parseMemory, plan.memory) };
};

/** Returns the messages that users see: the state in the job's status, and the events. */
export const toldIn = (
  plan: Plan<Memory>,
): { readonly phase: string; readonly message: string; readonly events: string } => {
  const { state } = Object(plan.status ?? {});
  const events = plan.stages
    .flat()
    .flatMap((effect) => (effect.do === "record" ? [`${effect.type} ${effect.message}`] : []));
  return { phase: `${state?.phase}`, message: `${state?.message}`, events: events.join("\n") };
};

/** Lists the kinds of the objects that the plan creates, and its other writes. */
export const madeBy = ({ stages }: Plan<Memory>): readonly string[] =>
  stages
    .flat()
    .flatMap((effect) => (effect.do === "record" ? [] : [effect.do === "create" ? effect.object.kind : effect.do]));
