/**
 * The content of an application that its run does not get: volumes, confs, fields of pod templates. The one
 * source of what render, create, admission, status and events tell about it.
 */
import { fieldsOf } from "../../core/json.ts";
import type { Conf } from "../configuration/conf.ts";
import { readOtherwise } from "../executors/owner.ts";
import { replacedConfs } from "../ignored/confs.ts";
import { type Advice, overwrittenFields } from "../ignored/fields.ts";
import { confsOfOwn } from "./additions.ts";
import { originOf } from "./arguments/argv.ts";
import type { Role, Subject } from "./arguments/pod.ts";
import type { PlannedPods } from "./planned-pods.ts";
import { ignoredVolumes } from "./warnings.ts";

/** One sentence about what is ignored; `reason` is the event's. */
export type Ignored = {
  readonly reason: "RekindleVolumeIgnored" | "RekindleConfIgnored" | "RekindleFieldIgnored";
  readonly says: string;
};

/** A run as it is planned: its confs, and its first pods. */
export type PlannedRun = {
  readonly subject: Subject;
  /** True where Rekindle is the allocator of the executors. */
  readonly own: boolean;
  readonly conf: Conf;
  readonly planned: PlannedPods;
};

/** Confs that an allocator reads: where Rekindle is the allocator, it reads them, and its driver gets others. */
const honoured: ReadonlySet<string> = new Set(confsOfOwn.map(([key]) => key));

const adviceFor = (role: Role): Advice => [
  [/\.image$/, `write the image in spec.${role}.image`],
  [/\.imagePullPolicy$/, "write it in spec.imagePullPolicy"],
  [/\.resources\.(requests|limits)\.memory$/, `write spec.${role}.memory and spec.${role}.memoryOverhead`],
  [/\.resources\.(requests|limits)\.cpu$/, `write spec.${role}.coreRequest and spec.${role}.coreLimit`],
  [/\.serviceAccount(Name)?$/, `write spec.${role}.serviceAccount`],
  [/^\.metadata\.labels/, "use another label"],
  [/\.(command|args)/, "write spec.mainApplicationFile and spec.arguments"],
];

const fieldsIgnored = (run: PlannedRun, role: Role): readonly string[] => {
  const { template } = run.subject.spec[role];
  if (template === undefined) return [];
  const { [role]: pod } = run.planned;
  if (pod === undefined) return [];
  const made = { metadata: fieldsOf(pod.metadata), spec: pod.spec };
  return overwrittenFields({ path: `spec.${role}.template`, template, made }, adviceFor(role));
};

const told =
  (reason: Ignored["reason"]) =>
  (says: string): Ignored => ({ reason, says });

/** Everything that the run does not get as its user writes it. */
export const ignoredIn = (run: PlannedRun): readonly Ignored[] => {
  const { subject, own, conf: final } = run;
  const { spec } = subject;
  const confs = { confs: spec.sparkConf, final, originOf: (key: string) => originOf(subject, key) };
  return [
    ...ignoredVolumes(spec).map(told("RekindleVolumeIgnored")),
    ...(own ? readOtherwise(spec) : []).map(told("RekindleConfIgnored")),
    ...replacedConfs({ ...confs, ...(own ? { honoured } : {}) }).map(told("RekindleConfIgnored")),
    ...[...fieldsIgnored(run, "driver"), ...fieldsIgnored(run, "executor")].map(told("RekindleFieldIgnored")),
  ];
};
