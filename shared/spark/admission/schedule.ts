/** Admission of ScheduledSparkApplications: upstream refuses names and confs only. */
import * as z from "zod";
import { instantOf } from "../../core/time.ts";
import type { AdmittedObject, Judgement, Named } from "../../kube/admission.ts";
import { explain, telling } from "../../kube/explain.ts";
import { readScheduleSpec } from "../scheduled/read.ts";
import { parseSpec } from "../schema/parse.ts";
import { confRules, nameRules } from "../schema/rules.ts";
import { ignoredVolumes } from "../submission/mounts.ts";
import { rehearsal } from "./application.ts";

const spec = z.looseObject({
  template: z.looseObject({ sparkConf: z.record(z.string(), z.string()).optional() }),
});

/** Warnings about the schedule's runs: builds a submission of the template, as for an application. */
const runSayings = ({ name, namespace }: Named, template: unknown): readonly string[] => {
  const run = parseSpec({ metadata: { name, namespace }, spec: template });
  if (!run.ok) return [`its runs will fail: in spec.template, ${run.message}`];
  const result = rehearsal({ name, namespace, annotations: {}, spec: run.spec });
  if ("refused" in result) return [`its runs will fail: in spec.template, ${result.refused}`];
  return ignoredVolumes(run.spec).map((volume) => `in spec.template, ${volume}`);
};

/** Warnings about errors that upstream stores, and shows in the status of the schedule or of its runs. */
const toldLater = (object: AdmittedObject, { name, namespace }: Named, template: unknown): readonly string[] => {
  const created = object.metadata["creationTimestamp"];
  const now = instantOf(typeof created === "string" ? created : undefined) ?? 0;
  const read = readScheduleSpec({ ...object, metadata: { name } }, now);
  return [...(read.ok ? [] : [`it will not run: ${read.reason}`]), ...runSayings({ name, namespace }, template)];
};

export const judgedSchedule = (object: AdmittedObject, named: Named): Judgement => {
  const parsed = spec.safeParse(object["spec"], telling);
  if (!parsed.success) return { broken: [explain(parsed.error)], warnings: [] };
  const { template } = parsed.data;
  const broken = [...nameRules(named.name), ...confRules(template.sparkConf ?? {}, named.namespace)];
  return { broken, warnings: broken.length > 0 ? [] : toldLater(object, named, template) };
};
