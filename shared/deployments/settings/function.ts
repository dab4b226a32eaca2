/**
 * What a cloud function is told by its environment, each asked for what it uses and nothing else. Read when asked,
 * never at import; the one place where these variables are read.
 */
import * as z from "zod";
import { families } from "../../kube/families.ts";
import { selectorOf } from "../../kube/selector.ts";
import { gangModes } from "../../volcano/gang/scheduler.ts";
import { type Access, endpointIn, inCluster } from "./cluster.ts";
import { hostOnly, refusalByFunction } from "./names.ts";
import { place } from "./record-store.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** The ARN of a secret or a parameter. */
const isStored = (text: string): boolean =>
  /^arn:aws[a-z-]*:(secretsmanager|ssm):[a-z0-9-]+:\d{12}:(secret:|parameter\/)\S+$/.test(text);

const needed =
  "JSON with server, ca and token (or cert and key, or eks), the ARN under which Secrets Manager or the Parameter Store keeps it, or in-cluster";

const clusterRecord = z.string({ error: `is missing: ${needed}` }).transform((text, context): Access => {
  if (text === inCluster || isStored(text)) return { stored: text };
  try {
    return endpointIn(text);
  } catch {
    context.addIssue(`${needed} is needed`);
    return z.NEVER;
  }
});

const queueUrl = z.url({ error: "the queue's URL is needed" });
const fifoUrl = queueUrl.refine((url) => url.endsWith(".fifo"), {
  error: "is not a FIFO queue: the URL of one ends with .fifo",
});
const name = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

const labelSelector = z
  .string()
  .default("")
  .refine((text) => selectorOf(text) !== undefined, { error: "a label selector is needed, such as team=data" });

/** Every variable by what the functions call it. */
const variables = {
  endpoint: { variable: "REKINDLE_CLUSTER_RECORD", shape: clusterRecord },
  /** The same, of who works without a cluster as well. */
  readable: { variable: "REKINDLE_CLUSTER_RECORD", shape: clusterRecord.optional() },
  cluster: { variable: "REKINDLE_CLUSTER_ALIAS", shape: z.string().min(1).max(253).default("default") },
  namespaces: {
    variable: "REKINDLE_NAMESPACES",
    shape: z
      .string()
      .default("")
      .transform((text) => text.split(",").filter(Boolean))
      .refine((names) => names.every((one) => name.test(one)), { error: "names separated by commas are needed" }),
  },
  leases: {
    variable: "REKINDLE_LEASES",
    shape: z
      .string()
      .default("spark-operator-lock,spark-operator-controller-lock")
      .transform((text) => text.split(",").filter(Boolean)),
  },
  families: {
    variable: "REKINDLE_FAMILIES",
    shape: z
      .string()
      .default(families.join(","))
      .transform((text) => text.split(","))
      .pipe(z.array(z.enum(families, { error: `${families.join(", ")} or both are needed` }))),
  },
  gang: {
    variable: "REKINDLE_GANG",
    shape: z.enum(gangModes, { error: `one of ${gangModes.join(", ")} is needed` }).default("auto"),
  },
  namespaceSelector: { variable: "REKINDLE_NAMESPACE_SELECTOR", shape: labelSelector },
  selector: { variable: "REKINDLE_SELECTOR", shape: labelSelector },
  fifo: { variable: "REKINDLE_FIFO_URL", shape: fifoUrl },
  delay: {
    variable: "REKINDLE_DELAY_URL",
    shape: queueUrl.refine((url) => !url.endsWith(".fifo"), {
      error: "is a FIFO queue, which holds no single message back: a standard queue is needed",
    }),
  },
  updates: { variable: "REKINDLE_UPDATES_URL", shape: fifoUrl.optional() },
  updatesTo: { variable: "REKINDLE_UPDATES_TO", shape: z.string().default("") },
  updatesSecret: {
    variable: "REKINDLE_UPDATES_SECRET",
    shape: z.string().min(16, { error: "at least 16 characters are needed" }).optional(),
  },
  home: {
    variable: "REKINDLE_HOME",
    shape: z.string().regex(name, { error: "a namespace is needed" }).default("rekindle"),
  },
  maxSubmissions: {
    variable: "REKINDLE_MAX_SUBMISSIONS",
    shape: z
      .string()
      .regex(/^[1-9]\d{0,2}$/, { error: "a number from 1 to 999 is needed" })
      .default("16")
      .transform(Number),
  },
  windowMs: {
    variable: "REKINDLE_WINDOW",
    shape: z
      .string()
      .regex(/^[1-9]\d{0,3}s?$/, { error: "seconds are needed, such as 50" })
      .default("50")
      .transform((text) => Number.parseInt(text, 10) * 1_000),
  },
  listen: {
    variable: "REKINDLE_LISTEN",
    shape: z
      .string()
      .regex(/^(\[[0-9a-f:]+\]|[\w.-]+):\d{1,5}$/i, {
        error: "an address and a port are needed, such as 127.0.0.1:8080",
      })
      .default("127.0.0.1:8080"),
  },
  certificate: { variable: "REKINDLE_TLS_CERT_FILE", shape: z.string().min(1).optional() },
  clientCa: { variable: "REKINDLE_TLS_CLIENT_CA_FILE", shape: z.string().min(1).optional() },
  sparkVersion: {
    variable: "REKINDLE_SPARK_VERSION",
    shape: z
      .string()
      .regex(/^\d+\.\d+\.\d+$/, { error: "a version is needed, such as 4.1.1" })
      .default("4.1.1"),
  },
  privateKey: { variable: "REKINDLE_TLS_KEY_FILE", shape: z.string().min(1).optional() },
  checkpoints: { variable: "REKINDLE_CHECKPOINTS", shape: place.prefault("kubernetes") },
  admissionPath: {
    variable: "REKINDLE_ADMISSION_PATH",
    shape: z
      .string()
      .regex(/^[A-Za-z0-9_-]{16,128}$/, { error: "16 to 128 letters, digits, - and _ are needed" })
      .optional(),
  },
  quota: {
    variable: "REKINDLE_ADMISSION_QUOTA",
    shape: z
      .enum(["true", "false"], { error: "true or false is needed" })
      .default("false")
      .transform((text) => text === "true"),
  },
  secret: {
    variable: "REKINDLE_TRIGGER_SECRET",
    shape: z.string().min(16, { error: "at least 16 characters are needed" }).optional(),
  },
} as const;

