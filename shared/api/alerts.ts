/**
 * Alertmanager's webhook: the labels of an alert that name an object, and the intents that it may have. An alert only
 * requests a step or gives notice of a node; the steps decide what follows.
 */
import * as z from "zod";
import { instantOf } from "../core/time.ts";
import { type Intent, type Named, noticeOf, stepOf } from "./intent.ts";

const labels = z.record(z.string(), z.string());

const alert = z.looseObject({
  status: z.enum(["firing", "resolved"]),
  labels,
  annotations: labels.default({}),
  startsAt: z.string(),
  fingerprint: z.string().max(64).default(""),
});

type Alert = z.infer<typeof alert>;

/** Version 4 is what Alertmanager has sent since 0.16. */
const webhook = z.looseObject({ version: z.literal("4"), alerts: z.array(alert).max(500) });

/** Labels that name an object, each with the object's kind. The first one that an alert has counts. */
export const naming: readonly { readonly label: string; readonly kind: string }[] = [
  { label: "sparkapplication", kind: "SparkApplication" },
  { label: "label_sparkoperator_k8s_io_app_name", kind: "SparkApplication" },
  { label: "scheduledsparkapplication", kind: "ScheduledSparkApplication" },
  { label: "sparkconnect", kind: "SparkConnect" },
  { label: "volcano_job", kind: "Job" },
  { label: "label_volcano_sh_job_name", kind: "Job" },
  { label: "volcano_cronjob", kind: "CronJob" },
  { label: "volcano_jobflow", kind: "JobFlow" },
];

/**
 * Labels of the object's namespace, the first one counts: where Prometheus sets its own `namespace`, the object's is
 * the exported one.
 */
const places = ["rekindle_namespace", "exported_namespace", "namespace"] as const;

/** The values of the label `rekindle_action`; an alert without it requests a step. */
export const actions = ["step", "node-leaving"] as const;

const nothing = (why: string): Intent => ({ do: "nothing", why });

const namedIn = (given: Alert["labels"]): Named | undefined => {
  const namespace = places.map((place) => given[place]).find((one) => one !== undefined) ?? "";
  const { rekindle_kind: kind, rekindle_name: name } = given;
  if (kind !== undefined && name !== undefined) return { kind, namespace, name };
  const row = naming.find(({ label }) => given[label] !== undefined);
  return row === undefined ? undefined : { kind: row.kind, namespace, name: given[row.label] ?? "" };
};

/** The time from the alert's start until its node goes, unless the annotation `until` says otherwise, ms. */
const usualMs = 120_000;

type Reading = { readonly kinds: readonly string[]; readonly now: number };

const aboutNode = ({ status, labels: given, annotations, startsAt }: Alert, event: string, now: number): Intent => {
  const { node } = given;
  if (node === undefined) return nothing("no label names a node");
  if (status === "resolved") return nothing("resolved: a node that stays needs nothing");
  const until = instantOf(annotations["until"]) ?? (instantOf(startsAt) ?? now) + usualMs;
  return noticeOf(node, until, event, now);
};

const intentOf = (given: Alert, { kinds, now }: Reading): Intent => {
  const event = `alert ${given.fingerprint} ${given.status} ${given.startsAt}`;
  const action = given.labels["rekindle_action"] ?? "step";
  if (action === "node-leaving") return aboutNode(given, event, now);
  if (action !== "step") return nothing(`rekindle_action must be one of ${actions.join(", ")}`);
  const named = namedIn(given.labels);
  return named === undefined ? nothing("no label names an object that Rekindle runs") : stepOf(named, kinds, event);
};

/** Returns the intents of the alerts; undefined where the body is not this webhook's. */
export const alertIntents = (body: string, reading: Reading): readonly Intent[] | undefined => {
  try {
    return webhook.parse(JSON.parse(body)).alerts.map((one) => intentOf(one, reading));
  } catch {
    return undefined;
  }
};
