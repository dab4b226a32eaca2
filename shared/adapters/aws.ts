/**
 * Requests that functions send to AWS without an AWS client, whose import is a third of a function's cold start:
 * signed JSON calls to a service over kept-alive connections, and presigned URLs, by AWS signature version 4. A text
 * in Secrets Manager or in SSM's Parameter Store is one such call, by its ARN. A token for EKS is a presigned STS
 * request, which the cluster sends to learn the caller's identity. Credentials and region are those of the
 * environment; where they are not in it, the client finds them in a profile, a pod's identity or an instance's role.
 */
import { createHash, createHmac } from "node:crypto";
import * as z from "zod";
import { ApiError } from "../core/http.ts";
import { fieldsOf, jsonOf } from "../core/json.ts";
import { type ClosableTransport, httpsTransport } from "./kubernetes/https.ts";

export type Credentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
};

export type Signing = {
  readonly credentials: Credentials;
  readonly region: string;
  readonly service: string;
  /** Epoch ms. */
  readonly now: number;
};

type Fields = Readonly<Record<string, string>>;

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/** Encodes as RFC 3986; AWS also encodes characters that encodeURIComponent leaves as they are. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

const sorted = (fields: Fields): readonly (readonly [string, string])[] =>
  Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));

const queryText = (fields: Fields): string =>
  sorted(fields)
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .join("&");

/** `20261102T090000Z` */
const stampOf = (now: number): string => new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");

const scopeOf = ({ region, service, now }: Signing): string =>
  [stampOf(now).slice(0, 8), region, service, "aws4_request"].join("/");

type Canonical = { readonly method: string; readonly query: string; readonly headers: Fields; readonly body: string };

const signedNames = (headers: Fields): string =>
  sorted(headers)
    .map(([name]) => name)
    .join(";");

const signatureOf = (signing: Signing, { method, query, headers, body }: Canonical): string => {
  const lines = sorted(headers).map(([name, value]) => `${name}:${value}\n`);
  const request = [method, "/", query, lines.join(""), signedNames(headers), sha256(body)].join("\n");
  const text = ["AWS4-HMAC-SHA256", stampOf(signing.now), scopeOf(signing), sha256(request)].join("\n");
  const [date = "", ...scope] = scopeOf(signing).split("/");
  const key = scope.reduce<Buffer>(hmac, hmac(`AWS4${signing.credentials.secretAccessKey}`, date));
  return hmac(key, text).toString("hex");
};

export type Presigning = Signing & {
  readonly host: string;
  readonly query: Fields;
  /** Signed headers besides `host`; lower case. */
  readonly headers: Fields;
  readonly expiresS: number;
};

/** Returns a URL that proves the signer's identity for `expiresS` seconds. */
const presigned = (signing: Presigning): string => {
  const { accessKeyId, sessionToken } = signing.credentials;
  const headers = { ...signing.headers, host: signing.host };
  const query = queryText({
    ...signing.query,
    "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
    "X-Amz-Credential": `${accessKeyId}/${scopeOf(signing)}`,
    "X-Amz-Date": stampOf(signing.now),
    "X-Amz-Expires": String(signing.expiresS),
    "X-Amz-SignedHeaders": signedNames(headers),
    ...(sessionToken === undefined ? {} : { "X-Amz-Security-Token": sessionToken }),
  });
  const signature = signatureOf(signing, { method: "GET", query, headers, body: "" });
  return `https://${signing.host}/?${query}&X-Amz-Signature=${signature}`;
};

/** Returns the headers of a POST to `/`, including the signature. */
export const signedHeaders = (signing: Signing, host: string, given: Fields, body: string): Fields => {
  const { accessKeyId, sessionToken } = signing.credentials;
  const headers = {
    ...given,
    host,
    "x-amz-date": stampOf(signing.now),
    ...(sessionToken === undefined ? {} : { "x-amz-security-token": sessionToken }),
  };
  const signature = signatureOf(signing, { method: "POST", query: "", headers, body });
  const credential = `Credential=${accessKeyId}/${scopeOf(signing)}`;
  const authorization = `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${signedNames(headers)}, Signature=${signature}`;
  return { ...headers, authorization };
};

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the credentials of the environment; throws one line if there are none. The credential chain of the AWS
 * clients is not used, because it adds 150 kB.
 */
const identity = (env: Environment): Credentials => {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: token } = env;
  if (accessKeyId !== undefined && secretAccessKey !== undefined)
    return { accessKeyId, secretAccessKey, sessionToken: token };
  const message =
    "no AWS credentials: a Lambda function has its role's, everything else needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
  throw new ApiError({ status: 401, reason: "NoCredentials", message });
};

