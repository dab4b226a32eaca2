/** The commands of the command line, each loaded only when the user types it. */
import type { Command } from "commander";
import type { Tools } from "./io/tools.ts";

type Open = (tools: Tools) => Command;

export type Row = {
  readonly name: string;
  readonly alias?: string;
  readonly summary: string;
  /** `all` opens every other command. */
  readonly open: (all: () => Promise<readonly Command[]>) => Promise<Open>;
};

/** The commands in the order of the help. A new command is a file in commands/ and a row here. */
export const rows: readonly Row[] = [
  {
    name: "create",
    summary: "create applications and other objects from files",
    open: async () => (await import("./commands/create.ts")).create,
  },
  {
    name: "submit",
    summary: "take spark-submit's flags and create a SparkApplication",
    open: async () => (await import("./commands/submit.ts")).submit,
  },
  {
    name: "render",
    summary: "print the objects that a submission would create; needs no cluster",
    open: async () => (await import("./commands/plan.ts")).render,
  },
  {
    name: "list",
    alias: "ls",
    summary: "list every application with its state and what it waits for",
    open: async () => (await import("./commands/status.ts")).list,
  },
  {
    name: "status",
    summary: "show what one application waits for, since when, until when, and what to do",
    open: async () => (await import("./commands/status.ts")).status,
  },
  {
    name: "page",
    summary: "serve the page on this machine: every application, what it waits for and what was lost, live",
    open: async () => (await import("./commands/page.ts")).page,
  },
  {
    name: "plan",
    summary: "show what Rekindle sees and remembers, and what the next step would do; writes nothing",
    open: async () => (await import("./commands/plan.ts")).plan,
  },
  {
    name: "record",
    summary: "have the decisions about an application recorded in the log, for rekindle replay",
    open: async () => (await import("./commands/record.ts")).record,
  },
  {
    name: "replay",
    summary: "repeat recorded decisions, and show where this version decides otherwise; needs no cluster",
    open: async () => (await import("./commands/record.ts")).replay,
  },
  {
    name: "log",
    summary: "print the log of the driver or an executor; -f continues into the next attempt",
    open: async () => (await import("./commands/log.ts")).log,
  },
  {
    name: "event",
    summary: "print the events of an application and of its pods",
    open: async () => (await import("./commands/log.ts")).event,
  },
  {
    name: "forward",
    summary: "open the driver's page on a port of this machine",
    open: async () => (await import("./commands/page.ts")).forward,
  },
  {
    name: "suspend",
    summary: "end the run of an application; resume starts a new one",
    open: async () => (await import("./commands/lifecycle.ts")).suspend,
  },
  {
    name: "pause",
    summary: "pause an application: Rekindle changes nothing of it, and its pods continue",
    open: async () => (await import("./commands/lifecycle.ts")).pause,
  },
  {
    name: "resume",
    summary: "end a suspension or a pause",
    open: async () => (await import("./commands/lifecycle.ts")).resume,
  },
  {
    name: "recover",
    summary: "recover from a damaged, foreign or lost record; or end everything that belongs to it",
    open: async () => (await import("./commands/recover.ts")).recover,
  },
  {
    name: "checkpoints",
    summary: "copy records from one store into another: Kubernetes objects, a DynamoDB table",
    open: async () => (await import("./commands/records.ts")).checkpoints,
  },
  {
    name: "cluster",
    summary: "write the record with which functions reach a cluster",
    open: async () => (await import("./commands/records.ts")).cluster,
  },
  {
    name: "delete",
    summary: "delete applications, and their pods with them",
    open: async () => (await import("./commands/lifecycle.ts")).deletion,
  },
  {
    name: "job",
    summary: "manage Volcano jobs with vcctl's flags: run, list, view, suspend, resume, delete",
    open: async () => (await import("./vcctl/job.ts")).job,
  },
  {
    name: "jobflow",
    summary: "manage JobFlows with vcctl's flags: create, list, get, describe, delete",
    open: async () => (await import("./vcctl/flow.ts")).jobflow,
  },
  {
    name: "jobtemplate",
    summary: "manage JobTemplates with vcctl's flags: create, list, get, describe, delete",
    open: async () => (await import("./vcctl/flow.ts")).jobtemplate,
  },
  {
    name: "pod",
    summary: "list the pods of Volcano jobs with vcctl's flags: list",
    open: async () => (await import("./vcctl/job.ts")).pod,
  },
  {
    name: "queue",
    summary: "manage Volcano queues with vcctl's flags: create, list, get, delete, operate",
    open: async () => (await import("./vcctl/queue.ts")).queue,
  },
  {
    name: "annotations",
    summary: "list every timeout and policy that an application may request by annotation",
    open: async () => (await import("./commands/plan.ts")).annotations,
  },
  {
    name: "manifests",
    summary: "print the manifests that install Rekindle; pipe them into kubectl apply",
    open: async () => (await import("./commands/manifests.ts")).manifests,
  },
  {
    name: "migrate",
    summary:
      "take over from kubeflow's operator or Volcano's controllers, or give back; without a flag it only reports",
    open: async () => (await import("./commands/migrate.ts")).migrate,
  },
  {
    name: "uninstall",
    summary: "remove what manifests installed; running applications continue",
    open: async () => (await import("./installation/uninstall.ts")).uninstall,
  },
  {
    name: "completion",
    summary: "print a script for bash, zsh or fish that completes commands, options and names",
    open: async (all) => (await import("./commands/completion.ts")).completion(all),
  },
];
