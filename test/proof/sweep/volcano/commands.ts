/** Commands, as vcctl gives them: in each phase of a job, and several after another. */
import type { Scenario, UserAction } from "../scenario.ts";
import { fails, job, living, long, phaseIs, podRuns, policy, runningIn, runningIs, slowly } from "./jobs.ts";

export const command = (action: string, when: UserAction["when"], afterMs = 1_000): UserAction => ({
  says: `vcctl: ${action}`,
  when,
  afterMs,
  do: { type: "command", action },
});

const slow = { "*": [{ stopMs: 4_000 }] };
const endless = living({ "*": [long] });

export const commands: readonly Scenario[] = [
  job({
    name: "job-suspend-resume",
    what: "aborted by a command while it runs, and resumed: its pods come again with the next version",
    spec: { plugins: { svc: [] } },
    lives: living({ "*": [long, { runMs: 3_000 }] }),
    userActions: [command("AbortJob", runningIs(3)), command("ResumeJob", phaseIs("Aborted"), 30_000)],
    ends: "Completed",
    breadth: "thin",
    without: ["read-only-5m"],
  }),
  job({
    name: "job-abort-pending",
    what: "aborted while it waits for its queue",
    spec: { queue: "late" },
    userActions: [command("AbortJob", phaseIs("Pending"))],
    ends: "Aborted",
  }),
  job({
    name: "job-abort-restarting",
    what: "aborted while its pods end for a restart, which upstream swallows",
    spec: { policies: [policy("PodFailed", "RestartJob")] },
    scripts: slow,
    lives: living({ "worker-1": [fails, long], "*": [long] }),
    userActions: [command("AbortJob", phaseIs("Restarting"), 500)],
    ends: "Aborted",
  }),
  job({
    name: "job-resume-aborting",
    what: "resumed before it was aborted",
    scripts: slow,
    lives: living({ "*": [long, { runMs: 3_000 }] }),
    userActions: [command("AbortJob", runningIs(3)), command("ResumeJob", phaseIs("Aborting"), 500)],
    ends: "Completed",
  }),
  job({
    name: "job-terminate-aborted",
    what: "aborted, and then told to be terminated, which an aborted job does not do",
    lives: endless,
    userActions: [command("AbortJob", runningIs(3)), command("TerminateJob", phaseIs("Aborted"), 5_000)],
    ends: "Aborted",
  }),
  job({
    name: "job-restart-terminating",
    what: "terminated, and told to restart meanwhile, and to abort when it has ended",
    scripts: slow,
    lives: endless,
    userActions: [
      command("TerminateJob", runningIs(3)),
      command("RestartJob", phaseIs("Terminating"), 500),
      command("AbortJob", phaseIs("Terminated"), 5_000),
    ],
    ends: "Terminated",
  }),
  job({
    name: "job-complete",
    what: "completed by a command while one of its pods has failed, and told to resume afterwards",
    spec: { minAvailable: 1 },
    lives: living({ "worker-1": [fails], "*": [slowly] }),
    userActions: [
      command("CompleteJob", podRuns("worker-1"), 60_000),
      command("ResumeJob", phaseIs("Completed"), 5_000),
    ],
    ends: "Completed",
  }),
  job({
    name: "job-restart-by-command",
    what: "restarted by a command, twice: each spends one retry, whoever dies when",
    lives: living({ "*": [long, long, { runMs: 3_000 }] }),
    userActions: [command("RestartJob", runningIs(3)), command("RestartJob", runningIn(1, 3))],
    ends: "Completed",
  }),
];
