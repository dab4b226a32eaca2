/** Answers of a fault in the server's place: refusals in the API's own form, and silence. */
import { ApiError, type HttpRequest, type HttpResponse } from "../../../shared/core/http.ts";

const apiPath =
  /^\/(?:api\/[^/]+|apis\/([^/]+)\/[^/]+)(?:\/namespaces\/([^/?]+))?(?:\/([^/?]+))?(?:\/([^/?]+))?(?:\/([^/?]+))?/;

export type Place = {
  readonly group: string;
  readonly namespace: string | undefined;
  readonly plural: string;
  readonly name: string | undefined;
  readonly sub: string | undefined;
};

/** The parts of a request's path. */
export const placeOf = (path: string): Place => {
  const [, group = "", namespace, plural = "", name, sub] = apiPath.exec(path) ?? [];
  return { group, namespace, plural, name, sub };
};

/** A request in two words: `LIST pods`, `PATCH sparkapplications/status`. */
export const wordsFor = ({ method, path }: HttpRequest): string => {
  const { plural, name, sub } = placeOf(path);
  const verb = method === "GET" && name === undefined ? "LIST" : method;
  return `${verb} ${plural}${sub === undefined ? "" : `/${sub}`}`;
};

export type Refusing = {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly retryAfter?: number;
  /** The answer names no object: the server does not know the requested resource. */
  readonly anonymous?: boolean;
};

/** A Status as the server writes it; NotFound and AlreadyExists name the object. */
export const refusal = (request: HttpRequest, refusing: Refusing, now: number): HttpResponse => {
  const { code, reason, message, retryAfter, anonymous = false } = refusing;
  const { group, plural, name } = placeOf(request.path);
  const named = reason === "NotFound" && !anonymous ? name : undefined;
  const details = {
    ...(named === undefined ? {} : { name: named }),
    group,
    kind: plural,
    ...(retryAfter === undefined ? {} : { retryAfterSeconds: retryAfter }),
  };
  return {
    status: code,
    headers: {
      "content-type": "application/json",
      date: new Date(now).toUTCString(),
      ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
    },
    body: JSON.stringify({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message,
      reason,
      details,
      code,
    }),
  };
};

export const silence = (request: HttpRequest, reason: string): ApiError =>
  new ApiError({
    status: 0,
    reason,
    message: `${wordsFor(request)}: ${reason === "Timeout" ? "no answer" : "socket hang up"}`,
  });
