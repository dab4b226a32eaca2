/**
 * Signed JSON calls to a service of AWS over kept-alive connections, without an AWS client, whose import is a third of a
 * function's cold start. Credentials and region are those of the environment; where they are not in it, the client finds
 * them in a profile, a pod's identity or an instance's role.
 */
import { ApiError } from "../../core/http.ts";
import { fieldsOf, jsonOf } from "../../core/json.ts";
import { type ClosableTransport, httpsTransport } from "../kubernetes/https.ts";
import { type Credentials, type Environment, signedHeaders } from "./signature.ts";

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
