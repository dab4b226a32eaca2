/** The window after a recovery: missing pods may return in it; executors that are not up by its end are deleted. */
import type { Stored } from "../../../core/object.ts";
import type { Effect, Plan } from "../../../core/plan.ts";
import { podStatus } from "../../../kube/pods.ts";
import { pods } from "../../../kube/resources.ts";
import { type ApplicationContext, endStrays, removal } from "../run/context.ts";
import { alive, type Evidence, type Pods } from "../state/evidence.ts";
import type { Memory } from "../state/memory.ts";

/**
 * State of the recovery window. `awaited`: the driver is missing and may still return, so nothing is decided. `open`:
 * executors may still come up. `over`: executors that are not up are deleted.
 */
export type RecoveryWindow = {
  readonly is: "awaited" | "open" | "over";
  readonly until?: number;
  readonly ends: readonly Effect[];
};

/** Interval in which a missing driver is read again. */
const againMs = 5_000;

/** Executors that were created and are not up. */
const pendingIn = ({ executors }: Pods): readonly Stored[] =>
  alive(executors).filter((pod) => !["Running", "Succeeded", "Failed"].includes(podStatus(pod).phase ?? ""));

/** The recovery window of a run whose driver shows this evidence. */
export const recoveryWindow = (
  scene: ApplicationContext,
  found: Pods,
  { see }: { readonly see: Evidence },
): RecoveryWindow => {
  const { now, returning } = scene.view;
  if (returning === undefined) return { is: "over", ends: [] };
  const { until, ends = false } = returning;
  if (see === "lost" && now < until) return { is: "awaited", until, ends: [] };
  const pending = see === "running" && ends ? pendingIn(found) : [];
  if (now < until && pending.length > 0) return { is: "open", until, ends: [] };
  return { is: "over", ends: pending.map((pod) => removal(pod, pods)) };
};

/** The plan while the driver may still return: only strays are deleted. */
export const awaiting = (found: Pods, until: number): Pick<Plan<Memory>, "stages" | "next"> => ({
  stages: [endStrays(found)],
  next: {
    do: "wait",
    returning: true,
    wakeAt: until,
    pollMs: againMs,
    waitsFor: { on: "return", of: "the driver", until },
  },
});
