/** The rights that each function needs: Lambda's in its name, and those of the requests that its bundle can send. */
import { basename } from "node:path";
import { build } from "esbuild";
import { bundleOptions } from "../bundle.ts";
import type { Template } from "./template.ts";

/** Actions of Lambda in a function's name: its log, its queue, its network. */
const platform = {
  log: ["logs:CreateLogStream", "logs:PutLogEvents"],
  queue: ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"],
  network: [
    "ec2:CreateNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:DeleteNetworkInterface",
    "ec2:AssignPrivateIpAddresses",
    "ec2:UnassignPrivateIpAddresses",
  ],
} as const;

const services: Readonly<Record<string, string>> = {
  "shared/adapters/sqs/": "sqs",
  "shared/adapters/sinks/": "sqs",
  "shared/adapters/dynamodb/": "dynamodb",
};

/** A batch command needs the permission of the single one. */
const permissionOf = (service: string, command: string): string => `${service}:${command.replace(/Batch$/, "")}`;

const commandsIn = (file: string, text: string): readonly string[] => {
  const service = Object.entries(services).find(([room]) => file.startsWith(room))?.[1];
  if (service === undefined) return [];
  const sent = /\bnew \w+\.(\w+)Command\(|\bsqs\d*\("(\w+)"/g;
  return [...text.matchAll(sent)].map(([, command = "", action = ""]) => permissionOf(service, command + action));
};

/** A cluster's record is kept under an ARN of Secrets Manager, or of a parameter of SSM. */
const recordsIn = (file: string): readonly string[] =>
  file === "shared/adapters/aws/stored-text.ts"
    ? ["secretsmanager:GetSecretValue", "ssm:GetParameter", "kms:Decrypt"]
    : [];

/** Texts of a function's modules, by their files. */
export type Parts = ReadonlyMap<string, string>;

const partsIn = (text: string): Parts => {
  const parts = new Map<string, string>();
  for (const [, file = "", part = ""] of text.matchAll(
    /^\/\/ (\S+\.ts)\n(.*?)(?=^\/\/ \S+\.(?:ts|js|mjs)\n|(?![\s\S]))/gms,
  ))
    parts.set(file, part);
  return parts;
};

/** The modules of each function's bundle that handlers use; modules that only processes use are left out. */
export const handlerParts = async (names: readonly string[]): Promise<ReadonlyMap<string, Parts>> => {
  const { outputFiles = [] } = await build({
    ...bundleOptions(names, "dist"),
    define: { "import.meta.main": "false" },
    splitting: false,
    minify: false,
    minifySyntax: true,
    external: ["@aws-sdk/*"],
    write: false,
  });
  return new Map(outputFiles.map(({ path, text }) => [basename(path, ".mjs"), partsIn(text)]));
};

type Properties = Template["Resources"][string]["Properties"];

const isPolled = ({ Events }: Properties): boolean => JSON.stringify(Events ?? {}).includes('"Type":"SQS"');

/** Every action that the role of a function needs, in order. */
export const needsOf = (parts: Parts, properties: Properties): readonly string[] => {
  const environment = JSON.stringify(properties["Environment"] ?? {});
  const sent = [...parts].flatMap(([file, text]) => commandsIn(file, text));
  // A function without a cluster reads no record of one.
  const read = environment.includes("REKINDLE_CLUSTER_RECORD") ? [...parts.keys()].flatMap(recordsIn) : [];
  const own = [...platform.log, ...platform.network, ...(isPolled(properties) ? platform.queue : [])];
  return [...new Set([...own, ...sent, ...read])].sort();
};
