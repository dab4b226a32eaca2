/** Admission webhooks that scenarios register: the same answers for the simulator and, by HTTPS, the real server. */
import { readFileSync } from "node:fs";
import { createServer } from "node:https";

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;

const fieldsAt = (value: unknown, key: string): Fields => {
  const found = isFields(value) ? value[key] : undefined;
  return isFields(found) ? found : {};
};

/** Summarises a review without the fields that differ between servers. */
const summaryOf = (asked: Fields): string => {
  const { kind, resource, subResource, name, namespace, operation, dryRun, object, oldObject } = asked;
  const has = { object: object !== null, old: oldObject !== null };
  const { kind: options } = fieldsAt(asked, "options");
  return JSON.stringify({ kind, resource, subResource, name, namespace, operation, dryRun, has, options });
};

const patch = (...operations: readonly unknown[]) => ({
  allowed: true,
  patchType: "JSONPatch",
  patch: Buffer.from(JSON.stringify(operations)).toString("base64"),
});

const labels = (asked: Fields): Fields => fieldsAt(fieldsAt(fieldsAt(asked, "object"), "metadata"), "labels");

const responses: Readonly<Record<string, (asked: Fields) => object>> = {
  "/allow": () => ({ allowed: true }),
  "/warn": () => ({ allowed: true, warnings: ["mind the gap"] }),
  "/deny": () => ({ allowed: false, status: { message: "not today", reason: "Forbidden", code: 403 } }),
  "/deny-plainly": () => ({ allowed: false }),
  "/deny-for-a-reason": () => ({ allowed: false, status: { reason: "Because" } }),
  "/echo": (asked) => ({ allowed: false, status: { message: summaryOf(asked), code: 418 } }),
  "/label": (asked) =>
    patch({ op: "add", path: "/metadata/labels", value: { ...labels(asked), seen: String(asked["operation"]) } }),
  "/second": (asked) => patch({ op: "add", path: "/metadata/labels/second", value: String(labels(asked)["seen"]) }),
  "/invalid": () => patch({ op: "add", path: "/metadata/labels", value: { "a b": "c" } }),
};

const ring = "/ring/";

/** The reviews at paths that only note them, by the path. */
const rung = new Map<string, unknown[]>();

/** Returns the reviews that have come to such a path since the last call. */
export const rungAt = (path: string): readonly unknown[] => {
  const reviews = rung.get(path) ?? [];
  rung.delete(path);
  return reviews;
};

const noted = (path: string, review: unknown): object => {
  rung.set(path, [...(rung.get(path) ?? []), review]);
  return { allowed: true };
};

/** Returns the answer of the webhook at a path; undefined if the path has no webhook. */
export const answerTo = (path: string, review: unknown): unknown => {
  const asked = fieldsAt(review, "request");
  const response = path.startsWith(ring) ? noted(path, review) : responses[path]?.(asked);
  if (response === undefined) return undefined;
  return { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: { uid: asked["uid"], ...response } };
};

export type Hooks = { readonly url: string; readonly caBundle: string; close(): void };

export type Certificate = { readonly cert: string; readonly key: string; readonly ca: string };

/** Serves the webhooks on a free port of loopback. */
export const serveHooks = async ({ cert, key, ca }: Certificate): Promise<Hooks> => {
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, async (asked, answer) => {
    const body: unknown = JSON.parse((await asked.setEncoding("utf8").toArray()).join(""));
    const found = answerTo((asked.url ?? "").split("?")[0] ?? "", body);
    answer.writeHead(found === undefined ? 404 : 200, { "content-type": "application/json" });
    answer.end(JSON.stringify(found ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `https://127.0.0.1:${port}`,
    caBundle: readFileSync(ca).toString("base64"),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
