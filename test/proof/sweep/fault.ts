/** Faults of a run: its calls, messages and watch events are numbered, and a fault decides their fate. */
import type { HttpRequest, HttpResponse } from "../../../shared/core/http.ts";
import type { Message } from "../../../shared/core/key.ts";

/** One call of an invocation: a request, a message sent, an acknowledgement. Numbered over the whole run. */
export type Call = {
  readonly n: number;
  readonly invocation: number;
  /** A step of a key, a delivery of its updates, a resync, or a forwarder's look for other controllers. */
  readonly by: "step" | "delivery" | "resync" | "look";
  /** Name of the step's application. */
  readonly key: string | undefined;
  readonly via: "api" | "queue" | "listener" | "dispatcher";
  /** By a function that a dispatcher called. */
  readonly called: boolean;
  /**
   * `POST pods`, `LIST services`, `PATCH sparkapplications/status`, `send`, `later`, `acknowledge`, `tell`; of a
   * dispatcher's call its begin, `call`, and its end, `answer`.
   */
  readonly what: string;
  readonly write: boolean;
  /** The application's state as its status shows it. */
  readonly phase: string;
  readonly request?: HttpRequest;
};

/** End of an invocation's wait: after a time, or by release. */
export type Until = { readonly afterMs: number } | "released";

export type Verdict =
  | { readonly do: "pass" }
  /** The invocation dies before or after the effect of the call; with `host`, its process loses all memory. */
  | { readonly do: "die"; readonly effect: boolean; readonly host: boolean }
  /** The server gives this answer and does nothing. */
  | { readonly do: "answer"; readonly response: (now: number) => HttpResponse }
  /** No answer comes; the caller gets an error after this time. */
  | { readonly do: "break"; readonly effect: boolean; readonly afterMs: number; readonly reason: string }
  /** The call waits before its effect, or its answer waits. With `freeMs`, others get its messages after that time. */
  | { readonly do: "hold"; readonly when: "before" | "after"; readonly until: Until; readonly freeMs?: number }
  /** The request is under way during `calls` more calls, or until its timeout; no answer comes. */
  | { readonly do: "late"; readonly calls: number; readonly free: boolean }
  /** Another dispatcher begins beside the one that made the call; the function waits before or after its effect. */
  | { readonly do: "rival"; readonly when: "before" | "after"; readonly afterMs: number }
  /** The call of a function encloses a look of long ago, or one at another object. */
  | { readonly do: "enclose"; readonly what: "old" | "another" }
  /** The read is answered from this many revisions ago. */
  | { readonly do: "stale"; readonly back: number };

/** A message on its way into the queue. Numbered over the whole run. */
export type Posted = {
  readonly n: number;
  readonly by: "forwarder" | "bell" | "listener" | Call["by"];
  readonly message: Message;
  readonly id: string;
  readonly ms: number | undefined;
};

export type Fate =
  | { readonly do: "pass" }
  /** The queue accepts it and never delivers it. */
  | { readonly do: "lose" }
  | { readonly do: "delay"; readonly ms: number }
  | { readonly do: "repeat"; readonly ms: number }
  /** Delivered behind the next message of its group. */
  | { readonly do: "swap" };

/** The fate of a watch event: told, missed, or the watch is broken until it lists again. */
export type Hearing = "told" | "missed" | "broken";

/** The fate of a ring of the bell. */
export type RingFault =
  | { readonly do: "lose" }
  | { readonly do: "late"; readonly ms: number }
  /** The API server has repeated its request. */
  | { readonly do: "repeat" }
  /** Another ring follows, for a request that is refused after it. */
  | { readonly do: "deceive" }
  /** The change is stored so much later than the bell has rung. */
  | { readonly do: "hide"; readonly ms: number };

/** Controls that a fault may use during the run. */
export type Levers = {
  /** Virtual time, epoch ms. */
  readonly now: () => number;
  readonly release: (n: number) => void;
  /** The watch begins again with a list, after this time. */
  readonly relist: (afterMs: number) => void;
};

/** A fault: it is asked at every point, and lets all others pass. `fired` is true once it has happened. */
export type Fault = {
  readonly call?: (call: Call, levers: Levers) => Verdict | undefined;
  /** Called when an invocation has ended, or died. */
  readonly ended?: (invocation: number, levers: Levers) => void;
  readonly message?: (posted: Posted) => Fate | undefined;
  readonly event?: (n: number, levers: Levers) => Hearing;
  readonly ring?: (n: number) => RingFault | undefined;
  /** The jump of the invocation's own clock before a read of it, ms. */
  readonly jump?: () => number;
  readonly fired: () => boolean;
  /** True once it lets everything pass for good; absent: never. */
  readonly spent?: (now: number) => boolean;
};

export const noFault: Fault = { fired: () => true, spent: () => true };
