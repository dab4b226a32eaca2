/** The state of an application's panels: the chosen tabs, and the form of its timeline. */
import { signal } from "@preact/signals";
import { logAttempt, logPod } from "./store.ts";

/** The titles of the chosen tabs; "": the usual one. */
export const chosen = { left: signal(""), right: signal("") };

/** True: the timeline is shown as a table. */
export const isTable = signal(false);

/** Shows the log, of the main pod or of another one, or the kept one of an attempt. */
export const showLog = (pod = "", attempt = 0): void => {
  chosen.right.value = "Log";
  logPod.value = pod;
  logAttempt.value = attempt;
  requestAnimationFrame(() => document.getElementById("panel-right")?.scrollIntoView({ block: "nearest" }));
};
