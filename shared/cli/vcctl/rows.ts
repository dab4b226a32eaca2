/** The commands of Volcano's own command line, each loaded only when a user types it, and examples of them. */
import type { Row } from "../io/row.ts";

export const vcctlRows: readonly Row[] = [
  {
    name: "job",
    summary: "manage Volcano jobs with vcctl's flags: run, list, view, suspend, resume, delete",
    open: async () => (await import("./job.ts")).job,
  },
  {
    name: "jobflow",
    summary: "manage JobFlows with vcctl's flags: create, list, get, describe, delete",
    open: async () => (await import("./flow.ts")).jobflow,
  },
  {
    name: "jobtemplate",
    summary: "manage JobTemplates with vcctl's flags: create, list, get, describe, delete",
    open: async () => (await import("./flow.ts")).jobtemplate,
  },
  {
    name: "pod",
    summary: "list the pods of Volcano jobs with vcctl's flags: list",
    open: async () => (await import("./job.ts")).pod,
  },
  {
    name: "queue",
    summary: "manage Volcano queues with vcctl's flags: create, list, get, delete, operate",
    open: async () => (await import("./queue.ts")).queue,
  },
];

/** Lines to type, by the words that name the command. */
export const vcctlExamples: Readonly<Record<string, readonly string[]>> = {
  job: ["job list -A"],
  "job run": ["job run pair --image busybox --replicas 2 --min 2"],
  "job list": ["job list -A", "job list -n team-a -o json"],
  "job view": ["job view pair -n team-a"],
  "job suspend": ["job suspend pair -n team-a"],
  "job resume": ["job resume pair -n team-a"],
  "job delete": ["job delete pair -n team-a"],
  queue: ["queue list"],
  "queue create": ["queue create team-a --weight 2"],
  "queue list": ["queue list -o json"],
  "queue get": ["queue get team-a"],
  "queue delete": ["queue delete team-a"],
  "queue operate": ["queue operate team-a --action close", "queue operate team-a --action update --weight 3"],
  jobflow: ["jobflow create -f flow.yaml", "jobflow list --all-namespaces"],
  "jobflow create": ["jobflow create -f flow.yaml"],
  "jobflow describe": ["jobflow describe pipeline -o yaml"],
  jobtemplate: ["jobtemplate list", "jobtemplate describe extract -o json"],
  pod: ["pod list -j pair", "pod list -q research --all-namespaces"],
  "pod list": ["pod list -j pair"],
};
