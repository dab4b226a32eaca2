/** One id from an event to all that it leads to, as W3C Trace Context writes it: `00-TRACE-SPAN-FLAGS`, in hex. */
import { digest } from "./key.ts";

/** What may stand in a message or a header; ids of zeros only are none. */
export const traceForm = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The trace that begins with what is sent under this deduplication id: copies of one event begin the same one. */
export const begun = (dedupeId: string): string => {
  const hex = digest("trace", dedupeId);
  return `00-${hex.slice(0, 32)}-${hex.slice(32, 48)}-01`;
};

/** The id that every line about it has. */
export const idOf = (trace: string): string => trace.slice(3, 35);
