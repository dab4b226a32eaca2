/** Calls admission webhooks: mutating ones one after another, then validating ones; denials have the server's words. */

import { apiVersionOf } from "../schema/kinds.ts";
import { jsonPatch } from "../schema/patch.ts";
import { fieldsAt, isFields, itemsAt, numberAt, parsed, textAt } from "../storage/json.ts";
import { type Item, metaOf } from "../storage/metadata.ts";
import { Refusal } from "../storage/refusal.ts";
import { readDraft } from "./body.ts";
import { administrator, nextUid, type Server, userOf, type WriteOptions } from "./request.ts";
import { type Change, type Webhook, webhooksFor } from "./webhooks.ts";

/** Thrown by an `Admit` that does not know the answer yet: the caller gets the answer and repeats the whole request. */
export class Unanswered extends Error {
  override readonly name = "Unanswered";
  readonly webhook: Webhook;
  readonly review: unknown;

  constructor(webhook: Webhook, review: unknown) {
    super(`${webhook.url} has not been called yet`);
    this.webhook = webhook;
    this.review = review;
  }
}

const optionKinds = { CREATE: "CreateOptions", UPDATE: "UpdateOptions", DELETE: "DeleteOptions" } as const;

/** The kind of the body of an eviction, whose resource is pods. */
const evictions = { group: "policy", version: "v1", kind: "Eviction" } as const;

const reviewOf = (server: Server, change: Change, options: WriteOptions): unknown => {
  const { kind, operation, sub, object, old } = change;
  const { group, version, plural } = kind;
  const metadata = (object ?? old)?.metadata;
  const gvk = sub === "eviction" ? evictions : { group, version, kind: kind.kind };
  const gvr = { group, version, resource: plural };
  return {
    kind: "AdmissionReview",
    apiVersion: "admission.k8s.io/v1",
    request: {
      uid: nextUid(server),
      ...{ kind: gvk, resource: gvr, requestKind: gvk, requestResource: gvr },
      ...(sub !== undefined && { subResource: sub, requestSubResource: sub }),
      ...(options.isUnnamed !== true && { name: metadata?.name ?? "" }),
      ...(metadata?.namespace !== undefined && { namespace: metadata.namespace }),
      operation,
      userInfo: options.request === undefined ? administrator : userOf(server, options.request),
      object: object ?? null,
      oldObject: old ?? null,
      dryRun: options.dryRun,
      options: {
        ...{ kind: optionKinds[operation], apiVersion: "meta.k8s.io/v1" },
        ...(options.graceSeconds !== undefined && { gracePeriodSeconds: options.graceSeconds }),
      },
    },
  };
};

const uncalled = ({ name }: Webhook, why: string): Refusal => {
  const message = `failed calling webhook ${JSON.stringify(name)}: ${why}`;
  return new Refusal(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });
};

const denied = ({ name }: Webhook, status: unknown): Refusal => {
  const by = `admission webhook ${JSON.stringify(name)} denied the request`;
  const why = textAt(status, "message") || textAt(status, "reason");
  const code = numberAt(status, "code") ?? 0;
  const causes = itemsAt(status, "details", "causes").filter(isFields);
  return new Refusal(
    Math.max(code, 400),
    textAt(status, "reason") ?? "",
    why ? `${by}: ${why}` : `${by} without explanation`,
    causes.length > 0 ? { causes } : undefined,
  );
};

/** The response of a webhook; undefined when its failure is ignored. */
const responseOf = (server: Server, webhook: Webhook, review: unknown): unknown => {
  try {
    const response = fieldsAt(server.admit?.(webhook, review), "response");
    if (typeof response["allowed"] === "boolean") return response;
    throw new Error("the answer is no AdmissionReview");
  } catch (error) {
    if (error instanceof Unanswered) throw error;
    if (!webhook.fails) return undefined;
    throw uncalled(webhook, `failed to call webhook: ${error instanceof Error ? error.message : error}`);
  }
};

type WebhookAnswer = { readonly response: unknown; readonly warnings: readonly string[] };

const request = (server: Server, webhook: Webhook, change: Change, options: WriteOptions): WebhookAnswer => {
  const response = responseOf(server, webhook, reviewOf(server, change, options));
  if (response !== undefined && fieldsAt(response)["allowed"] !== true)
    throw denied(webhook, fieldsAt(response, "status"));
  const warnings = itemsAt(response, "warnings").filter((item): item is string => typeof item === "string");
  return { response, warnings };
};

/** Applies a webhook's patch to an object: its content, and the metadata that a writer may set. */
const patched = (item: Item, patch: string, { kind }: Change, options: WriteOptions): Item => {
  const after = jsonPatch(item, parsed(Buffer.from(patch, "base64").toString("utf8")));
  const { draft } = readDraft(kind, after, { ...options, strict: "Ignore" }, "whole");
  const { labels, annotations, ownerReferences, finalizers } = draft.metadata;
  const { uid, resourceVersion } = item.metadata;
  const meta = metaOf({ ...item.metadata, labels, annotations, ownerReferences, finalizers });
  return { ...draft, apiVersion: apiVersionOf(kind), metadata: { ...meta, uid, resourceVersion } };
};

export type Admitted = { readonly object: Item; readonly warnings: readonly string[] };

/** The object after all mutating webhooks. */
export const mutated = (
  server: Server,
  change: Change & { readonly object: Item },
  options: WriteOptions,
): Admitted => {
  if (server.admit === undefined) return { object: change.object, warnings: [] };
  const warnings: string[] = [];
  let { object } = change;
  for (const webhook of webhooksFor(server.store, "mutating", change)) {
    const answer = request(server, webhook, { ...change, object }, options);
    warnings.push(...answer.warnings);
    const patch = textAt(answer.response, "patch");
    if (patch !== undefined) object = patched(object, patch, change, options);
  }
  return { object, warnings };
};

/** Calls the validating webhooks. Throws where one refuses; returns their warnings. */
export const validated = (server: Server, change: Change, options: WriteOptions): readonly string[] =>
  server.admit === undefined
    ? []
    : webhooksFor(server.store, "validating", change).flatMap(
        (webhook) => request(server, webhook, change, options).warnings,
      );
