/** A transport that answers from a script and keeps the requests. */
import type { HttpRequest, HttpResponse, Transport } from "../../../../shared/core/http.ts";
import type { Stored } from "../../../../shared/core/object.ts";

export type Reply = { readonly status?: number; readonly body?: unknown; readonly headers?: Record<string, string> };

export const date = "Mon, 02 Nov 2026 08:00:00 GMT";

/** Answers each request with the next reply; the last one answers all that follow. */
export const scripted = (...replies: readonly Reply[]): Transport & { readonly asked: HttpRequest[] } => {
  const asked: HttpRequest[] = [];
  const send = async (request: HttpRequest): Promise<HttpResponse> => {
    const reply = replies[Math.min(asked.length, replies.length - 1)] ?? {};
    asked.push(request);
    const { body = {}, status = 200, headers = {} } = reply;
    return { status, headers: { date, ...headers }, body: typeof body === "string" ? body : JSON.stringify(body) };
  };
  const stream: Transport["stream"] = () => Promise.reject(new Error("no streams here"));
  return { asked, send, stream };
};

export const pods = { group: "", version: "v1", plural: "pods", kind: "Pod" } as const;
export const apps = {
  group: "sparkoperator.k8s.io",
  version: "v1beta2",
  plural: "sparkapplications",
  kind: "SparkApplication",
} as const;

export const pod = (name: string, uid = `uid-${name}`, resourceVersion = "1"): Stored => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "ns", uid, resourceVersion },
});

/** Returns a Status as the API server writes it. */
export const refusal = (code: number, reason: string, name?: string, message = reason): Reply => ({
  status: code,
  body: { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message, details: { name, kind: "pods" } },
});
