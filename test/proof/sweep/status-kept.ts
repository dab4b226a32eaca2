/**
 * S1. The API server keeps every field of a status that a step writes: a CRD that lacks one drops it in silence, and no
 * decision misses it.
 */
import type { HttpRequest, HttpResponse } from "../../../shared/core/http.ts";
import { at } from "./fields.ts";

/** The places of what was written, and is not there. */
const lost = (written: unknown, stored: unknown, path: string): readonly string[] => {
  if (written === null || written === undefined) return [];
  if (typeof written !== "object") return stored === undefined ? [path] : [];
  if (typeof stored !== "object" || stored === null) return [path];
  return Object.entries(written).flatMap(([key, value]) => lost(value, at(stored, key), `${path}.${key}`));
};

/** The fields that the answer to a write of a status lacks, as violations. */
export const droppedBy = (request: HttpRequest, answer: HttpResponse): readonly string[] => {
  if (request.method !== "PATCH" || !/\/status(?:\?|$)/.test(request.path) || answer.status >= 400) return [];
  const written = at(JSON.parse(request.body ?? "{}"), "status");
  const fields = lost(written, at(JSON.parse(answer.body), "status"), "status");
  return fields.map((field) => `S1: ${request.path} lost ${field.replaceAll(/\.\d+\b/g, ".*")}`);
};
