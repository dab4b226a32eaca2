/** The door: a SparkConnect's spec as the API server keeps it, read, or one message of what to change. */
import type { Stored } from "../../core/object.ts";
import { connectSpecSchema, type SparkConnectSpec } from "../schema/connect.ts";
import { explain } from "../schema/explain.ts";
import { mebibytesOf } from "../schema/quantity.ts";
import { executorImage } from "./arguments.ts";
import { type Images, serverImage } from "./objects.ts";
import { serverName } from "./resource.ts";

export type Read =
  | { readonly ok: true; readonly spec: SparkConnectSpec; readonly images: Images }
  | { readonly ok: false; readonly message: string };

const longest = 63;

const nameProblem = (name: string): readonly string[] => {
  const own = serverName(name);
  if (own.length > longest)
    return [`metadata.name is ${name.length} characters long, but the service ${own} holds ${longest}: shorten it`];
  return /^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name)
    ? []
    : [
        `metadata.name ${JSON.stringify(name)} must start with a lower case letter and hold only lower case letters, digits and "-", for a service is named after it`,
      ];
};

const memoryProblem = (path: string, text: string | undefined): readonly string[] =>
  text === undefined || mebibytesOf(text) !== undefined
    ? []
    : [`${path}: ${JSON.stringify(text)} is not a size that Spark reads; write it like "512m" or "2g"`];

const noImage = (role: string): string => `image is not specified: set spec.image, or one in spec.${role}.template`;

export const readSpec = ({ metadata, spec: given }: Stored): Read => {
  const parsed = connectSpecSchema.safeParse(given);
  if (!parsed.success) return { ok: false, message: explain(parsed.error) };
  const spec = parsed.data;
  const [server, executor] = [serverImage(spec), executorImage(spec)];
  const problems = [
    ...nameProblem(metadata.name),
    ...memoryProblem("spec.server.memory", spec.server.memory),
    ...memoryProblem("spec.executor.memory", spec.executor.memory),
    ...(server === undefined ? [noImage("server")] : []),
    ...(executor === undefined ? [noImage("executor")] : []),
  ];
  if (server === undefined || executor === undefined || problems.length > 0)
    return { ok: false, message: problems.join("; ") };
  return { ok: true, spec, images: { server, executor } };
};
