/** What the demo does to its own cluster and functions, so that there is something to recover from. */
import type { HttpRequest } from "../../core/http.ts";
import type { Stored } from "../../core/object.ts";
import type { Notice } from "./instances.ts";
import type { Said } from "./narration.ts";
import { applicationView, type ObservedCluster, type PodView, podsOf } from "./observed-cluster.ts";

/** The call in the middle of which the first function dies: the driver pod is on its way, its status is not written. */
export const createsDriver = ({ method, path, body }: HttpRequest): boolean =>
  method === "POST" && path.endsWith("/pods") && body?.includes('"spark-role":"driver"') === true;

/** True for the first that it is true of, and never again. */
export const once = <T>(isIt: (one: T) => boolean): ((one: T) => boolean) => {
  let spent = false;
  return (one) => {
    if (spent || !isIt(one)) return false;
    spent = true;
    return true;
  };
};

const seconds = (ms: number): string => `${Number((ms / 1_000).toFixed(1))} s`;

/** What a cloud's console says, in words; `visibilityMs` is how long a dead invocation's message stays hidden. */
export const noticeText = (notice: Notice, visibilityMs: number): readonly Said[] => {
  switch (notice.did) {
    case "complained":
      return [{ lane: "function", tone: "bad", text: notice.message }];
    case "took over": {
      const text = `invocation ${notice.invocation} gets the message after ${seconds(notice.afterMs)}, and looks`;
      return [{ lane: "function", tone: "good", text }];
    }
    case "killed": {
      const text = `invocation ${notice.invocation} is killed in mid-step, its driver just made`;
      const wait = `no function works; the message is back in ${seconds(visibilityMs)} (deployed: 90)`;
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

/** Everything that was asked for runs, and the status says so. */
export const isUp = (scene: ObservedCluster, application: Stored): boolean =>
  stateOf(scene, application) === "RUNNING" &&
  runningExecutors(scene, application).length >= applicationView(application).wants;
