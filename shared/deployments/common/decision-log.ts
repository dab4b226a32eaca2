/**
 * Records decisions in the process's log, where every kind of deployment keeps lines: `rekindle replay` reads them
 * there.
 */
import { isRecorded } from "../../engine/cluster/queries.ts";
import type { World } from "../../engine/context/world.ts";
import { once } from "./once.ts";
import type { OpenedLog } from "./recording-lines.ts";

/** Which decisions are recorded: those about annotated objects, all, or none. */
export type RecordingMode = "annotated" | "all" | "none";

/** Opens the recording of decisions. Lines have level info; a decision that is not recorded is reported with its reason. */
export const openDecisionLog = ({
  mode,
  ...log
}: OpenedLog & { readonly mode: RecordingMode }): Pick<World, "recording"> => {
  if (mode === "none") return {};
  const lines = once(async () => (await import("./recording-lines.ts")).openRecordingLines(log));
  return {
    recording: (key, object, now) =>
      mode === "all" || isRecorded(object, now) ? async (recording) => (await lines())(key, recording) : undefined,
  };
};
