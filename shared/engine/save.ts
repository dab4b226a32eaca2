/** The save of a plan: what cannot be observed again, stored before it is acted on, and the lock that decides a race. */
import { same } from "../core/json.ts";
import { textOf } from "../core/key.ts";
import type { Plan } from "../core/plan.ts";
import { outboxAfter, ring } from "./outbox.ts";
import type { CheckpointRecord } from "./ports.ts";
import type { Held, Run } from "./run.ts";

/**
 * What acts upon the world must be the winner's: deletions that a step decided on before others went on are right by
 * what it remembers, and wrong by what is.
 */
const acts = ({ stages }: Plan<unknown>): boolean => stages.flat().some((effect) => effect.do !== "record");

/** R1: the memory is stored, and only the winner of the conditional save goes on; the loser has touched nothing. */
export const save = async (run: Run, held: Held, plan: Plan<unknown>): Promise<Held | "raced"> => {
  const { world, message, sight } = run;
  // A record that was only presumed not to be there would be left standing.
  if (plan.forget === true) return sight.presumed && held.version === undefined ? "raced" : held;
  const outbox = await outboxAfter(run, held, plan);
  const next = { ...recordOf(run, held, plan), ...(outbox === undefined ? {} : { outbox }) };
  if (plan.fenced !== true && !acts(plan) && same({ ...held.record, saves: 0 }, { ...next, saves: 0 })) return held;
  const version = await world.checkpoints.save(message, next, held.version);
  if (version === "raced") return "raced";
  world.report("debug", "saved", { key: textOf(message), saves: next.saves, uid: sight.uid });
  await ring(run, held.record?.outbox, outbox);
  return { record: next, version };
};

/** A trouble that was told stays until a step has come through, and nothing rests until then: see `tell`. */
const recordOf = (run: Run, held: Held, plan: Plan<unknown>): CheckpointRecord => {
  const { record } = held;
  const { object } = run.sight;
  const generation = object?.metadata.generation ?? record?.generation;
  const labels = object === undefined ? record?.labels : object.metadata.labels;
  return {
    schema: 1,
    cluster: run.world.clusterUid,
    uid: run.sight.uid,
    saves: (record?.saves ?? 0) + 1,
    ...(generation === undefined ? {} : { generation }),
    ...(labels === undefined ? {} : { labels }),
    ...(plan.rests === true && record?.trouble === undefined ? { rests: true } : {}),
    ...(plan.wakeAt === undefined ? {} : { wakeAt: plan.wakeAt }),
    ...(plan.waitsFor === undefined ? {} : { waitsFor: plan.waitsFor }),
    ...(record?.status === undefined ? {} : { status: record.status }),
    ...(record?.trouble === undefined ? {} : { trouble: record.trouble }),
    memory: plan.memory,
  };
};
