/** Parses a SparkConnect's spec as stored, or returns one message with the remedy. */
import { explain, reportingInput } from "../../kube/schema.ts";
import { connectSpecSchema, type SparkConnectSpec } from "../schema/application.ts";
import { connectLimits } from "../schema/limits.ts";
import { serverName } from "../schema/resource.ts";
import { confRules, scaleOddities, scaleRules, sizeRule } from "../schema/rules.ts";
import { executorImage, type Images, serverImage } from "./objects.ts";

export type Read =
  | { readonly ok: true; readonly spec: SparkConnectSpec; readonly images: Images }
  | { readonly ok: false; readonly message: string };

/** A SparkConnect, stored or about to be. */
type Written = {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
};

const longest = 63;

const nameProblem = (name: string): readonly string[] => {
  const own = serverName(name);
  if (own.length > longest)
    return [`metadata.name is ${name.length} characters long, but the service ${own} holds ${longest}: shorten it`];
  return /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name)
    ? []
    : [
        `metadata.name ${JSON.stringify(name)} must start with a lower case letter and hold only lower case letters, digits and "-", because a service is named after it`,
      ];
};

const noImage = (role: string): string => `image is not specified: set spec.image, or one in spec.${role}.template`;

/** Errors of an empty version, and of pod templates with a version below 3.0.0. */
const versionProblem = ({ sparkVersion, server, executor }: SparkConnectSpec): readonly string[] => {
  if (sparkVersion === "") return ["spec.sparkVersion is empty: write the version of Spark, such as 4.1.1"];
  const templates = server.template !== undefined || executor.template !== undefined;
  return templates && /^[012]\./.test(sparkVersion)
    ? [`spec.sparkVersion ${sparkVersion} knows no pod templates: it must be 3.0.0 or newer`]
    : [];
};

/** Parses and checks a spec by the rules of upstream's webhook. */
export const readConnectSpec = ({ metadata, spec: given }: Written): Read => {
  const beyond = connectLimits(given);
  if (beyond !== "") return { ok: false, message: beyond };
  const parsed = connectSpecSchema.safeParse(given, reportingInput);
  if (!parsed.success) return { ok: false, message: explain(parsed.error) };
  const spec = parsed.data;
  const [server, executor] = [serverImage(spec), executorImage(spec)];
  const problems = [
    ...nameProblem(metadata.name),
    ...versionProblem(spec),
    ...scaleRules(spec.dynamicAllocation, 0),
    ...scaleOddities(spec.dynamicAllocation),
    ...confRules(spec.sparkConf ?? {}, metadata.namespace ?? "default"),
    ...sizeRule({ path: "spec.server.memory", version: spec.sparkVersion }, spec.server.memory),
    ...sizeRule({ path: "spec.executor.memory", version: spec.sparkVersion }, spec.executor.memory),
    ...(server === undefined ? [noImage("server")] : []),
    ...(executor === undefined ? [noImage("executor")] : []),
  ];
  if (server === undefined || executor === undefined || problems.length > 0)
    return { ok: false, message: problems.join("; ") };
  return { ok: true, spec, images: { server, executor } };
};