/** Their names: a host knows them, to say what it takes instead. */
export const functionVariables: readonly string[] = Object.values(variables).map(({ variable }) => variable);

type Variables = typeof variables;
type Name = keyof Variables;
export type Settings<Names extends Name> = { readonly [N in Names]: z.infer<Variables[N]["shape"]> };

const isSet = <Names extends Name>(values: object, names: readonly Names[]): values is Settings<Names> =>
  names.every((one) => one in values);

/** Queues that the AWS client, which asks in the region of its environment, would not find. */
const elsewhere = (env: Environment, names: readonly Name[]): readonly string[] => {
  const { AWS_REGION: region } = env;
  return names.flatMap((one) => {
    const { variable } = variables[one];
    const home = /^https:\/\/sqs\.([a-z0-9-]+)\.amazonaws\.com/.exec(env[variable] ?? "")?.[1];
    const isThere = home === undefined || region === undefined || home === region;
    return isThere ? [] : [`${variable} (its queue is in ${home}, AWS_REGION is ${region}: correct one of them)`];
  });
};

/** Variables that only a host reads. */
const ofHost = (env: Environment): readonly string[] =>
  Object.keys(env)
    .filter((variable) => hostOnly.has(variable) && env[variable] !== undefined)
    .map((variable) => `${variable} (${refusalByFunction(variable)})`);

/** Reads the named settings. Throws one line that names every variable that is missing or wrong; no value is in it. */
export const functionSettings = <Names extends Name>(env: Environment, ...names: readonly Names[]): Settings<Names> => {
  const read = names.map((one) => ({ one, parsed: variables[one].shape.safeParse(env[variables[one].variable]) }));
  const wrong = read.flatMap(({ one, parsed }) =>
    parsed.success
      ? []
      : [`${variables[one].variable} (${parsed.error.issues.map(({ message }) => message).join("; ")})`],
  );
  wrong.push(...elsewhere(env, names), ...ofHost(env));
  if (wrong.length > 0) throw new Error(`set the function's environment: ${wrong.join(", ")}`);
  const values = Object.fromEntries(read.map(({ one, parsed }) => [one, parsed.data]));
  if (!isSet(values, names)) throw new Error("settings were read incompletely");
  return values;
};