/** The domain of a region's services. */
const domainOf = (region: string): string => (region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com");

export type EksCluster = { readonly name: string; readonly region: string };

export const tokenOf = ({ name, region }: EksCluster, credentials: Credentials, now: number): string => {
  const url = presigned({
    ...{ credentials, region, now, service: "sts", host: `sts.${region}.${domainOf(region)}`, expiresS: 60 },
    query: { Action: "GetCallerIdentity", Version: "2011-06-15" },
    headers: { "x-k8s-aws-id": name },
  });
  return `k8s-aws-v1.${Buffer.from(url).toString("base64url")}`;
};

/** Returns a new token for the identity of this environment. */
export const eksToken = (cluster: EksCluster, env: Environment, now: number): string =>
  tokenOf(cluster, identity(env), now);

/** Credentials and region of a signature. */
export type Signer = { readonly credentials: () => Promise<Credentials>; readonly region: () => Promise<string> };

type Service = {
  /** As the signature names it. */
  readonly name: string;
  /** The first part of the header `x-amz-target`. */
  readonly target: string;
  /** Returns the signer of an AWS client, which is loaded for it. */
  readonly client: () => Promise<Signer>;
  readonly env: Environment;
};

export type Call = {
  readonly action: string;
  /** Where the service is, unless a variable names another endpoint. */
  readonly endpoint: string;
  readonly input: object;
  /** Time limit of one try, and of all together, ms. */
  readonly tryMs: number;
  readonly callMs: number;
};

/** Sends one call; rejects with an error that has the name by which the AWS clients call it. */
export type Calls = (call: Call) => Promise<Readonly<Record<string, unknown>>>;

const tries = 3;
const firstWaitMs = 100;

/** The service's answer instead of a result. */
type Refusal = {
  /** As the AWS clients call it. */
  readonly name: string;
  readonly answer: Readonly<Record<string, unknown>>;
  /** True if the same call may succeed a moment later. */
  readonly passes: boolean;
};

type CallError = Error & Refusal;

const errorOf = (message: string, refusal: Refusal): CallError => Object.assign(new Error(message), refusal);

const isCallError = (cause: unknown): cause is CallError =>
  cause instanceof Error && "answer" in cause && "passes" in cause;

const signerIn = ({ env, client }: Service): (() => Promise<Signer>) => {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_REGION: region } = env;
  if (accessKeyId !== undefined && secretAccessKey !== undefined && region !== undefined) {
    const credentials = { accessKeyId, secretAccessKey, sessionToken: env["AWS_SESSION_TOKEN"] };
    const signer = { credentials: async () => credentials, region: async () => region };
    return async () => signer;
  }
  let loading: Promise<Signer> | undefined;
  return () => {
    loading ??= client();
    return loading;
  };
};

const busy = /Throttl|TooManyRequests|RequestLimitExceeded|ProvisionedThroughputExceeded|OverLimit/;

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

const refused = (status: number, answer: Readonly<Record<string, unknown>>, code: string): CallError => {
  const name = textOf(answer["__type"]).split("#").at(-1) || code.split(";")[0] || "";
  const text = textOf(answer["message"]) || textOf(answer["Message"]) || name || `HTTP ${status}`;
  return errorOf(text, { name, answer, passes: status >= 500 || busy.test(name) });
};

