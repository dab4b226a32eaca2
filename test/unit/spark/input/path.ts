/** The steps of an application in an empty cluster, with no webhook installed. */

import type { Stored } from "../../../../shared/core/object.ts";
import { type Plan, wholeOf } from "../../../../shared/core/plan.ts";
import { decide } from "../../../../shared/spark/application/decide.ts";
import { type Memory, parseMemory } from "../../../../shared/spark/application/state/memory.ts";
import { readAgain, resultOf } from "../../../support/decisions.ts";
import { does, waitIn } from "../../../support/plans.ts";
import { settings } from "../application/fixtures.ts";
import type { Made, Row } from "./row.ts";

const now = Date.UTC(2026, 10, 21, 8);

export const storedOf = (
  { metadata, spec, status }: Pick<Row, "metadata" | "spec" | "status">,
  generation: number,
): Stored => ({
  apiVersion: "sparkoperator.k8s.io/v1beta2",
  kind: "SparkApplication",
  metadata: { name: "app", namespace: "team", uid: "app-1", resourceVersion: `${generation}`, generation, ...metadata },
  ...(spec === undefined ? {} : { spec }),
  ...(status === undefined ? {} : { status }),
});

/** Decides one step; every read finds nothing. */
const planOf = (object: Stored, memory: Memory | undefined, at: number): Plan<Memory> => {
  const key = { cluster: "here", kind: object.kind, namespace: "team", name: object.metadata.name };
  const view = { object, uid: "app-1", memory, now: at, refused: [] };
  return resultOf(decide(settings, key, view), { objects: () => [] });
};

export type End = {
  readonly memory: Memory;
  readonly made: Made | undefined;
  readonly error: string;
  readonly reason: string | undefined;
  readonly steps: number;
};

const madeBy = ({ stages }: Plan<Memory>): Made | undefined => {
  const objects = stages.flat().flatMap((effect) => (effect.do === "create" ? [wholeOf(effect)] : []));
  const driver = objects.find(({ kind }) => kind === "Pod");
  return driver === undefined ? undefined : { driver, before: objects.filter((one) => one !== driver) };
};

/** Returns the error message of the status, and the reason that follows upstream's words for a failed submission. */
const errorOf = ({ status }: Plan<Memory>): Pick<End, "error" | "reason"> => {
  const state = status?.["applicationState"];
  const error = typeof state === "object" && state !== null && "errorMessage" in state ? `${state.errorMessage}` : "";
  return { error, reason: /^failed to run spark-submit: (.*)$/s.exec(error)?.[1] };
};

/** Steps, each a minute later, until a driver is created or a step waits for nothing. */
export const walk = (object: Stored, from?: Memory): End => {
  let memory = from;
  for (let step = 1; step <= 12; step++) {
    const plan = planOf(object, memory, now + step * 60_000);
    const made = madeBy(plan);
    memory = readAgain(parseMemory, plan.memory);
    const ended =
      made !== undefined ||
      (does(plan, "again") !== true && waitIn(plan).wakeAt === undefined && waitIn(plan).pollMs === undefined);
    if (ended) return { memory, made, ...errorOf(plan), steps: step };
  }
  throw new Error(`it never ends: ${memory?.state.phase}`);
};
