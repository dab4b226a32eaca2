/** A request as the door is given it. */
export type Ask = {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
};