/** Returns the error of a call without an answer, which may have arrived. */
const unanswered = (cause: unknown): unknown => {
  if (!(cause instanceof ApiError) || cause.status !== 0) return cause;
  const name = cause.reason === "Timeout" ? "TimeoutError" : cause.reason;
  return errorOf(cause.message.replace(/^POST \/: /, ""), { name, answer: {}, passes: true });
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Opens calls to one service. Nothing is loaded or connected before the first one. */
export const openCalls = (service: Service): Calls => {
  const { name, target, env } = service;
  const variable = `AWS_ENDPOINT_URL_${name.toUpperCase()}`;
  const signer = signerIn(service);
  const transports = new Map<string, ClosableTransport>();
  const transportTo = (server: string): ClosableTransport => {
    const known = transports.get(server);
    if (known !== undefined) return known;
    const opened = httpsTransport({ server, userAgent: "rekindle" });
    transports.set(server, opened);
    return opened;
  };
  const once = async ({ action, endpoint, input }: Call, timeoutMs: number) => {
    const { origin, host } = new URL(env[variable] ?? env["AWS_ENDPOINT_URL"] ?? endpoint);
    const { credentials, region } = await signer();
    const signing = { credentials: await credentials(), region: await region(), service: name, now: Date.now() };
    const given = { "content-type": "application/x-amz-json-1.0", "x-amz-target": `${target}.${action}` };
    const body = JSON.stringify(input);
    const { host: _, ...headers } = signedHeaders(signing, host, given, body);
    const request = { method: "POST", path: "/", headers, body, timeoutMs } as const;
    const answer = await transportTo(origin)
      .send(request)
      .catch((cause: unknown) => {
        throw unanswered(cause);
      });
    const read = fieldsOf(jsonOf(answer.body));
    if (answer.status === 200) return read;
    throw refused(answer.status, read, answer.headers["x-amzn-query-error"] ?? "");
  };
  return async (call) => {
    const began = performance.now();
    for (let failures = 1; ; failures += 1) {
      const left = call.callMs - (performance.now() - began);
      try {
        return await once(call, Math.max(1, Math.min(call.tryMs, left)));
      } catch (cause) {
        const waitMs = Math.random() * firstWaitMs * 2 ** failures;
        const passes = isCallError(cause) && cause.passes;
        if (failures === tries || !passes || performance.now() - began + waitMs >= call.callMs) throw cause;
        await pause(waitMs);
      }
    }
  };
};

type Kind = {
  readonly service: string;
  /** Environment variable that overrides the endpoint, as for every AWS client. */
  readonly variable: string;
  readonly action: string;
  readonly target: string;
  readonly ask: (arn: string) => object;
  readonly answer: z.ZodType<string>;
};

const secret: Kind = {
  service: "secretsmanager",
  variable: "AWS_ENDPOINT_URL_SECRETS_MANAGER",
  action: "GetSecretValue",
  target: "secretsmanager.GetSecretValue",
  ask: (arn) => ({ SecretId: arn }),
  answer: z.object({ SecretString: z.string() }).transform(({ SecretString }) => SecretString),
};

const parameter: Kind = {
  service: "ssm",
  variable: "AWS_ENDPOINT_URL_SSM",
  action: "GetParameter",
  target: "AmazonSSM.GetParameter",
  ask: (arn) => ({ Name: arn, WithDecryption: true }),
  answer: z.object({ Parameter: z.object({ Value: z.string() }) }).transform((found) => found.Parameter.Value),
};

const form = /^arn:aws[a-z-]*:(secretsmanager|ssm):([a-z0-9-]+):/;

const timeoutMs = 5_000;

const failure = z.object({
  __type: z.string().default(""),
  message: z.string().optional(),
  Message: z.string().optional(),
});

/** Returns the error with the missing right or the mistake. It contains nothing of the stored text. */
const refusal = ({ service, action }: Kind, arn: string, status: number, body: unknown): ApiError => {
  const { data } = failure.safeParse(body);
  const type = data?.__type.split("#").at(-1) ?? "";
  const advice: Readonly<Record<string, string>> = {
    AccessDeniedException: `no permission: allow ${service}:${action} on it to the role that this runs as`,
    ResourceNotFoundException: "it does not exist: correct the ARN, or create it (rekindle cluster add)",
    ParameterNotFound: "it does not exist: correct the ARN, or create it (rekindle cluster add)",
    UnrecognizedClientException:
      "AWS does not accept the credentials: correct them, or this machine's clock if it is wrong by minutes",
    InvalidSignatureException: "the signature is not accepted: credentials or clock are wrong",
  };
  const message = data?.message ?? data?.Message;
  const isElsewhere = /scoped to a valid region/.test(message ?? "");
  const text = isElsewhere
    ? "the ARN names another region than its endpoint: correct the ARN"
    : (advice[type] ?? message ?? `HTTP ${status}`);
  return new ApiError({ status, reason: "ClusterRecord", message: `${service} ${action} ${arn}: ${text}` });
};

/** Returns the stored text; rejects with one line about what to change. */
export const storedText = async (arn: string, env: Environment, now: number): Promise<string> => {
  const [, service = "", region = ""] = form.exec(arn) ?? [];
  const kind = service === "ssm" ? parameter : secret;
  const url = new URL(env[kind.variable] ?? `https://${service}.${region}.${domainOf(region)}`);
  const body = JSON.stringify(kind.ask(arn));
  const given = { "content-type": "application/x-amz-json-1.1", "x-amz-target": kind.target };
  const signing = { credentials: identity(env), region, service, now };
  const { host: _, ...headers } = signedHeaders(signing, url.host, given, body);
  const transport = httpsTransport({ server: url.origin, userAgent: "rekindle" });
  const request = { method: "POST", path: "/", headers, body, timeoutMs } as const;
  const answer = await transport
    .send(request)
    .catch((cause: unknown) => {
      const message = `${service} ${kind.action} ${arn}: no answer (from a VPC, an endpoint of ${service} is needed)`;
      throw new ApiError({ status: 0, reason: "ClusterRecord", message, cause });
    })
    .finally(transport.close);
  const found = jsonOf(answer.body) ?? {};
  const { data } = kind.answer.safeParse(found);
  if (answer.status !== 200 || data === undefined) throw refusal(kind, arn, answer.status, found);
  return data;
};
