/**
 * Spans of OpenTelemetry, if it is set up in this process: its API then has a mark on the global object. Otherwise the
 * API is not loaded; it is an optional peer and not part of a bundle.
 */
import { createRequire } from "node:module";
import type { SpanContext } from "@opentelemetry/api";
import { traceForm } from "../../core/trace.ts";

type Api = typeof import("@opentelemetry/api");

export type Span = {
  readonly name: string;
  /** W3C trace context of the parent; absent: the active one, or none. */
  readonly parent: string | undefined;
  readonly of?: Readonly<Record<string, string>>;
};

/** Runs work as a span, and passes it the trace context of that span. */
export type Spans = <T>(span: Span, work: (here: string | undefined) => Promise<T>) => Promise<T>;

const mark = Symbol.for("opentelemetry.js.api.1");

const textOf = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;

const remote = (trace: string): SpanContext => {
  const [, traceId = "", spanId = "", flags = "01"] = trace.split("-");
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
};

/** Returns the context to begin in: the active one if it is the parent, or the remote parent's. */
const contextOf = ({ context, trace }: Api, parent: string | undefined) => {
  const active = context.active();
  const there = trace.getSpanContext(active);
  if (parent === undefined || (there !== undefined && textOf(there) === parent)) return active;
  return trace.setSpanContext(active, remote(parent));
};

/** Returns spans that use this API. */
const spansOf = (api: Api): Spans => {
  const tracer = api.trace.getTracer("rekindle");
  return async ({ name, parent, of = {} }, work) => {
    const from = contextOf(api, parent);
    const span = tracer.startSpan(name, { attributes: of }, from);
    const here = textOf(span.spanContext());
    try {
      return await api.context.with(api.trace.setSpan(from, span), () => work(traceForm.test(here) ? here : parent));
    } catch (cause) {
      span.recordException(cause instanceof Error ? cause : String(cause));
      span.setStatus({ code: api.SpanStatusCode.ERROR });
      throw cause;
    } finally {
      span.end();
    }
  };
};

/** Returns spans; undefined if OpenTelemetry was not set up before this call. */
export const openSpans = (): Spans | undefined => {
  if (!(mark in globalThis)) return undefined;
  try {
    // Not an import: only `require` finds the packages in Lambda's layers.
    const api: Api = createRequire(import.meta.url)("@opentelemetry/api");
    return spansOf(api);
  } catch {
    return undefined;
  }
};
