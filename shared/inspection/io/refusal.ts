/** The failures of a command or an action of the page, each with one line that says what to type next. */
import { ApiError } from "../../core/http.ts";
import { errorText, oneLine } from "../../core/text.ts";
import type { Session } from "./session.ts";

/** The exit codes of a command that was understood and could not be done. */
export const exits = { refused: 1, applicationFailed: 3, timeOver: 4 } as const;

/** A command that cannot do its work, with the reason. Ends the program with its exit code. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly code: number;

  constructor(message: string, options: ErrorOptions & { readonly code?: number } = {}) {
    super(message, options);
    this.code = options.code ?? exits.refused;
  }
}

type Advice = { readonly when: (error: ApiError) => boolean; readonly say: (error: ApiError, at: string) => string };

const install = "rekindle manifests | kubectl apply --server-side -f -";

/** The server does not know the resource at all: its CRD is not installed. */
export const notServed = (error: ApiError): boolean => error.status === 404 && error.message.includes("does not serve");

const advice: readonly Advice[] = [
  // The message of a record table already says what to change. It does not come from the API server.
  { when: ({ reason }) => reason.startsWith("Store"), say: ({ message }) => message },
  {
    when: (error) => error.status === 0 && error.reason !== "BadAnswer",
    say: (error, at) => `cannot reach the API server${at}: ${error.message}; is it up, and is it the right --context?`,
  },
  {
    when: (error) => error.status === 401,
    say: (_, at) => `the API server${at} does not know who you are; log in again or choose another --context`,
  },
  {
    when: (error) => error.status === 403,
    say: (error) => `${error.message}; ask for this right, or choose a namespace that you may see with -n NAME`,
  },
  { when: notServed, say: (error) => `${error.message} Install with: ${install}` },
];

/** The line for an error of the API server; `at` names the server when it is known. */
export const adviceOn = (error: ApiError, session?: Pick<Session, "server">): string => {
  const at = session === undefined ? "" : ` at ${session.server}`;
  return advice.find(({ when }) => when(error))?.say(error, at) ?? error.message;
};

/** One line for anything that was thrown. */
export const lineOf = (cause: unknown): string => {
  const text = cause instanceof ApiError ? adviceOn(cause) : errorText(cause);
  return oneLine(text);
};
