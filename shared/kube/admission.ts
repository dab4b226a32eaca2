/** AdmissionReview, version 1: the request of the API server to a webhook, and the answer. */
import * as z from "zod";
import { isTooMuch, same } from "../core/json.ts";
import { isRecord } from "./responses.ts";

const object = z.looseObject({
  metadata: z.looseObject({
    name: z.string().optional(),
    generateName: z.string().optional(),
    namespace: z.string().optional(),
  }),
});

const review = z.object({
  apiVersion: z.literal("admission.k8s.io/v1"),
  kind: z.literal("AdmissionReview"),
  request: z.object({
    uid: z.string().min(1),
    kind: z.object({ group: z.string(), version: z.string(), kind: z.string() }),
    name: z.string().optional(),
    namespace: z.string().optional(),
    operation: z.string(),
    object: object.nullish(),
    oldObject: object.nullish(),
  }),
});

export type AdmissionRequest = z.infer<typeof review>["request"];
export type AdmittedObject = z.infer<typeof object>;

/** The name of an object, also one that is still to be generated, and its namespace. */
export type Named = { readonly name: string; readonly namespace: string };

/** The findings about one object: errors that forbid it, and warnings to its writer. */
export type Judgement = {
  /** Each names the field and what to change; empty when it may be stored. */
  readonly broken: readonly string[];
  readonly warnings: readonly string[];
};

/** Returns the form of a generated name: the API server appends 5 characters to the first 58. */
const generated = (base: string): string => `${base.slice(0, 58)}xxxxx`;

export const namedAs = ({ metadata }: AdmittedObject, { namespace }: AdmissionRequest): Named => ({
  name: metadata.name ?? generated(metadata.generateName ?? ""),
  namespace: metadata.namespace ?? namespace ?? "default",
});

/** True if an update leaves the spec as it is: labels of an invalid object may be corrected, and it may be deleted. */
export const isSameSpec = ({ operation, object, oldObject }: AdmissionRequest): boolean =>
  operation === "UPDATE" &&
  ![object, oldObject].some((one) => isTooMuch(one?.["spec"])) &&
  same(object?.["spec"], oldObject?.["spec"]);

/** The label of executor pods whose memory limit admission writes, and the annotation that holds the limit. */
export const memoryLimitMark = "rekindle.dev/memory-limit";

/** An operation of RFC 6902, as far as defaults need it. */
export type PatchOperation = { readonly op: "add" | "replace"; readonly path: string; readonly value: unknown };

export type Verdict =
  | {
      readonly allowed: true;
      readonly patch: readonly PatchOperation[];
      /** Shown to the writer, although the object is stored. */
      readonly warnings: readonly string[];
    }
  | { readonly allowed: false; readonly message: string };

/** Returns the request of a review; undefined for anything else, other versions of it included. */
export const readReview = (given: unknown): AdmissionRequest | undefined => review.safeParse(given).data?.request;

/** The API server cuts a longer warning itself, in the middle of a word. */
const longestWarning = 256;
const longestMessage = 4_096;

/** Shortens a text to one line that a header can carry. */
const shortened = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length <= longestWarning ? line : `${line.slice(0, longestWarning - 1)}…`;
};

const base64 = (text: string): string => Buffer.from(text, "utf8").toString("base64");

/** Allows the request without patch and warnings. */
export const pass: Extract<Verdict, { allowed: true }> = { allowed: true, patch: [], warnings: [] };

export const verdictOf = ({ broken, warnings }: Judgement): Verdict =>
  broken.length > 0 ? { allowed: false, message: broken.join("; ") } : { ...pass, warnings };

/** Returns the review with the verdict. */
export const answerTo = ({ uid }: AdmissionRequest, verdict: Verdict): unknown => {
  const answer = verdict.allowed
    ? {
        allowed: true,
        ...(verdict.patch.length === 0 ? {} : { patchType: "JSONPatch", patch: base64(JSON.stringify(verdict.patch)) }),
        ...(verdict.warnings.length === 0 ? {} : { warnings: verdict.warnings.map(shortened) }),
      }
    : { allowed: false, status: { code: 422, reason: "Invalid", message: verdict.message.slice(0, longestMessage) } };
  return { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: { uid, ...answer } };
};

const pointer = (path: string, key: string): string => `${path}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;

/** Returns the operations that give `from` all fields of `to`; other fields of `from` stay. */
export const additions = (from: unknown, to: unknown, path: string): readonly PatchOperation[] => {
  if (!isRecord(from) || !isRecord(to))
    return JSON.stringify(from) === JSON.stringify(to) ? [] : [{ op: "replace", path, value: to }];
  return Object.entries(to).flatMap(([key, value]): readonly PatchOperation[] => {
    if (value === undefined) return [];
    const at = pointer(path, key);
    return Object.hasOwn(from, key) ? additions(from[key], value, at) : [{ op: "add", path: at, value }];
  });
};
