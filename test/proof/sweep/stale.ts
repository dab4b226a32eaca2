/** Reads answered from the past, as by an API server that is behind the others. */
import type { HttpRequest, HttpResponse } from "../../../shared/core/http.ts";
import type { Simulator } from "../../../shared/simulator/open.ts";
import { placeOf, refusal } from "./fault-answers.ts";

const fieldOf = (name: string): string => `fieldSelector=${encodeURIComponent(`metadata.name=${name}`)}`;

/** The collection at an earlier revision, by the API's own exact reads. */
const listAt = (simulator: Simulator, request: HttpRequest, path: string, back: number): HttpResponse => {
  const revision = Math.max(1, simulator.store.revision() - back);
  const mark = path.includes("?") ? "&" : "?";
  return simulator.handle({ ...request, path: `${path}${mark}resourceVersion=${revision}&resourceVersionMatch=Exact` });
};

const itemsIn = (body: string): readonly Record<string, unknown>[] => {
  const { items } = JSON.parse(body) as { items?: readonly Record<string, unknown>[] };
  return items ?? [];
};

export const staleAnswer = (simulator: Simulator, request: HttpRequest, back: number): HttpResponse => {
  const { name } = placeOf(request.path);
  if (name === undefined) return listAt(simulator, request, request.path, back);
  const collection = request.path.slice(0, request.path.lastIndexOf(`/${name}`));
  const listed = listAt(simulator, request, `${collection}?${fieldOf(name)}`, back);
  const [item] = itemsIn(listed.body);
  const now = simulator.clock.now();
  if (item === undefined)
    return refusal(request, { code: 404, reason: "NotFound", message: `"${name}" not found` }, now);
  const { apiVersion, kind } = JSON.parse(listed.body) as { apiVersion: string; kind: string };
  const { status, headers } = listed;
  return { status, headers, body: JSON.stringify({ apiVersion, kind: kind.replace(/List$/, ""), ...item }) };
};
