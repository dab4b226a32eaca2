/**
 * The OpenAPI 3.1 document, generated from the schemas of requests and answers. It is generated at build time, never at
 * run time.
 */
import * as z from "zod";
import { fieldsOf } from "../core/json.ts";
import { forbidden, unauthorized } from "./callers.ts";
import {
  accepted,
  detail,
  executors,
  listQuery,
  losses,
  page,
  refusal,
  type ShownKinds,
  taken,
  updates,
} from "./read-schemas.ts";

type Json = Readonly<Record<string, unknown>>;

const schemas = { accepted, taken, page, detail, executors, losses, updates, refusal } as const;
type Name = keyof typeof schemas;

const schemaOf = (schema: z.ZodType, io: "input" | "output" = "output"): Json => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: "draft-2020-12", io });
  return rest;
};

const content = (name: Name): Json => ({
  "application/json": { schema: { $ref: `#/components/schemas/${name}` } },
});

const refusals: Readonly<Record<string, string>> = {
  "400": "this path does not accept this request",
  "401": unauthorized,
  "403": forbidden,
  "404": "not found, or switched off",
  "413": "the body is too large",
  "429": "too many requests; `Retry-After` has the seconds to wait",
};

const answers = (status: string, name: Name, description: string): Json => ({
  [status]: { description, content: content(name) },
  ...Object.fromEntries(
    Object.entries(refusals).map(([code, why]) => [code, { description: why, content: content("refusal") }]),
  ),
});

const parameter = (name: string): Json => ({ name, in: "path", required: true, schema: { type: "string" } });
const named = ["kind", "namespace", "name"].map(parameter);

const filters = (kinds: ShownKinds, without: readonly string[] = []): readonly Json[] => {
  const { properties = {} } = schemaOf(listQuery(kinds), "input");
  return Object.entries(fieldsOf(properties))
    .filter(([name]) => !without.includes(name))
    .map(([name, schema]) => ({ name, in: "query", required: false, schema }));
};

const anyJson = (...types: readonly string[]): Json => ({
  required: true,
  content: Object.fromEntries(types.map((type) => [type, { schema: { type: ["object", "array"] } }])),
});

const get = (operationId: string, summary: string, parameters: readonly Json[], name: Name): Json => ({
  get: { operationId, summary, tags: ["read"], parameters, responses: answers("200", name, summary) },
});

const about = (operationId: string, summary: string, name: Name): Json => get(operationId, summary, named, name);

const one = "/applications/{kind}/{namespace}/{name}";

const posts: Json = {
  "/reconcile/{kind}/{namespace}/{name}": {
    post: {
      operationId: "reconcile",
      summary:
        "Requests a step of one object; a signature or Idempotency-Key that is repeated within five minutes counts once",
      tags: ["trigger"],
      parameters: named,
      requestBody: { required: false, content: { "*/*": { schema: {} } } },
      responses: answers("202", "accepted", "the key is on the queue"),
    },
  },
  "/alerts": {
    post: {
      operationId: "alerts",
      summary:
        "Alertmanager's webhook, version 4: a step of each object that an alert's labels name, or a notice of a node",
      tags: ["trigger"],
      requestBody: anyJson("application/json"),
      responses: answers("202", "taken", "the keys that are on the queue, and what was passed over"),
    },
  },
  "/events": {
    post: {
      operationId: "events",
      summary: "CloudEvents 1.0 in binary and structured mode and in batches, and EventBridge's events of EC2 machines",
      tags: ["trigger"],
      requestBody: anyJson("application/cloudevents+json", "application/cloudevents-batch+json", "application/json"),
      responses: answers("202", "taken", "the keys that are on the queue, and what was passed over"),
    },
  },
  "/acknowledge/{kind}/{namespace}/{name}": {
    post: {
      operationId: "acknowledge",
      summary:
        "A listener acknowledges a status update: the body is its id, the signature made with the listener's own key",
      tags: ["listener"],
      parameters: [
        ...named,
        { name: "x-rekindle-listener", in: "header", required: true, schema: { type: "string", format: "uri" } },
      ],
      security: [{ signature: [], timestamp: [] }],
      requestBody: { required: true, content: { "text/plain": { schema: { type: "string" } } } },
      responses: answers(
        "202",
        "accepted",
        "the acknowledgement is on the queue; the delivery of the update decides whether it is valid",
      ),
    },
  },
};

const readsOf = (kinds: ShownKinds): Json => ({
  "/applications": get("list", "Objects of one kind, a page at a time", filters(kinds), "page"),
  "/jobs": get("jobs", "Volcano's jobs: /applications with kind=Job", filters(kinds, ["kind"]), "page"),
  [one]: about("get", "One object: its state, what it waits for, what to do", "detail"),
  [`${one}/executors`]: about("executors", "The executors that it has now", "executors"),
  [`${one}/losses`]: about("losses", "The executors that its newest run lost, and why", "losses"),
  [`${one}/updates`]: about("updates", "Status updates that are not acknowledged", "updates"),
});

export const openApi = (version: string, kinds: ShownKinds): Json => ({
  openapi: "3.1.0",
  info: {
    title: "Rekindle",
    version,
    description: "Triggers and a read API for batch applications on Kubernetes.",
    license: { name: "Apache-2.0", identifier: "Apache-2.0" },
  },
  servers: [{ url: "/" }],
  security: [{ signature: [], timestamp: [] }, { token: [] }],
  paths: { ...posts, ...readsOf(kinds) },
  components: {
    schemas: Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, schemaOf(schema)])),
    securitySchemes: {
      signature: {
        ...{ type: "apiKey", in: "header", name: "x-rekindle-signature" },
        description: "sha256=HEX: HMAC-SHA256 over timestamp, method, path with its query, and body, a line each",
      },
      timestamp: {
        ...{ type: "apiKey", in: "header", name: "x-rekindle-timestamp" },
        description: "Epoch seconds, 270 old and 30 ahead of the server at most",
      },
      token: { type: "http", scheme: "bearer", description: "A caller's token, or one of its identity provider" },
    },
  },
});
