/** What can be done to a run: the calls, messages and watch events of it, each numbered, and what becomes of them. */
import type { HttpRequest, HttpResponse } from "../../../shared/core/http.ts";
import type { Message } from "../../../shared/core/key.ts";

/** One call of an invocation: a request, a message sent, an acknowledgement. Numbered over the whole run. */
export type Call = {
  readonly n: number;
  readonly invocation: number;
  /** A step of a key, a delivery of its updates, a resync, or a forwarder's look for other controllers. */
  readonly by: "step" | "delivery" | "resync" | "look";
  /** Name of the application that the step is about. */
  readonly key: string | undefined;
  readonly via: "api" | "queue" | "listener";
  /** `POST pods`, `LIST services`, `PATCH sparkapplications/status`, `send`, `later`, `acknowledge`, `tell`. */
  readonly what: string;
  readonly write: boolean;
  /** The application's state as its status shows it. */
  readonly phase: string;
  readonly request?: HttpRequest;
};

/** Why an invocation waits: for a time, or for somebody to let it go on. */
export type Until = { readonly afterMs: number } | "released";

export type Verdict =
  | { readonly do: "pass" }
  /** The invocation is no more, before or after the call took effect; with `host`, all that its process held is lost. */
  | { readonly do: "die"; readonly effect: boolean; readonly host: boolean }
  /** The server answers this instead of doing anything. */
  | { readonly do: "answer"; readonly response: (now: number) => HttpResponse }
  /** No answer ever comes; the caller learns of it after so long. */
  | { readonly do: "break"; readonly effect: boolean; readonly afterMs: number; readonly reason: string }
  /** The call waits before its effect, or its answer waits. With `freeMs`, others get its messages after so long. */
  | { readonly do: "hold"; readonly when: "before" | "after"; readonly until: Until; readonly freeMs?: number }
  /** The request is under way while `calls` more calls are made, or until its time is over; no answer comes. */
  | { readonly do: "late"; readonly calls: number; readonly free: boolean }
  /** The read is answered from so many revisions ago. */
  | { readonly do: "stale"; readonly back: number };

/** A message on its way into the queue. Numbered over the whole run. */
export type Posted = {
  readonly n: number;
  readonly by: "forwarder" | "listener" | Call["by"];
  readonly message: Message;
  readonly id: string;
  readonly ms: number | undefined;
};

export type Fate =
  | { readonly do: "pass" }
  /** Taken by the queue, and never seen again. */
  | { readonly do: "lose" }
  | { readonly do: "delay"; readonly ms: number }
  | { readonly do: "repeat"; readonly ms: number }
  /** Delivered behind the next message of its group. */
  | { readonly do: "swap" };

/** Whether the watch tells of a change: yes, never, or it is broken off until it lists again. */
export type Hearing = "told" | "missed" | "broken";

/** What the fault may turn while the run goes on. */
export type Levers = {
  /** Virtual time, epoch ms. */
  readonly now: () => number;
  readonly release: (n: number) => void;
  /** The watch begins again with a list, after so long. */
  readonly relist: (afterMs: number) => void;
};

/** A fault: asked at every point, it lets pass what it is not about. `fired` tells that it took place at all. */
export type Fault = {
  readonly call?: (call: Call, levers: Levers) => Verdict | undefined;
  /** An invocation ended, or died. */
  readonly ended?: (invocation: number, levers: Levers) => void;
  readonly message?: (posted: Posted) => Fate | undefined;
  readonly event?: (n: number, levers: Levers) => Hearing;
  /** How far the invocation's own clock jumps ahead before it is read, ms. */
  readonly jump?: () => number;
  readonly fired: () => boolean;
};

export const noFault: Fault = { fired: () => true };
