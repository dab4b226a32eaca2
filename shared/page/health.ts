/** The answer about the health of the process that serves the page. */

/** The answer of `/page/health`. */
export type Health = {
  readonly now: number;
  readonly cluster: string;
  readonly ready: boolean;
  readonly startedAt: number;
  readonly rows: number;
  readonly streams: number;
  /** Messages of the queue; absent: another process runs the steps, or the queue cannot be reached. */
  readonly queue?: { readonly ready: number; readonly delayed: number; readonly busy: number };
  /** One line per other controller beside which Rekindle writes nothing; absent: there is none. */
  readonly standby?: readonly string[];
  /** A line about changes that no message had told; absent: there is none, or this process does not know. */
  readonly unheard?: readonly string[];
  /** Name of the viewer, and the namespaces that it may read; empty: all. */
  readonly caller: string;
  readonly namespaces: readonly string[];
  /** `act`: it may change objects here; `trigger`: it may request steps here. In these namespaces; empty: in all. */
  readonly may: readonly { readonly ability: "act" | "trigger"; readonly namespaces: readonly string[] }[];
  /** True: the viewer has a session that it can end. */
  readonly canLeave: boolean;
};
