/** Deletes the leftovers of an attempt by UID, and goes on only when they are gone. */

import { all, type Decision, get, list, type Reads } from "../../../core/decision.ts";
import type { Ref, Stored } from "../../../core/object.ts";
import type { Effect, Next, Plan } from "../../../core/plan.ts";
import { counted } from "../../../core/text.ts";
import { until } from "../../../core/waiting-on.ts";
import { isEnding, ownedBy } from "../../../kube/pods.ts";
import { pods as podResource } from "../../../kube/resources.ts";
import { podsOf } from "../../schema/resource.ts";
import { type ApplicationContext, bodyOf, leftoversOf, readPods, removal, settledAt } from "../run/context.ts";
import { planOf } from "../run/plan.ts";
import { adoptedUid, alive, type Pods } from "../state/evidence.ts";
import type { Memory } from "../state/memory.ts";
import { type UnreachablePods, unreachableAmong } from "./unreachable.ts";

/** Poll interval, ms. An event usually reports the end of a pod; the poll covers a lost event. */
const pollMs = 15_000;

/** The list may be behind: a remembered driver that is not listed is read by name before it counts as ended. */
function* remaining({ key, view, memory }: ApplicationContext, found: Pods): Reads<readonly Stored[]> {
  if (found.all.length > 0 || memory.driver === undefined) return found.all;
  const pod = yield* get(bodyOf(key, memory.driver));
  return pod !== undefined && ownedBy(pod, view.uid) ? [pod] : [];
}

/** Remembers the driver's UID: once the driver is gone, only the UID identifies its executors. */
const knowing = (memory: Memory, { driver: body }: Pods): Memory => {
  const { driver } = memory;
  if (driver === undefined || body === undefined) return memory;
  if (driver.uid !== undefined && driver.uid !== adoptedUid) return memory;
  return { ...memory, driver: { ...driver, uid: body.metadata.uid } };
};

const timeOf = ({ wakeAt }: UnreachablePods): { readonly wakeAt?: number } => (wakeAt === undefined ? {} : { wakeAt });

type Attempt = {
  readonly found: Pods;
  /** Owned objects beside the pods. */
  readonly others: readonly { readonly object: Stored; readonly resource: Ref["resource"] }[];
};

/** Reads all objects of earlier attempts, as far as lists show them. */
export function* readAttempt(context: ApplicationContext): Reads<Attempt> {
  const leftovers = leftoversOf(context);
  const [found, lists] = yield* all([readPods(context), all(leftovers.map(list))]);
  const others = leftovers.flatMap(({ resource }, index) => {
    const mine = (lists[index] ?? []).filter((object) => ownedBy(object, context.view.uid));
    return mine.map((object) => ({ object, resource }));
  });
  return { found, others };
}

/** Deletes all objects of earlier attempts. `then` decides once none is left. */
export function* clearAttempt(
  context: ApplicationContext,
  then: (context: ApplicationContext) => Plan<Memory>,
): Decision<Memory> {
  const { found, others } = yield* readAttempt(context);
  const left = yield* remaining(context, found);
  if (left.length === 0 && others.length === 0) return then(context);
  const stranded = yield* unreachableAmong(context, left);
  const answering = alive(left).filter((pod) => !stranded.freed.has(pod));
  const stage = [
    ...stranded.ends,
    ...answering.map((pod) => removal(pod, podResource)),
    ...others.filter(({ object }) => !isEnding(object)).map(({ object, resource }) => removal(object, resource)),
  ];
  const next: Next =
    left.length === 0 && stage.length > 0
      ? { do: "again" }
      : {
          do: "wait",
          pollMs,
          ...timeOf(stranded),
          waitsFor: { on: "leftovers", objects: left.length + others.length, stranded: stranded.says },
        };
  return planOf(context, knowing(context.memory, found), found, { stages: [stage], next });
}

/** Ends the pods of a deleted application, and the record once no creation can arrive any more. */
export function* windDown(context: Omit<ApplicationContext, "object" | "read" | "policies">): Decision<Memory> {
  const { key, view, memory, settings } = context;
  const pods = yield* list(podsOf(key));
  const left = pods.filter((pod) => ownedBy(pod, view.uid) || ownedBy(pod, memory.driver?.uid ?? ""));
  const ends: readonly Effect[] = alive(left).map((pod) => removal(pod, podResource));
  if (left.length > 0)
    return {
      memory,
      stages: [ends],
      next: { do: "wait", pollMs, waitsFor: until(counted(left.length, "pod"), "ended") },
    };
  const settled = settledAt({ memory, settings });
  if (view.now < settled)
    return {
      memory,
      stages: [],
      next: { do: "wait", wakeAt: settled, waitsFor: until("the last submission", "settled") },
    };
  return { memory, stages: [], next: { do: "forget" } };
}
