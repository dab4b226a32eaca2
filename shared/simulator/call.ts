/** A parsed request, and its answer, as the door sees them. */
import type { Ask } from "./ask.ts";
import type { Form } from "./present.ts";
import type { Server, Target } from "./server.ts";

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The body as a value; shared with later answers. */
  readonly json?: () => unknown;
};

/** A request after its path and query were parsed. */
export type Call = {
  readonly ask: Ask;
  readonly target: Target;
  readonly query: URLSearchParams;
  readonly form: Form;
};

/** Answers subresources that are not stored: logs, evictions, bindings, proxies. */
export type Side = (server: Server, call: Call) => Result;
export type Sides = Readonly<Record<string, Side>>;

export type Result = {
  readonly status: number;
  readonly text: string;
  readonly json?: () => unknown;
  readonly type?: string;
  readonly warnings?: readonly string[];
};
