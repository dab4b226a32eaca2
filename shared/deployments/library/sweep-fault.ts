/** The faults of a sweep: what happens to one call of a step, or to one message. */
import { ApiError, type HttpRequest, type HttpResponse } from "../../core/http.ts";

/** A call of a step: a request to the API server, or a message that it sends. */
export type Call = { readonly what: string; readonly isWrite: boolean };

/** The fates of a call: the process dies before or after its effect, or the call fails. */
const callFates = ["dies before", "dies after", "unreachable", "no answer"] as const;
/** The fate of a write beside these: another writer came first. */
const conflict = "conflict";
/** The fates of a message to the queue. */
const messageFates = ["lost", "twice"] as const;

export type CallFate = (typeof callFates)[number] | typeof conflict;
export type MessageFate = (typeof messageFates)[number];

/** The one fault of a case; calls and messages are counted from 1. */
export type Fault =
  | { readonly call: number; readonly fate: CallFate }
  | { readonly message: number; readonly fate: MessageFate };

/** Returns every fault of a run with these calls and so many messages. */
export const faultsOf = (calls: readonly Call[], messages: number): readonly Fault[] => [
  ...calls.flatMap(({ isWrite }, at) =>
    [...callFates, ...(isWrite ? ([conflict] as const) : [])].map((fate): Fault => ({ call: at + 1, fate })),
  ),
  ...Array.from({ length: messages }, (_, at) => messageFates.map((fate): Fault => ({ message: at + 1, fate }))).flat(),
];

/** The name of a case: what meets the fault, its number, and the fault. */
export const faultText = (fault: Fault, calls: readonly Call[]): string =>
  "call" in fault
    ? `call ${fault.call}, ${calls[fault.call - 1]?.what ?? ""}: ${fault.fate}`
    : `message ${fault.message}: ${fault.fate}`;

export const unanswered = (why: string): ApiError =>
  new ApiError({ status: 0, reason: "Timeout", message: `the call got no answer: ${why}` });

/** The API server's answer to a write whose object has changed since it was read. */
export const conflictAnswer = ({ path }: HttpRequest, now: number): HttpResponse => ({
  status: 409,
  headers: { "content-type": "application/json", date: new Date(now).toUTCString() },
  body: JSON.stringify({
    ...{ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", reason: "Conflict", code: 409 },
    message: `${path}: the object has been modified`,
  }),
});

/** A request in two words: its method, and its path without the query. */
export const requestText = ({ method, path }: HttpRequest): string => `${method} ${path.split("?")[0] ?? ""}`;
