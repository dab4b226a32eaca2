/** The members of an execution that its calls, its listeners and other controllers use; and an invocation under way. */
import type { Called } from "../../../shared/adapters/dispatch/call.ts";
import type { Delivery } from "../../../shared/adapters/embedded/queue.ts";
import type { HttpRequest, HttpResponse } from "../../../shared/core/http.ts";
import type { Message } from "../../../shared/core/key.ts";
import type { Operator } from "../../../shared/core/operator.ts";
import type { CacheState } from "../../../shared/deployments/host/cache.ts";
import type { Watching } from "../../../shared/deployments/library/watching.ts";
import type { Queue } from "../../../shared/engine/ports.ts";
import type { Call, Fault, Verdict } from "./fault.ts";
import type { Fixture } from "./fixture.ts";
import type { Post } from "./journal.ts";
import type { Count, Snapshot } from "./snapshot.ts";

/** An invocation's queue, or a sender outside of invocations. */
export type Sender = Pick<Flight, "by" | "post"> | "forwarder" | "bell" | "listener";

/** An invocation under way. */
export type Flight = {
  readonly id: number;
  readonly by: Call["by"];
  readonly delivery: Delivery | undefined;
  /** The queue that delivered its messages. */
  readonly post: Post;
  /** Of a function that a dispatcher called: its queue, and the end of the call as the dispatcher sees it. */
  readonly called?: { readonly queue: Queue; readonly end: (called: Called) => void };
  dead: boolean;
  /** Begin of its observation, epoch ms. Stale reads may be from long before. */
  lookedAt: number;
};

export type ExecutionState = {
  readonly cluster: string;
  readonly fixture: Fixture;
  readonly fault: Fault;
  readonly operators: readonly Operator<unknown>[];
  readonly oracle: Snapshot["oracle"];
  readonly watching: Watching;
  readonly held: Map<number, () => void>;
  readonly count: Count;
  readonly mind: CacheState;
  /** No process that runs steps is alive. */
  readonly down: boolean;
  /** Reported errors. */
  readonly errors: string[];
  /** Writing requests of all steps, and those of them that changed something. */
  writes: number;
  changes: number;
  arrivedByClock: boolean;
  /** Requests under way to the server, each with the number of the call before which it arrives. */
  readonly late: { readonly by: number; readonly arrive: () => void }[];
  /** The user actions between two calls of a step. */
  readonly meanwhile: () => void;
  now(): number;
  /** Does something so many ms later. */
  later(ms: number, keep: () => void): void;
  log(text: string | (() => string)): void;
  /** Sends a message into the queue, subject to the fault. */
  send(from: Sender, message: Message, id: string, ms?: number): void;
  /** Ends an invocation by death; with its host, the host's memory is lost. */
  kill(flight: Flight, host: boolean): void;
  /** Ends all processes that run steps, or the dispatcher; they begin again after a while. */
  crash(): void;
  /** Another dispatcher begins beside the one that is active, which ends after a while. */
  rival(): void;
  /** Begins an invocation. */
  flight(by: Call["by"], delivery: Delivery | undefined, calledBy?: Pick<Flight, "post" | "called">): Flight;
  /** Ends an invocation that is over. */
  close(flight: Flight): void;
  /** Numbers a call, and asks the fault about it. */
  register(flight: Flight, about: Pick<Call, "via" | "what" | "write"> & { readonly request?: HttpRequest }): Verdict;
  /** Lets the request take effect. */
  perform(request: HttpRequest): HttpResponse;
};
