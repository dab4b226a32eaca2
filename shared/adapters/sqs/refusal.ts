/** Converts errors of SQS into one line that names the queue and what to change. */
import { ApiError } from "../../core/errors.ts";

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
  const told = (reason: string, message: string): ApiError =>
    new ApiError({ status: 0, reason, message: `SQS ${what} ${queue}: ${message}`, cause });
  if (isElsewhere(text))
    return told("QueueElsewhere", "it is in another region than AWS_REGION: correct its URL, or AWS_REGION");
  if (known !== undefined) return told(known.reason, known.text(what));
  if (isOtherKind(text))
    return told("QueueMismatch", `keys need a FIFO queue, timers a standard one; this is the other kind (${text})`);
  return told("QueueUnreachable", text);
};
