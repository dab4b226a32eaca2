/**
 * Calls to SQS, limited in time and tries for each request; an error becomes one line that names the queue and what to
 * change.
 */
import { ApiError } from "../../core/http.ts";
import type { Calls, Signer } from "../aws/calls.ts";

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
    "no valid AWS credentials: give this a role, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; a clock that is off by minutes looks the same",
};
const throttled: Meaning = { reason: "QueueThrottled", text: () => "too many requests for it" };
const tooLarge: Meaning = { reason: "QueueRefused", text: () => "the message is larger than the queue takes" };

/** By the error's name in either of SQS's two protocols. */
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
  if (known !== undefined) return apiError(known.reason, known.text(what));
  if (isOtherKind(text))
    return apiError(
      "QueueMismatch",
      `keys need a FIFO queue, and timers need a standard queue; this is the other kind (${text})`,
    );
  return apiError("QueueUnreachable", text);
};

/** Time limit of one try, and of all tries of one request together, ms. */
const tryMs = 5_000;
const requestMs = 12_000;

type RequestLimits = {
  /** Added to the time limits for a long poll, ms. */
  readonly pollMs?: number;
  /** In place of both time limits, ms. */
  readonly withinMs?: number;
};

/** Sends a request about `queue`, and returns its answer; rejects with one line about the queue. */
export type Sqs = (
  action: string,
  queue: string,
  input: object,
  patience?: RequestLimits,
) => Promise<Readonly<Record<string, unknown>>>;

/** Returns the signer of the AWS client, which finds credentials and region where no variable has them. */
const clientSigner = async (): Promise<Signer> => {
  const { SQSClient } = await import("@aws-sdk/client-sqs");
  const { config } = new SQSClient({});
  return { credentials: config.credentials, region: config.region };
};

/** Opens the calls; nothing is loaded before the first request. */
export const openSqs = (): Sqs => {
  let loading: Promise<Calls> | undefined;
  const load = async (): Promise<Calls> => {
    const { openCalls } = await import("../aws/calls.ts");
    return openCalls({ name: "sqs", target: "AmazonSQS", client: clientSigner, env: process.env });
  };
  return async (action, queue, input, { pollMs = 0, withinMs } = {}) => {
    const limits = { tryMs: withinMs ?? tryMs + pollMs, callMs: withinMs ?? requestMs + pollMs };
    loading ??= load();
    try {
      const calls = await loading;
      return await calls({ action, endpoint: queue, input: { QueueUrl: queue, ...input }, ...limits });
    } catch (cause) {
      // A right is named after the action of one message, also where a request has ten.
      throw refusalOf(action.replace(/Batch$/, ""), queue, cause);
    }
  };
};
