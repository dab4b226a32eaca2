/** A job's memory in another cluster: none of its pods came along, and no UID in it means anything. */
import { isFinished } from "./machine.ts";
import type { Memory } from "./memory.ts";

/** What is on its way out goes on to its end; what was at work has its pods made anew, as another version. */
const atWork: ReadonlySet<Memory["phase"]> = new Set(["Pending", "Running"]);

/**
 * What has ended stays so, with what its pods have done. A run under way becomes the next version, and spends no retry;
 * time that it may take begins anew when it runs.
 */
export const voided = (memory: Memory): Memory => {
  const { retired: _, unknown: __, kept: ___, commands: ____, ...told } = memory;
  const bare = { ...told, seen: {}, failed: {}, doomed: [] };
  if (isFinished(memory.phase)) return bare;
  const { activeSince: _____, hindered: ______, ...rest } = bare;
  const anew = { ...rest, done: {}, completed: [], exhausted: [], delays: [] };
  if (!atWork.has(memory.phase)) return anew;
  return { ...anew, phase: "Pending", version: memory.version + 1 };
};
