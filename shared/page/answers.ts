/** Answers of the server about one queue, and about the ways to sign in. */

/** The answer of `/page/queue/NAME`: what waits in a queue, in the order of admission. */
export type WaitingInQueue = {
  /** Groups that wait in the queue. */
  readonly of: number;
  /** Those that the viewer may see. */
  readonly groups: readonly {
    readonly namespace: string;
    readonly name: string;
    /** Name of its Job; "": it has none. */
    readonly owner: string;
    /** From 1 on, among all groups of the queue. */
    readonly position: number;
    /** Epoch ms. */
    readonly since: number;
    /** The resources or places that the group lacks; "" before a round has looked at it. */
    readonly why: string;
  }[];
  /** Groups that are left out, because there are too many. */
  readonly more: number;
};

/** The answer to `GET /page/session`. */
export type WaysToSignIn = {
  /** The name of the field for a token; "": none signs anybody in. */
  readonly token: string;
  /** The host of the identity provider; "": there is none. */
  readonly provider: string;
};
