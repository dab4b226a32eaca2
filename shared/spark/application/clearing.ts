/** Ending what an attempt left behind, by UID, and going on only when it is really gone. */
import type { Decision, Plan } from "../../core/plan.ts";
import { queryId } from "../../core/plan.ts";
import { ownedBy } from "../../kube/pods.ts";
import { configMaps, pods, services } from "../../kube/resources.ts";
import { alive } from "./evidence.ts";
import type { Memory } from "./memory.ts";
import { leftoversOf, planOf, podsOf, removal, type Scene, seenPods } from "./scene.ts";

/** Pods that are being ended usually go within their grace; an event tells, this is for the one that got lost. */
const pollMs = 15_000;

/** Removes all that earlier attempts made. `then` decides once nothing of it is left. */
export const clear = (scene: Scene, then: (scene: Scene) => Decision<Memory>): Decision<Memory> => {
  const { key, view, memory } = scene;
  const leftovers = leftoversOf(key, view.uid);
  const found = seenPods(scene);
  if (found === undefined) return { look: [podsOf(key), ...leftovers] };
  const [madeServices, madeMaps] = leftovers.map((query) =>
    (view.seen.get(queryId(query)) ?? []).filter((object) => ownedBy(object, view.uid)),
  );
  const others = [
    ...(madeServices ?? []).map((object) => removal(object, services)),
    ...(madeMaps ?? []).map((object) => removal(object, configMaps)),
  ];
  if (found.all.length === 0 && others.length === 0) return then(scene);
  const stage = [...alive(found.all).map((pod) => removal(pod, pods)), ...others];
  const waits =
    found.all.length === 0
      ? { again: true }
      : { pollMs, waitsFor: `${found.all.length} pod(s) of the last run to end` };
  return planOf(scene, memory, found, { stages: [stage], ...waits });
};

/** The application is gone: what it left is ended, and when nothing can come any more, so is the memory of it. */
export const windDown = (scene: Omit<Scene, "object" | "read">): Decision<Memory> => {
  const { key, view, memory, settings } = scene;
  const seen = view.seen.get(queryId(podsOf(key)));
  if (seen === undefined) return { look: [podsOf(key)] };
  const left = seen.filter((pod) => ownedBy(pod, view.uid) || ownedBy(pod, memory.driver?.uid ?? ""));
  const ending: Plan<Memory> = { memory, stages: [alive(left).map((pod) => removal(pod, pods))] };
  if (left.length > 0) return { ...ending, pollMs, waitsFor: `${left.length} pod(s) to end` };
  const settled = (memory.plannedAt ?? 0) + settings.settledMs;
  if (view.now < settled) return { ...ending, stages: [], wakeAt: settled, waitsFor: "the last submission to settle" };
  return { memory, stages: [], forget: true };
};
