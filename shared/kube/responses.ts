/** Reads the answers of an API server: an object, a page of a list, or an error. */
import { ApiError, type HttpResponse } from "../core/http.ts";
import { isRecord, jsonOf } from "../core/json.ts";
import type { Metadata, Stored } from "../core/object.ts";
import { withFeature } from "./resources.ts";

export type Json = Readonly<Record<string, unknown>>;

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

type Identity = Metadata & { readonly uid: string; readonly resourceVersion: string };

const isIdentity = (metadata: unknown): metadata is Identity =>
  isRecord(metadata) &&
  isText(metadata["name"]) &&
  isText(metadata["uid"]) &&
  isText(metadata["resourceVersion"]) &&
  (metadata["ownerReferences"] === undefined || Array.isArray(metadata["ownerReferences"]));

/**
 * True for an object with an identity: the server filled in UID and resourceVersion. Written by hand, because it runs
 * for every object read.
 */
export const isStored = (value: unknown): value is Stored =>
  isRecord(value) && isText(value["apiVersion"]) && isText(value["kind"]) && isIdentity(value["metadata"]);

const badAnswer = (where: string, what: string, cause?: unknown): ApiError =>
  new ApiError({ status: 0, reason: "BadAnswer", message: `${where}: the answer is not ${what}`, cause });

/** True for a text that may be a JSON object. A long text of brackets takes the parser fifteen times as long. */
const isObject = (text: string): boolean => /^\s*\{/.test(text);

const parse = (response: HttpResponse): unknown => {
  if (response.json !== undefined) return response.json();
  return isObject(response.body) ? jsonOf(response.body) : undefined;
};

/** Returns the milliseconds that a Retry-After header asks for, given in seconds or as a date. */
const retryAfterOf = (response: HttpResponse): number | undefined => {
  const header = response.headers["retry-after"];
  if (header === undefined) return undefined;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const until = Date.parse(header) - dateOf(response);
  return Number.isFinite(until) ? Math.max(0, until) : undefined;
};

/** Returns the server's clock when it answered, epoch ms; NaN if the answer has no date. */
export const dateOf = (response: { readonly headers: Readonly<Record<string, string>> }): number =>
  Date.parse(response.headers["date"] ?? "");

const reasons: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  410: "Expired",
  413: "RequestEntityTooLarge",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** Returns the name that a Status is about, if it has one. */
const subjectOf = (status: Json): unknown => (isRecord(status["details"]) ? status["details"]["name"] : undefined);

const notServed = (where: string): string =>
  `${where}: the server does not serve this resource (is its CRD installed?)`;

/** Returns the error of an answer other than 2xx. */
export const errorOf = (where: string, response: HttpResponse): ApiError => {
  const parsed = parse(response);
  const status = isRecord(parsed) && parsed["kind"] === "Status" ? parsed : undefined;
  const reason = isText(status?.["reason"]) ? status["reason"] : (reasons[response.status] ?? "Unknown");
  const text = isText(status?.["message"]) ? status["message"] : response.body.trim().slice(0, 500);
  const nobody = response.status === 404 && (status === undefined || !isText(subjectOf(status)));
  const retryAfterMs = retryAfterOf(response);
  return new ApiError({
    status: response.status,
    reason,
    message: nobody
      ? notServed(where)
      : `${where}: ${text === "" ? `HTTP ${response.status}` : response.status === 403 ? withFeature(text) : text}`,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
};

/** True if the answer says that the object of this name does not exist; any other 404 says nothing about it. */
export const saysGone = (response: HttpResponse, name: string): boolean => {
  if (response.status !== 404) return false;
  const status = parse(response);
  return isRecord(status) && status["reason"] === "NotFound" && subjectOf(status) === name;
};

/** Returns the JSON of a successful answer; throws `ApiError` for any other. */
export const bodyOf = (where: string, response: HttpResponse): Json => {
  if (response.status < 200 || response.status > 299) throw errorOf(where, response);
  const value = parse(response);
  if (!isRecord(value)) throw badAnswer(where, "a JSON object");
  return value;
};

/** Returns the object of a successful answer; throws `ApiError` for any other. */
export const storedOf = (where: string, response: HttpResponse): Stored => {
  const value = bodyOf(where, response);
  if (!isStored(value)) throw badAnswer(where, "an object with an identity");
  return value;
};

/** One page of a list. */
export type Page = {
  readonly items: readonly Stored[];
  readonly resourceVersion: string;
  /** The token that continues the list; undefined on its last page. */
  readonly next: string | undefined;
};

const isTyped = ({ apiVersion, kind }: Json): boolean => apiVersion !== undefined && kind !== undefined;

/** Returns the page of a successful answer, with `apiVersion` and `kind` in the items, where servers omit them. */
export const pageOf = (
  where: string,
  response: HttpResponse,
  type: { readonly apiVersion: string; readonly kind: string },
): Page => {
  const value = bodyOf(where, response);
  const { metadata, items } = value;
  if (!isRecord(metadata) || !(Array.isArray(items) || items === null || items === undefined)) {
    throw badAnswer(where, "a list");
  }
  const typed = (items ?? []).map((item: unknown) => (isRecord(item) && !isTyped(item) ? { ...type, ...item } : item));
  if (!typed.every(isStored)) throw badAnswer(where, "a list of objects with an identity");
  const { resourceVersion, continue: next } = metadata;
  return {
    items: typed,
    resourceVersion: isText(resourceVersion) ? resourceVersion : "",
    next: isText(next) ? next : undefined,
  };
};
