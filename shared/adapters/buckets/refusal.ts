/** A refusal of an object store as one line that names the object and what to change. */
import { ApiError } from "../../core/errors.ts";

type Failure = { readonly name: string; readonly code: string; readonly status: number; readonly text: string };

type Meaning = {
  readonly when: (failure: Failure) => boolean;
  readonly reason: string;
  readonly say: (scheme: string) => string;
};

const rights = { s3: "s3:GetObject, s3:ListBucket and s3:PutObject", gs: "storage.objects.get and .create" } as const;

const unknownNames = [
  "CredentialsProviderError",
  "InvalidAccessKeyId",
  "SignatureDoesNotMatch",
  "ExpiredToken",
  "InvalidToken",
];
const brokenCodes = ["ECONNREFUSED", "ECONNRESET", "ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT"];

const meanings: readonly Meaning[] = [
  {
    when: ({ name, status, text }) =>
      unknownNames.includes(name) || status === 401 || /default credentials|Could not load credentials/.test(text),
    reason: "StoreForbidden",
    say: (scheme) =>
      `no valid credentials: set ${scheme === "s3" ? "AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY" : "GOOGLE_APPLICATION_CREDENTIALS"}`,
  },
  {
    when: ({ status }) => status === 403,
    reason: "StoreForbidden",
    say: (scheme) => `no permission: ${rights[scheme === "s3" ? "s3" : "gs"]} on this bucket are needed`,
  },
  {
    when: ({ status, name, text }) => status === 301 || name === "PermanentRedirect" || /Region is missing/.test(text),
    reason: "StoreElsewhere",
    say: () => "the bucket is in another region: name it with --upload-to-region",
  },
  { when: ({ status }) => status === 404, reason: "StoreMissing", say: () => "there is no such bucket" },
  {
    when: ({ code, name }) => brokenCodes.includes(code) || ["TimeoutError", "AbortError"].includes(name),
    reason: "StoreUnreachable",
    say: () => "no answer: is the endpoint right, and is it up",
  },
];

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;

/** Reads the fields of an SDK's error: S3's SDK has the status in `$metadata`, Google's as a number in `code`. */
const failureOf = (cause: unknown): Failure => {
  const [code, metadata] = [fieldOf(cause, "code"), fieldOf(cause, "$metadata")];
  return {
    name: cause instanceof Error ? cause.name : "",
    code: String(code ?? ""),
    status: Number(fieldOf(metadata, "httpStatusCode") ?? (typeof code === "number" ? code : 0)),
    text: cause instanceof Error ? (cause.message.split("\n")[0]?.slice(0, 300) ?? "") : String(cause),
  };
};

export const statusOf = (cause: unknown): number => failureOf(cause).status;

/** Returns the error to throw; `url` is the object's. */
export const refusalOf = (scheme: "s3" | "gs", url: string, cause: unknown): ApiError => {
  if (cause instanceof ApiError) return cause;
  const failure = failureOf(cause);
  const meaning = meanings.find(({ when }) => when(failure));
  const reason = meaning?.reason ?? "StoreRefused";
  const text = meaning?.say(scheme) ?? (failure.text || failure.name);
  return new ApiError({ status: failure.status, reason, message: `${url}: ${text}`, cause });
};
