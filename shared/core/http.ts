/** The door to an API server as plain values, so that the real one and the simulator stand behind the same shape. */

export type HttpRequest = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query, e.g. `/api/v1/namespaces/default/pods?limit=500`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Milliseconds after which the call is given up; its effect is then unknown. */
  readonly timeoutMs: number;
  /** An answer longer than this is given up (`ApiError`, reason TooLong); absent: 16 MiB. */
  readonly limitBytes?: number;
};

/** Header names are lower case. */
export type HttpResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The JSON of the body, from whoever has it at hand, as a server in the same process; nobody alters it. */
  readonly json?: () => unknown;
};

/** An answer that goes on: one JSON text per element, as a watch sends them. Ends when either side closes. */
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
