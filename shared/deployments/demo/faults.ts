/** The faults that the demo injects into its own cluster and functions. */
import type { HttpRequest } from "../../core/http.ts";
import type { Stored } from "../../core/object.ts";
import type { Notice } from "./instances.ts";
import type { Said } from "./narration.ts";
import { applicationView, type ObservedCluster, type PodView, podsOf } from "./observed-cluster.ts";

/**
 * True for the request during which the first function is killed: it creates the driver pod, and the status is not
 * written yet.
 */
export const createsDriver = ({ method, path, body }: HttpRequest): boolean =>
  method === "POST" && path.endsWith("/pods") && body?.includes('"spark-role":"driver"') === true;

/** Returns a predicate that is true only for the first match. */
export const once = <T>(isIt: (one: T) => boolean): ((one: T) => boolean) => {
  let spent = false;
  return (one) => {
    if (spent || !isIt(one)) return false;
    spent = true;
    return true;
  };
};

const seconds = (ms: number): string => `${Number((ms / 1_000).toFixed(1))} s`;

/** Returns the text of a notice. `visibilityMs`: the visibility timeout of a killed invocation's message. */
export const noticeText = (notice: Notice, visibilityMs: number): readonly Said[] => {
  switch (notice.did) {
    case "complained":
      return [{ lane: "function", tone: "bad", text: notice.message }];
    case "took over": {
      const text = `invocation ${notice.invocation} receives the message after ${seconds(notice.afterMs)} and reads the cluster`;
      return [{ lane: "function", tone: "good", text }];
    }
    case "killed": {
      const text = `invocation ${notice.invocation} is killed during its step, just after it created the driver`;
      const wait = `no function runs; the queue delivers the message again after ${seconds(visibilityMs)} (90 s in a deployment)`;
      return [
        { lane: "function", tone: "bad", text },
        { lane: "function", tone: "faint", text: wait },
      ];
    }
  }
};

export const stateOf = (scene: ObservedCluster, { metadata }: Stored): string => {
  const now = scene.seen.get(metadata.uid);
  return now === undefined ? "" : applicationView(now).state;
};

export const isOver = (scene: ObservedCluster, application: Stored): boolean =>
  ["COMPLETED", "FAILED"].includes(stateOf(scene, application));

export const runningExecutors = (scene: ObservedCluster, { metadata }: Stored): readonly PodView[] =>
  podsOf(scene, metadata.uid).filter(({ role, phase }) => role === "executor" && phase === "Running");

/** Returns whether all requested executors run and the status is RUNNING. */
export const isUp = (scene: ObservedCluster, application: Stored): boolean =>
  stateOf(scene, application) === "RUNNING" &&
  runningExecutors(scene, application).length >= applicationView(application).wants;
