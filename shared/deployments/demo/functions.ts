/**
 * A deployment with functions in one process: forwarder, queue and resync are the host's, and each delivery is an
 * invocation.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { openQueue } from "../../adapters/embedded/queue.ts";
import { startWorkers, wholly } from "../../adapters/embedded/workers.ts";
import type { Transport } from "../../core/http.ts";
import type { Key } from "../../core/key.ts";
import { timing } from "../../engine/settings.ts";
import { startForwarder } from "../../forward/forwarder.ts";
import { operatorsFor } from "../common/operators.ts";
import { openWorld, operatorsByKind } from "../common/step-dependencies.ts";
import { startSweeping } from "../resync/loop.ts";
import { resync } from "../resync/sweep.ts";
import { type InstanceSettings, openInstances, reportTo } from "./instances.ts";

export type FunctionSettings = Pick<InstanceSettings, "kills" | "notice"> & {
  readonly transport: Transport;
  /** The visibility timeout of a killed invocation's message, ms. */
  readonly visibilityMs: number;
};

export type Functions = {
  /** True once every watch has listed its objects and a resync has succeeded. */
  ready(): boolean;
  /** Returns the number of invocations for namespaced objects. */
  invocations(): number;
  stop(): Promise<void>;
};

const cluster = "demo";
const parallel = 8;
const resyncMs = 60_000;
const graceMs = 500;
const againMs = 1_000;

/**
 * Returns whether an invocation is counted: those for the queues root and default, which the first resync creates and
 * which have no namespace, are not.
 */
const counts = ({ namespace }: Key): boolean => namespace !== "";

export const startFunctions = (settings: FunctionSettings): Functions => {
  const { transport, visibilityMs, kills, notice } = settings;
  const operators = operatorsFor(timing);
  const operatorOf = operatorsByKind(operators);
  const queue = openQueue({ now: () => performance.now(), visibilityMs });
  const open: InstanceSettings["open"] = (doors) => openWorld({ ...doors, timing, operatorOf });
  const instances = openInstances({ transport, queue, open, kills, counts, notice });
  const workers = startWorkers({
    queue,
    take: wholly(instances.invoke, againMs),
    parallel,
    againMs,
    now: () => performance.now(),
  });
  const forwarder = startForwarder({
    ...{ transport, operators, cluster, namespaces: [], selector: undefined },
    send: (message, id) => queue.send(message, id),
    report: reportTo(notice),
    now: Date.now,
    random: Math.random,
  });
  const scope = { transport, queue, cluster, namespaces: [], selector: undefined, operators };
  const sweeping = startSweeping(() => resync(scope, String(Date.now())), resyncMs, reportTo(notice));
  return {
    ready: () => forwarder.synced() && sweeping.swept(),
    invocations: instances.invocations,
    stop: async () => {
      await Promise.all([forwarder.stop(), sweeping.stop()]);
      // The killed invocation never ends.
      await Promise.race([workers.stop(graceMs), sleep(graceMs)]);
    },
  };
};
