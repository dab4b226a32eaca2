/** Asks the driver for its executors and for its demand, only where a decision depends on it. */
import { proxyGet, type Reads } from "../../../core/decision.ts";
import type { Query } from "../../../core/plan.ts";
import { pods } from "../../../kube/resources.ts";
import { gaugeIn, gaugeQuery, scaleOf } from "../../executors/demand.ts";
import { type Registered, registeredIn, registeredQuery } from "../../executors/registered.ts";
import type { ApplicationContext } from "../run/context.ts";
import type { Driver } from "../state/memory.ts";

const defaultPort = 4040;

const portOf = ({ read }: ApplicationContext): number => {
  const text = (read.ok ? read.spec.sparkConf?.["spark.ui.port"] : undefined)?.trim() ?? "";
  return /^\d{1,5}$/.test(text) ? Number(text) : defaultPort;
};

/** The most executors in an answer: those that the spec allows at once, and 100 dead ones. */
const mostExecutors = ({ read }: ApplicationContext): number =>
  read.ok ? Math.max(read.spec.executor.instances ?? 0, scaleOf(read.spec)?.most ?? 0) + 100 : 0;

const questionOf = (
  scene: ApplicationContext,
  { podName: name, applicationId = "" }: Driver,
): Extract<Query, { do: "proxyGet" }> =>
  registeredQuery(
    { resource: pods, namespace: scene.key.namespace, name },
    portOf(scene),
    applicationId,
    mostExecutors(scene),
  );

/** The registered executors, or why the driver gave no answer. While it answers, its SparkContext has not stopped. */
export type DriverAnswer =
  | { readonly registered: Registered }
  | { readonly registered: undefined; readonly why: string };

export function* askDriver(scene: ApplicationContext, driver: Driver): Reads<DriverAnswer> {
  const hearing = yield* proxyGet(questionOf(scene, driver));
  const registered = registeredIn(hearing);
  if (registered !== undefined) return { registered };
  return { registered, why: hearing.heard ? "it answered something else" : `${hearing.why}: ${hearing.message}` };
}

/** The number of executors that the driver needs; undefined where it gives no answer, or an invalid one. */
export function* askGauge(scene: ApplicationContext, { podName: name }: Driver): Reads<number | undefined> {
  const pod = { resource: pods, namespace: scene.key.namespace, name };
  return gaugeIn(yield* proxyGet(gaugeQuery(pod, portOf(scene))));
}
