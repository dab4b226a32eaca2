/** The commands of the command line, each loaded only when it is asked for. */
import type { Command } from "commander";
import type { Tools } from "./tools.ts";

type Open = (tools: Tools) => Command;

export type Row = {
  readonly name: string;
  readonly alias?: string;
  readonly summary: string;
  /** `all` opens every other command. */
  readonly open: (all: () => Promise<readonly Command[]>) => Promise<Open>;
};

/** In the order of the help. A command more is a file in commands/ and a row here. */
export const rows: readonly Row[] = [
  {
    name: "create",
    summary: "create applications, and what stands beside them, from files",
    open: async () => (await import("./commands/create.ts")).create,
  },
  {
    name: "submit",
    summary: "spark-submit's flags, and an application on Kubernetes",
    open: async () => (await import("./commands/submit.ts")).submit,
  },
  {
    name: "render",
    summary: "the objects that a submission would create; asks no cluster",
    open: async () => (await import("./commands/render.ts")).render,
  },
  {
    name: "list",
    alias: "ls",
    summary: "every application, its state, and what it waits for",
    open: async () => (await import("./commands/list.ts")).list,
  },
  {
    name: "status",
    summary: "what one application waits for, since when and until when, and what to do",
    open: async () => (await import("./commands/status.ts")).status,
  },
  {
    name: "plan",
    summary: "what is seen and remembered, and what the next step would do; writes nothing",
    open: async () => (await import("./commands/plan.ts")).plan,
  },
  {
    name: "log",
    summary: "what the driver or an executor prints; -f goes on into the next attempt",
    open: async () => (await import("./commands/log.ts")).log,
  },
  {
    name: "event",
    summary: "what was told about an application and its pods",
    open: async () => (await import("./commands/event.ts")).event,
  },
  {
    name: "forward",
    summary: "the driver's page on a port of this machine",
    open: async () => (await import("./commands/forward.ts")).forward,
  },
  {
    name: "suspend",
    summary: "end the run of an application, to begin anew when it is resumed",
    open: async () => (await import("./commands/hold.ts")).suspend,
  },
  {
    name: "pause",
    summary: "let no step touch an application; its pods go on",
    open: async () => (await import("./commands/hold.ts")).pause,
  },
  {
    name: "resume",
    summary: "end a suspension or a pause",
    open: async () => (await import("./commands/hold.ts")).resume,
  },
  {
    name: "recover",
    summary: "bring back what a damaged, foreign or lost record tells of; or end all that belongs to it",
    open: async () => (await import("./commands/recover.ts")).recover,
  },
  {
    name: "checkpoints",
    summary: "copy records from one store into another: objects of the cluster, a table",
    open: async () => (await import("./commands/checkpoints.ts")).checkpoints,
  },
  {
    name: "cluster",
    summary: "make the record by which functions reach a cluster",
    open: async () => (await import("./commands/cluster.ts")).cluster,
  },
  {
    name: "delete",
    summary: "remove applications, and their pods with them",
    open: async () => (await import("./commands/delete.ts")).deletion,
  },
  {
    name: "job",
    summary: "Volcano jobs, in the manner of vcctl: run, list, view, suspend, resume, delete",
    open: async () => (await import("./commands/job.ts")).job,
  },
  {
    name: "jobflow",
    summary: "Volcano flows of jobs, in the manner of vcctl: create, list, get, describe, delete",
    open: async () => (await import("./commands/flow.ts")).jobflow,
  },
  {
    name: "jobtemplate",
    summary: "templates of such jobs, likewise",
    open: async () => (await import("./commands/flow.ts")).jobtemplate,
  },
  {
    name: "pod",
    summary: "pods of Volcano jobs, in the manner of vcctl: list",
    open: async () => (await import("./commands/pod.ts")).pod,
  },
  {
    name: "queue",
    summary: "Volcano queues, in the manner of vcctl: create, list, get, delete, operate",
    open: async () => (await import("./commands/queue.ts")).queue,
  },
  {
    name: "annotations",
    summary: "every timeout and policy that an application may ask for by annotation",
    open: async () => (await import("./commands/annotations.ts")).annotations,
  },
  {
    name: "manifests",
    summary: "print what installs Rekindle; pipe it into kubectl apply",
    open: async () => (await import("./commands/manifests.ts")).manifests,
  },
  {
    name: "migrate",
    summary: "take over from kubeflow's operator or Volcano's controllers, and give back; alone it only reports",
    open: async () => (await import("./commands/migrate.ts")).migrate,
  },
  {
    name: "uninstall",
    summary: "remove what manifests made; running applications go on",
    open: async () => (await import("./commands/uninstall.ts")).uninstall,
  },
  {
    name: "completion",
    summary: "what bash, zsh or fish needs to complete commands, options and names",
    open: async (all) => (await import("./commands/completion.ts")).completion(all),
  },
];
