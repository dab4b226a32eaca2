/** SparkConnects at the API server's door: upstream's rules for servers that people connect to. */
import * as z from "zod";
import type { AdmittedObject } from "../../kube/admission.ts";
import { explain } from "../schema/explain.ts";
import { bytesOf } from "../schema/quantity.ts";
import { confRules, nameRules } from "../schema/rules.ts";
import { scaleOddities, scaleRules } from "../schema/scale.ts";
import type { Judgement, Named } from "./judgement.ts";

const template = z.looseObject({
  spec: z.looseObject({ containers: z.array(z.looseObject({ image: z.string().optional() })).nullish() }).nullish(),
});

const pod = z.looseObject({ memory: z.string().optional(), template: template.optional() });

const spec = z.looseObject({
  sparkVersion: z.string(),
  image: z.string().optional(),
  sparkConf: z.record(z.string(), z.string()).optional(),
  server: pod,
  executor: pod,
  dynamicAllocation: z
    .looseObject({
      enabled: z.boolean().optional(),
      initialExecutors: z.int32().optional(),
      minExecutors: z.int32().optional(),
      maxExecutors: z.int32().optional(),
    })
    .optional(),
});

type Spec = z.infer<typeof spec>;

const suffix = "-server";

const lengthRule = (name: string): readonly string[] =>
  name.length + suffix.length <= 63
    ? []
    : [
        `metadata.name: ${name}${suffix} names its service, which holds 63 characters: shorten it to ${63 - suffix.length}`,
      ];

const versionRule = ({ sparkVersion, server, executor }: Spec): readonly string[] => {
  if (sparkVersion === "") return ["spec.sparkVersion is empty: write the version of Spark, such as 4.1.1"];
  const templates = server.template !== undefined || executor.template !== undefined;
  return templates && /^[012]\./.test(sparkVersion)
    ? [`spec.sparkVersion ${sparkVersion} knows no pod templates: it must be 3.0.0 or newer`]
    : [];
};

const brings = ({ template: given }: Spec["server"]): boolean =>
  (given?.spec?.containers ?? []).some(({ image }) => image !== undefined && image !== "");

const imageRule = ({ image, server, executor }: Spec): readonly string[] =>
  (image ?? "") !== "" || (brings(server) && brings(executor))
    ? []
    : [
        "spec.image is missing: write it, or an image into the containers of both spec.server.template and spec.executor.template",
      ];

const memoryRule = (path: string, memory: string | undefined): readonly string[] =>
  memory === undefined || memory === "" || bytesOf(memory, "b") !== undefined
    ? []
    : [`${path}: ${JSON.stringify(memory)} is not a size that Spark reads; write it like "512m" or "2g"`];

export const judgedConnect = (object: AdmittedObject, { name, namespace }: Named): Judgement => {
  const parsed = spec.safeParse(object["spec"]);
  if (!parsed.success) return { broken: [explain(parsed.error)], warnings: [] };
  const { data } = parsed;
  const broken = [
    ...nameRules(name),
    ...lengthRule(name),
    ...versionRule(data),
    ...imageRule(data),
    ...scaleRules(data.dynamicAllocation, 0),
    ...scaleOddities(data.dynamicAllocation),
    ...memoryRule("spec.server.memory", data.server.memory),
    ...memoryRule("spec.executor.memory", data.executor.memory),
    ...confRules(data.sparkConf ?? {}, namespace),
  ];
  return { broken, warnings: [] };
};
