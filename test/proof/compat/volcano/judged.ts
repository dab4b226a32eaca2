/** Compares validation and defaults at admission with the recorded answers of upstream's webhooks. */
import { withoutNulls } from "../../../../shared/core/json.ts";
import type { AdmissionRequest, AdmittedObject, Verdict } from "../../../../shared/kube/admission.ts";
import { judgedBy, type RelatedObjects } from "../../../../shared/volcano/admission/review.ts";
import { queuePatch } from "../../../../shared/volcano/admission/scheduler-kinds.ts";
import { type JobSpec, specSchema } from "../../../../shared/volcano/schema/spec.ts";
import { type Difference, differences, isRecord, type Json } from "../compare.ts";
import { listIn, recordIn, textIn } from "./rows.ts";

export const specOf = (job: Json): JobSpec => specSchema.parse(withoutNulls(job["spec"] ?? {}));

const queue = (name: string, state = "Open", parent = ""): AdmittedObject => ({
  metadata: { name },
  spec: { parent },
  status: { state },
});

/** The queues of upstream's test of jobs, which its rows do not contain. */
const queues: readonly AdmittedObject[] = [
  queue("default"),
  queue("root"),
  queue("parentQueue"),
  queue("childQueue", "Open", "parentQueue"),
];

/** Sorts lists that Go prints in the order of a hash table, and errors that it finds in such an order. */
const listed = (text: string): string => {
  const words = text.replace(
    /(valid (?:events|actions) are )\[([^\]]*)\]/g,
    (_, told, inner: string) => `${told}[${inner.split(" ").sort().join(" ")}]`,
  );
  const several = /^\[(requestBody\..*)\]$/s.exec(words)?.[1];
  return several === undefined
    ? words
    : several
        .split(/, (?=requestBody\.)/)
        .sort()
        .join("; ");
};

const told = (verdict: Verdict): Json => ({
  allowed: verdict.allowed,
  message: verdict.allowed ? "" : listed(verdict.message),
});

const recorded = (allowed: unknown, message: unknown): Json => ({
  allowed: allowed === true,
  message: listed(`${message ?? ""}`.trim()),
});

const isObject = (value: unknown): value is AdmittedObject => isRecord(value) && isRecord(value["metadata"]);

const objectOf = (value: unknown): AdmittedObject => (isObject(value) ? value : { metadata: {} });

const jobKind = { group: "batch.volcano.sh", version: "v1alpha1", kind: "Job" };

const ofJob = (operation: string, row: Json, now: string, before?: string): Difference[] => {
  const request: AdmissionRequest = {
    ...{ uid: "review", kind: jobKind, operation, object: objectOf(row[now]) },
    oldObject: before === undefined ? undefined : objectOf(row[before]),
  };
  return [...differences(told(judgedBy(request, { queues })), recorded(row["allowed"], row["message"]))];
};

export const created = (row: Json): readonly Difference[] => ofJob("CREATE", row, "job");

export const changed = (row: Json): readonly Difference[] => ofJob("UPDATE", row, "new", "old");

const requestIn = (row: Json): AdmissionRequest => {
  const request = recordIn(row, "request");
  const kind = recordIn(request, "kind");
  const { oldObject } = request;
  return {
    uid: "review",
    kind: { group: textIn(kind, "group"), version: textIn(kind, "version"), kind: textIn(kind, "kind") },
    ...(request["name"] === undefined ? {} : { name: textIn(request, "name") }),
    operation: textIn(request, "operation"),
    object: objectOf(request["object"]),
    ...(isObject(oldObject) ? { oldObject } : {}),
  };
};

const saidIn = (row: Json): Json => {
  const response = recordIn(row, "response");
  return recorded(response["allowed"], recordIn(response, "status")["message"]);
};

export const queueJudged = (row: Json): readonly Difference[] =>
  differences(told(judgedBy(requestIn(row), { queues: listIn(row, "queues").map(objectOf) })), saidIn(row));

/** Derives the queue of a PodGroup row, which does not contain it, from the recorded message. */
const queueToldIn = (row: Json): RelatedObjects => {
  const message = textIn(recordIn(recordIn(row, "response"), "status"), "message");
  const name = textIn(recordIn(recordIn(recordIn(row, "request"), "object"), "spec"), "queue");
  if (message.includes(`"${name}" not found`)) return { queues: [] };
  return { queues: [queue(name, /status is `([^`]*)`/.exec(message)?.[1] ?? "Open")] };
};

export const groupJudged = (row: Json): readonly Difference[] =>
  differences(told(judgedBy(requestIn(row), queueToldIn(row))), saidIn(row));

const patchIn = (row: Json): unknown => {
  const { patch } = recordIn(row, "response");
  return typeof patch === "string" ? JSON.parse(Buffer.from(patch, "base64").toString()) : [];
};

/** Returns a patch as values by path: `replace` and `add` are equal. */
const writes = (patch: unknown): Json =>
  Object.fromEntries((Array.isArray(patch) ? patch : []).filter(isRecord).map(({ path, value }) => [`${path}`, value]));

export const queueMutated = (row: Json): readonly Difference[] => {
  const { operation, object } = requestIn(row);
  const { message } = saidIn(row);
  if (operation !== "CREATE") return differences({ operation, allowed: false }, { operation, allowed: message === "" });
  return differences(writes(queuePatch(objectOf(object))), writes(patchIn(row)));
};
