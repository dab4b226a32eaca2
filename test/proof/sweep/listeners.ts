/**
 * Listeners to status updates, in the simulator's time: a listener answers by the mood of the scenario, and may
 * acknowledge later by messages of its own, repeatedly, together with updates that it never received.
 */
import type { Key } from "../../../shared/core/key.ts";
import type { Sent } from "../../../shared/core/updates.ts";
import { acknowledgementOf } from "../../../shared/updates/acknowledgement.ts";
import type { ExecutionState } from "./execution-state.ts";
import type { Told } from "./facts.ts";
import type { Mood } from "./scenario.ts";

/** The longest wait of a sender for an answer. */
export const longestWaitMs = 2_000;

export const unanswered: Sent = { did: "failed", error: "the listener did not acknowledge it" };

type Request = Omit<Told, "acknowledgedAt"> & { readonly key: Key; readonly id: string };

/** The answer to a request by mood, and the delay of the acknowledgement, if there is one. */
const moods: Readonly<Record<Mood, { readonly answer: Sent | "silence"; readonly acknowledgesAfterMs?: number }>> = {
  acknowledges: { answer: { did: "acknowledged" }, acknowledgesAfterMs: 0 },
  fails: { answer: { did: "failed", error: "the listener answered 500" } },
  hangs: { answer: "silence" },
  // It acknowledges, but its answer is lost.
  mute: { answer: "silence", acknowledgesAfterMs: 0 },
  later: { answer: "silence", acknowledgesAfterMs: 4_000 },
};

type Letter = readonly [afterMs: number, id: string, by: string];

/** Forged, guessed and mixed-up acknowledgements; then the right one, twice. */
const lettersFor = (id: string, listener: string, acknowledgesAfterMs: number): readonly Letter[] => {
  const [stream = "", sequence] = id.split("/");
  const next = Number(sequence) + 1;
  return [
    [2_000, id, "https://another.example/"],
    [2_500, `${stream}/${next}`, listener],
    [3_000, `${"0".repeat(16)}/${sequence}`, listener],
    [3_500, `${stream}/${next + 1_000}`, listener],
    [acknowledgesAfterMs, id, listener],
    [acknowledgesAfterMs + 1_000, id, listener],
  ];
};

/** Sends a message by HTTP to a host, unless the host is down. */
const write = (execution: ExecutionState, key: Key, id: string, by: string): void => {
  const message = acknowledgementOf(key, id, by);
  if (message !== undefined && !execution.down)
    execution.send("listener", message, `${message.reason} ${execution.now()}`);
};

/** Takes a request for the listener and returns its answer. */
export const attend = (execution: ExecutionState, { key, id, ...request }: Request): Sent | "silence" => {
  const { listeners = {} } = execution.fixture.scenario;
  const all = listeners[request.to] ?? [];
  const mood = all[Math.min(execution.count.told, all.length - 1)] ?? "fails";
  const { answer, acknowledgesAfterMs } = moods[mood];
  execution.count.told += 1;
  execution.writes += 1;
  execution.changes += 1;
  execution.log(`    ${request.to} ${mood}: ${id}`);
  const now = execution.now();
  const acknowledgedAt = acknowledgesAfterMs === undefined ? undefined : now + acknowledgesAfterMs;
  execution.oracle.told?.({ ...request, acknowledgedAt }, now);
  execution.oracle.said(request.body, "an update");
  if (mood === "later")
    for (const [afterMs, letter, by] of lettersFor(id, request.to, acknowledgesAfterMs ?? 0))
      execution.later(afterMs, () => write(execution, key, letter, by));
  return answer;
};
