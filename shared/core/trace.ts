/**
 * Trace ids, from an event to all of its consequences, as W3C Trace Context writes them: `00-TRACE-SPAN-FLAGS`, in hex.
 */
import { digest } from "./key.ts";

/** The form of a valid trace context; an id of zeros only is invalid. */
export const traceForm = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Returns the trace that begins with a message of this deduplication id: copies of one event begin the same trace. */
export const begun = (dedupeId: string): string => {
  const hex = digest("trace", dedupeId);
  return `00-${hex.slice(0, 32)}-${hex.slice(32, 48)}-01`;
};

/** Returns the trace id, which every log line of the trace carries. */
export const idOf = (trace: string): string => trace.slice(3, 35);
