/**
 * Amazon's client for SQS, which is loaded with the first request and limited in time and tries for each. An error
 * becomes one line that names the queue and what to change.
 */
import type { SQSClient } from "@aws-sdk/client-sqs";
import { ApiError } from "../../core/http.ts";

type Meaning = { readonly reason: string; readonly text: (what: string) => string };

const missing: Meaning = {
  reason: "QueueMissing",
  text: () => "there is no such queue: create it, or correct its URL",
};
const forbidden: Meaning = {
  reason: "QueueForbidden",
  text: (what) => `no permission: allow sqs:${what} on it to the role that this runs as`,
};
const unknown: Meaning = {
  reason: "QueueForbidden",
  text: () =>
    "AWS does not accept the credentials: give this process a role, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or correct this machine's clock if it is wrong by minutes",
};
const throttled: Meaning = { reason: "QueueThrottled", text: () => "too many requests for it" };
const tooLarge: Meaning = { reason: "QueueRefused", text: () => "the message is larger than the queue takes" };

/** By the error's name, which for some of them is that of SQS's older protocol. */
const meanings: Readonly<Record<string, Meaning>> = {
  QueueDoesNotExist: missing,
  "AWS.SimpleQueueService.NonExistentQueue": missing,
  AccessDenied: forbidden,
  AccessDeniedException: forbidden,
  InvalidClientTokenId: unknown,
  UnrecognizedClientException: unknown,
  SignatureDoesNotMatch: unknown,
  InvalidSignatureException: unknown,
  RequestExpired: unknown,
  ExpiredToken: unknown,
  CredentialsProviderError: unknown,
  RequestThrottled: throttled,
  ThrottlingException: throttled,
  OverLimit: throttled,
  BatchRequestTooLong: tooLarge,
  TimeoutError: { reason: "QueueUnreachable", text: () => "no answer in time" },
  AbortError: { reason: "QueueUnreachable", text: () => "no answer in time" },
};

const firstLine = (text: string): string => text.split("\n")[0]?.slice(0, 300) ?? "";

const nameAndText = (cause: unknown): { readonly name: string; readonly text: string } => {
  if (!(cause instanceof Error)) return { name: "", text: firstLine(String(cause)) };
  const code = "code" in cause ? String(cause.code) : "";
  return { name: cause.name, text: firstLine(cause.message) || code || cause.name };
};

/** True if a FIFO queue was used as a standard queue, or the other way round. */
const isOtherKind = (text: string): boolean => /MessageGroupId|MessageDeduplicationId|FIFO queue/i.test(text);

/** True if the request was signed for another region than the queue's. */
const isElsewhere = (text: string): boolean =>
  /scoped to a valid region|specified queue does not exist.*region/i.test(text);

/** Returns the error to throw. `what` is the SQS action. The error contains nothing of a message. */
export const refusalOf = (what: string, queue: string, cause: unknown): ApiError => {
  if (cause instanceof ApiError) return cause;
  const { name, text } = nameAndText(cause);
  const known = Object.hasOwn(meanings, name) ? meanings[name] : undefined;
  const apiError = (reason: string, message: string): ApiError =>
    new ApiError({ status: 0, reason, message: `SQS ${what} ${queue}: ${message}`, cause });
  if (isElsewhere(text))
    return apiError("QueueElsewhere", "it is in another region than AWS_REGION: correct its URL, or AWS_REGION");
  if (text === "Region is missing") return apiError("QueueElsewhere", "no region: set AWS_REGION");
  if (known !== undefined) return apiError(known.reason, known.text(what));
  if (isOtherKind(text))
    return apiError(
      "QueueMismatch",
      `keys need a FIFO queue, and timers need a standard queue; this is the other kind (${text})`,
    );
  return apiError("QueueUnreachable", text);
};

/** Number of tries of one request, the time limit of one of them, and of all together, ms. */
const tries = 3;
const tryMs = 5_000;
const requestMs = 12_000;
const connectionMs = 1_000;

type RequestLimits = {
  /** Added to the time limits for a long poll, ms. */
  readonly pollMs?: number;
  /** In place of both time limits, ms. */
  readonly withinMs?: number;
};

type Open = { readonly client: SQSClient; readonly sdk: typeof import("@aws-sdk/client-sqs") };

/** The client's options for one request. */
type Limits = { readonly abortSignal: AbortSignal; readonly requestTimeout: number };

/**
 * Calls `ask` with the client and its commands; rejects with one line about `queue`. `what` is the action of SQS that
 * the request needs a right for: a batch needs that of one message.
 */
export type Sqs = <T>(
  what: string,
  queue: string,
  ask: (open: Open, limits: Limits) => Promise<T>,
  patience?: RequestLimits,
) => Promise<T>;

const quiet = (): void => {};

const load = async (): Promise<Open> => {
  const sdk = await import("@aws-sdk/client-sqs");
  const endpoint = process.env["AWS_ENDPOINT_URL_SQS"] ?? process.env["AWS_ENDPOINT_URL"];
  const client = new sdk.SQSClient({
    maxAttempts: tries,
    requestHandler: { connectionTimeout: connectionMs, throwOnRequestTimeout: true },
    // A queue's URL names its endpoint, also one of a VPC. An endpoint in the environment replaces it.
    useQueueUrlAsEndpoint: endpoint === undefined,
    // Otherwise the client prints a warning for each request to an endpoint of a VPC.
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  });
  return { client, sdk };
};

/** Opens the client; nothing is loaded before the first request. */
export const openSqs = (): Sqs => {
  let loading: Promise<Open> | undefined;
  return async (what, queue, ask, { pollMs = 0, withinMs } = {}) => {
    loading ??= load();
    const abortSignal = AbortSignal.timeout(withinMs ?? requestMs + pollMs);
    try {
      return await ask(await loading, { abortSignal, requestTimeout: withinMs ?? tryMs + pollMs });
    } catch (cause) {
      throw refusalOf(what, queue, cause);
    }
  };
};
