/** A Job before Rekindle runs it: why it would be refused, and what changes for one that Volcano's controllers run. Pure. */
import * as z from "zod";
import type { Stored } from "../../core/object.ts";
import type { Forecast, KindForecast } from "../../kube/forecast.ts";
import { eventsOf } from "../schema/policies.ts";
import { type JobSpec, type Policy, tasksOf } from "../schema/spec.ts";
import { parseSpec } from "../validation/parse.ts";

const policiesOf = (spec: JobSpec): readonly Policy[] => [
  ...(spec.policies ?? []),
  ...tasksOf(spec).flatMap(({ policies = [] }) => policies),
];

const isAbout =
  (...events: readonly string[]) =>
  (policy: Policy): boolean =>
    eventsOf(policy).some((event) => events.includes(event));

const hasSeveral = (spec: JobSpec): boolean =>
  tasksOf(spec).some(({ template }) => {
    const { containers } = template?.spec ?? {};
    return Array.isArray(containers) && containers.length > 1;
  });

const shared = ["svc", "ssh", "ray", "mpi", "tensorflow", "pytorch"] as const;

const counts = z.looseObject({
  state: z.looseObject({ phase: z.string().default("") }).default({ phase: "" }),
  failed: z.number().default(0),
  version: z.number().default(0),
});

type Counts = z.infer<typeof counts>;

type Row = { readonly when: (spec: JobSpec, status: Counts) => boolean; readonly says: string };

const targeted = (spec: JobSpec): boolean =>
  policiesOf(spec).some(({ action = "" }) => ["RestartTask", "RestartPod", "RestartPartition"].includes(action));

/** The differences that a job can see, and when; each is listed in infra/docs/compatibility/volcano.md. */
const rows: readonly Row[] = [
  {
    when: (spec, { state, failed }) =>
      ["Pending", "Running"].includes(state.phase) && failed > 0 && policiesOf(spec).some(isAbout("PodFailed", "*")),
    says: "has failed pods and a policy for them: Rekindle acts on failures on which upstream has not acted",
  },
  {
    when: (spec) => policiesOf(spec).some(isAbout("PodPending")),
    says: "PodPending counts pods that are pending, and no pod that runs",
  },
  {
    when: (spec) => policiesOf(spec).some(({ timeout = "" }) => timeout !== ""),
    says: "the timeouts of its policies start again once; from then on the record keeps them",
  },
  {
    when: (spec, { version }) => version > 0 && policiesOf(spec).some(isAbout("Unknown")),
    says: "Rekindle acts on the event Unknown again, which upstream ignores after the job's first restart",
  },
  {
    when: (spec) => hasSeveral(spec) && policiesOf(spec).some(({ exitCode }) => exitCode !== undefined),
    says: "the exit codes of all containers count, not only that of the first",
  },
  {
    when: (spec) => targeted(spec) && shared.some((name) => spec.plugins?.[name] !== undefined),
    says: "a restart of some pods keeps the service, config map and keys that all pods of the job share",
  },
];

const takenOver = ({ metadata, spec, status }: Stored): Forecast => {
  const read = parseSpec(metadata.name, spec);
  if (!read.ok) return { refused: read.message, notes: [] };
  const seen = counts.catch({ state: { phase: "" }, failed: 0, version: 0 }).parse(status ?? {});
  return { refused: undefined, notes: rows.filter(({ when }) => when(read.spec, seen)).map(({ says }) => says) };
};

export const jobForecast: KindForecast<unknown> = {
  created: ({ metadata, spec }) => {
    const read = parseSpec(metadata.name ?? "generated", spec);
    return { refused: read.ok ? undefined : read.message, notes: [] };
  },
  takenOver,
};
