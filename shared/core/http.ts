/** Requests to an API server as plain values, so that the real server and the simulator have the same interface. */

export type HttpRequest = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query, e.g. `/api/v1/namespaces/default/pods?limit=500`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Milliseconds after which the call is given up; its effect is then unknown. */
  readonly timeoutMs: number;
  /** Longest answer, bytes: a longer one throws `ApiError`, reason TooLong; absent: 16 MiB. */
  readonly limitBytes?: number;
};

/** Header names are lower case. */
export type HttpResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /**
   * The body as parsed JSON, if the sender has it, such as a server in the same process; callers must not modify it.
   */
  readonly json?: () => unknown;
};

/** A streamed answer: one JSON text per element, as a watch sends them. Ends when either side closes it. */
export type HttpStream = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly lines: AsyncIterable<string>;
  close(): void;
};

/** Sends one request. Rejects only when there was no answer (timeout, reset, refused). */
export type Transport = {
  send(request: HttpRequest): Promise<HttpResponse>;
  /** A status other than 200 carries its whole body as one element of `lines`. */
  stream(request: HttpRequest): Promise<HttpStream>;
};
