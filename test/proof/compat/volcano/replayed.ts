/** Replays situations in which upstream's controller restarted; and compares the expiry of finished jobs. */

import { moveFor } from "../../../../shared/volcano/job/machine.ts";
import { type Memory, shownPhase } from "../../../../shared/volcano/job/memory.ts";
import { expiryOf } from "../../../../shared/volcano/job/plan.ts";
import { type JobFixture, openJob, task } from "../../../unit/volcano/job/fixtures.ts";
import { type Difference, differences, type Json } from "../compare.ts";
import { specOf } from "./judged.ts";
import { numberIn, recordIn, textIn } from "./rows.ts";

const policied = (...policies: readonly object[]): JobFixture => openJob({ tasks: [task("w", 2)], policies }).running();

/** Raises a job and its pods to version 1, as a restart does. */
const later = (fixture: JobFixture): JobFixture => {
  if (fixture.memory !== undefined) fixture.memory = { ...fixture.memory, version: 1 };
  for (const name of fixture.names("pods"))
    fixture.change("pods", name, { metadata: { annotations: { "volcano.sh/job-version": "1" } } });
  return fixture;
};

const lost = (fixture: JobFixture): JobFixture => {
  fixture.admit("Unknown");
  return fixture;
};

const stopped = (fixture: JobFixture): JobFixture => {
  if (fixture.memory !== undefined) fixture.memory = abortedOf(fixture.memory);
  return fixture;
};

/** Returns the memory after an AbortJob command on a restarting job, by the table. */
const abortedOf = (memory: Memory): Memory => ({
  ...memory,
  phase: moveFor("Restarting", "AbortJob").into ?? memory.phase,
});

const situations: Readonly<Record<string, () => JobFixture>> = {
  A: () => {
    const policies = [{ event: "TaskCompleted", action: "CompleteJob" }];
    const fixture = openJob({ minAvailable: 1, tasks: [task("m", 1, { policies }), task("w", 2)] }).running();
    fixture.pods("Succeeded", ["j-m-0"]);
    return fixture;
  },
  B: () => {
    const fixture = policied({ event: "PodFailed", action: "RestartJob" });
    fixture.fail("j-w-0", 1);
    return fixture;
  },
  C: () => {
    const fixture = policied({ event: "PodEvicted", action: "RestartJob" });
    fixture.remove("pods", "j-w-0");
    return fixture;
  },
  D: () => policied({ event: "PodPending", action: "RestartJob", timeout: "2s" }).turn(3_000),
  E0: () => lost(policied({ event: "Unknown", action: "RestartJob" })),
  E1: () => lost(later(policied({ event: "Unknown", action: "RestartJob" }))),
  F: () => stopped(policied()),
  G: () => {
    const fixture = policied({ exitCode: 42, action: "TerminateJob" });
    fixture.fail("j-w-0", 0, 42);
    return fixture;
  },
};

const situationOf = (label: string): string => {
  const [letter = ""] = label;
  return letter === "E" ? `E${/version=(\d)/.exec(label)?.[1] ?? ""}` : letter;
};

/**
 * Replays one situation. The recording ends while upstream's pods are being deleted; the fixture leaves deleted pods in
 * deletion, too.
 */
export const replayed = (row: Json): readonly Difference[] => {
  const name = situationOf(textIn(row, "label"));
  const fixture = situations[name]?.();
  if (fixture === undefined) throw new Error(`no situation ${textIn(row, "label")}`);
  fixture.lingering = true;
  fixture.run();
  const { memory } = fixture;
  return differences(
    { phaseAfter: shownPhase(fixture.own()), retryCount: memory?.retryCount, version: memory?.version },
    { phaseAfter: row["phaseAfter"], retryCount: row["retryCount"], version: row["version"] },
    name,
  );
};

const nearly = (left: number, recorded: number): boolean => Math.abs(left - recorded) <= 1_000;

/** Recorded instants are cut to whole seconds, so the remaining time is exact to a second. */
export const expiring = (row: Json): readonly Difference[] => {
  const job = recordIn(row, "job");
  const state = recordIn(recordIn(job, "status"), "state");
  const phase = state["phase"] === undefined ? "Pending" : shownPhase({ ...bare, status: { state } });
  const since = Date.parse(textIn(state, "lastTransitionTime"));
  const due = phase === undefined ? undefined : expiryOf(specOf(job), { phase, since });
  const left = due === undefined ? undefined : due - Date.parse(textIn(row, "since"));
  if (left === undefined) return differences({ expires: false }, { expires: row["error"] === undefined });
  const recorded = numberIn(row, "remainingMs");
  return nearly(left, recorded) ? [] : [{ path: "remainingMs", ours: left, theirs: recorded }];
};

const bare = { apiVersion: "", kind: "Job", metadata: { name: "", uid: "", resourceVersion: "" } };
