/**
 * The builder of a run's executors: from the run's basis, and what its earlier executors have shown. Also the needs of
 * one executor, and how many one step builds.
 */
import { fieldsOf } from "../../../core/json.ts";
import type { Stored } from "../../../core/object.ts";
import { schedulingPart } from "../../../kube/gang-members.ts";
import { podStatus } from "../../../kube/pods.ts";
import type { Json } from "../../../kube/responses.ts";
import { understood } from "../../configuration/conf.ts";
import { rulesFor } from "../../configuration/versions.ts";
import { type ExecutorBuilder, executorBuilder } from "../../executor-pod/builder.ts";
import { overheadConf, overheadIn, recoveryMode } from "../../executor-pod/container.ts";
import { mostInBatch } from "../../executors/allocation.ts";
import { type Allotment, firstId, type Member } from "../../executors/allotment.ts";
import { grownOverhead, needsMoreOverhead } from "../../executors/overhead.ts";
import type { ApplicationContext } from "../run/context.ts";
import type { Driver } from "../state/memory.ts";

/** The executor builder of a run; undefined where the current spec makes no executor. */
export const builderFor = (context: ApplicationContext, driver: Driver, pod: Stored): ExecutorBuilder | undefined => {
  const basis = context.kind.basis(context, driver);
  if (basis === undefined) return undefined;
  const { name, uid } = pod.metadata;
  const host = { name, uid, ip: podStatus(pod).podIP ?? undefined };
  const { singleTask, overhead } = context.memory.allotment ?? {};
  const isGrown = overhead !== undefined && context.policies.overheadGrowth !== undefined;
  const conf = new Map([
    ...basis.conf,
    ...(singleTask === true ? [[recoveryMode, "true"] as const] : []),
    ...(isGrown ? [[overheadConf, `${overhead.mebibytes}m`] as const] : []),
  ]);
  const builder = executorBuilder({ ...basis, conf, driver: host });
  return "refused" in builder ? undefined : builder;
};

/** The parts of an executor's pod that decide where it may run, and what it requests. */
export const executorNeeds = (context: ApplicationContext, driver: Driver, pod: Stored): Json | undefined => {
  const one = builderFor(context, driver, pod)?.build(`${firstId}`);
  return one === undefined ? undefined : schedulingPart(fieldsOf(one.pod.spec));
};

/** The memory overhead of the next executors, which grows after one of the latest was OOMKilled. */
export const overheadAfter = (
  context: ApplicationContext,
  driver: Driver,
  members: readonly Member[],
): Allotment["overhead"] => {
  const { memory, policies, read } = context;
  const { overhead: before, next = 0 } = memory.allotment ?? {};
  if (policies.overheadGrowth === undefined || !read.ok || !needsMoreOverhead(before, members)) return before;
  const basis = context.kind.basis(context, driver);
  if (basis === undefined) return before;
  const usual = overheadIn(understood(basis.conf).conf, rulesFor(read.spec.sparkVersion));
  return grownOverhead(before, policies.overheadGrowth, { usual, next });
};

/** The most characters of all pods of one step: building more would delay every other key. */
const mostBuilt = 8_388_608;

/** The most executors of a run created in one step: fewer of larger ones. */
export const mostAtOnce = (context: ApplicationContext, driver: Driver, pod: Stored): number => {
  const one = builderFor(context, driver, pod)?.build("1");
  return one === undefined ? mostInBatch : Math.max(1, Math.floor(mostBuilt / JSON.stringify(one).length));
};
