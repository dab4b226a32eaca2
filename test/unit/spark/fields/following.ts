/** The consequences of a spec as texts to compare: the objects that are created, and the plans of later steps. */
import type { Obj } from "../../../../shared/core/object.ts";
import { rendered } from "../../../../shared/deployments/common/forecasts.ts";
import { sparkOptionsOf } from "../../../../shared/deployments/settings/conversions.ts";
import { readConfiguration } from "../../../../shared/deployments/settings/host.ts";
import { timingOf } from "../../../../shared/kube/history.ts";
import * as applications from "../application/fixtures.ts";
import * as connects from "../connect/fixtures.ts";
import * as schedules from "../scheduled/fixtures.ts";

type Spec = Readonly<Record<string, unknown>>;

/** The consequences, or the refusal; `later` is called only if the created objects do not differ. */
export type Following = { readonly refused?: string; readonly made: string; readonly later: () => string };

/** Every setting on that a deployment can turn on. */
const settings = [
  ...["--enable-driver-pdb", "--enable-batch-scheduler", "--kube-scheduler-names", "kube"],
  ...["--ingress-url-format", "{{$appName}}.example.com"],
];

const asked = await readConfiguration(settings, {});
if (asked.do !== "run") throw new Error(JSON.stringify(asked));
const options = sparkOptionsOf(asked.configuration);

/** JSON without the fields that only identify the spec: the object of an event, and the remembered timing. */
const text = (plans: unknown): string =>
  JSON.stringify(plans, (key, value: unknown) => (["about", "timing"].includes(key) ? undefined : value));

const { application, decided, digested, driver, eight, pod, remembered } = applications;

const failed = { phase: "Failed", exitCode: 1, reason: "Error" } as const;
const day = 86_400_000;

/** Returns the plans of an application that fails, that cannot be submitted, that runs, and that ended long ago. */
const lives = (spec: Spec): string => {
  const object = application({ spec });
  const record = { spec: digested(spec), driver };
  const error = { endedAt: eight - 60_000, error: "no" };
  const first = decided({ object });
  const refused = first.plan.stages
    .flat()
    .filter((effect) => effect.do === "create" && effect.resource.plural === "pods")
    .map((effect) => ({ effect, status: 422, reason: "Invalid", message: "no" }));
  const worlds: readonly applications.World[] = [
    { object },
    { object, memory: first.plan.memory, refused },
    { object, memory: { ...first.plan.memory, submissions: 3 }, refused },
    { object, memory: remembered(record), pods: [pod(failed)] },
    { object, memory: remembered({ ...record, submissions: 3, executions: 3 }), pods: [pod(failed)] },
    { object, memory: remembered({ ...record, state: { phase: "SUBMISSION_FAILED", ...error } }) },
    { object, memory: remembered({ ...record, state: { phase: "FAILING", ...error } }) },
    { object, memory: remembered(record), pods: [pod()] },
    { object, memory: remembered({ ...record, state: { phase: "COMPLETED", endedAt: eight - day } }) },
  ];
  return text(worlds.map((world) => decided(world).plan)).replaceAll(record.spec, "");
};

const followed = (object: Obj, later: () => string): Following => {
  const made = rendered(object, { attempt: 1, uid: "u", options });
  const texts = { made: JSON.stringify(made), later };
  return "refused" in made ? { refused: made.refused, ...texts } : texts;
};

const metadata = { name: "spark-pi", namespace: "default" };

export const ofApplication = (spec: Spec): Following =>
  followed({ apiVersion: "sparkoperator.k8s.io/v1beta2", kind: "SparkApplication", metadata, spec }, () => lives(spec));

/**
 * Returns the first step of a schedule, its next time while a run is active, and the deletion of past runs above the
 * limits.
 */
export const ofSchedule = (spec: Spec): Following => {
  const object = schedules.schedule(spec);
  const { at, run, planned } = schedules;
  const memory = { timing: timingOf(object), nextRun: at("09:00:00") };
  const ended = ["06:00:00", "07:00:00", "07:30:00"].map((time) => run(time, "COMPLETED"));
  const lost = ["05:00:00", "05:30:00", "06:30:00"].map((time) => run(time, "FAILED"));
  const worlds: readonly schedules.Given[] = [
    { object, now: at("08:10:00") },
    { object, memory, runs: [run("08:00:00", "RUNNING")], now: at("09:00:01") },
    { object, memory, runs: [...ended, ...lost], now: at("09:00:01") },
  ];
  return { made: text(worlds.map(planned)), later: () => "" };
};

const pruned = (object: Obj): Obj => {
  const { annotations: _digest, ...kept } = object.metadata;
  return { ...object, metadata: kept };
};

/** Compares the objects of a SparkConnect without the pod's annotations, which hold the digest of the spec. */
export const ofConnect = (spec: Spec): Following => {
  const made = connects.made(connects.connect(spec));
  const kept = made.map((object) => (object.kind === "Pod" ? pruned(object) : object));
  return { made: JSON.stringify(kept), later: () => "", ...(made.length === 0 ? { refused: "nothing is made" } : {}) };
};
