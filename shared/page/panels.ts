/** The state of an application's panels: the chosen tabs, and the form of its timeline. */
import { signal } from "@preact/signals";
import { logPod } from "./store.ts";

/** The titles of the chosen tabs. */
export const chosen = { left: signal("Losses"), right: signal("Spec") };

/** True: the timeline is shown as a table. */
export const isTable = signal(false);

/** Shows the log, of the main pod or of another one. */
export const showLog = (pod = ""): void => {
  chosen.right.value = "Log";
  logPod.value = pod;
  requestAnimationFrame(() => document.getElementById("panel-right")?.scrollIntoView({ block: "nearest" }));
};
