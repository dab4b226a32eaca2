/** Mutants of the queue on NATS: what the server does not keep, and a worker must. */
import type { Mutant } from "./mutants.ts";

const claims = "shared/adapters/nats/claims.ts";
const locks = "shared/adapters/nats/locks.ts";
const queue = "shared/adapters/nats/streams.ts";
const waiting = "shared/adapters/nats/locks.ts";

const ofClaims = ["test/unit/adapters/nats/claims.test.ts"];
const ofLocks = ["test/unit/adapters/nats/locks.test.ts"];
const ofQueue = ["test/unit/adapters/nats/queue.test.ts"];
const ofWaiting = ["test/unit/adapters/nats/backlog.test.ts"];

export const natsMutants: readonly Mutant[] = [
  {
    name: "nats-acknowledged-at-once",
    promise: "a message is acknowledged after its step, not before",
    file: claims,
    find: "delayMs: 0, last: Promise.resolve() });\n",
    replace:
      'delayMs: 0, last: Promise.resolve() });\n  for (const { reply } of taken) await claims.nats.ask(reply, "+ACK");\n',
    tests: ofClaims,
  },
  {
    name: "nats-group-without-lock",
    promise: "of two workers only one receives the messages of a key",
    file: locks,
    find: "wrongSequence.has(cause.code)) return undefined;",
    replace: "wrongSequence.has(cause.code)) return { group, sequence: 0, until, epoch };",
    tests: ofLocks,
  },
  {
    name: "nats-lock-unconditional",
    promise: "a lock is written only over the revision that the worker has read",
    file: locks,
    find: '          "Nats-Expected-Last-Subject-Sequence": String(instead),\n',
    replace: '          ...(instead < 0 ? { "Nats-Expected-Last-Subject-Sequence": "" } : {}),\n',
    tests: ofLocks,
  },
  {
    name: "nats-lost-lock-believed",
    promise: "after a new connection a worker reads its lock before it deletes it",
    file: locks,
    find: "if (lock.epoch !== nats.epoch() && !(await holds(lock))) return false;",
    replace: "if (lock.epoch > nats.epoch() && !(await holds(lock))) return false;",
    tests: ofLocks,
  },
  {
    name: "nats-free-untold",
    promise: "workers that wait for a lock are notified of its end",
    file: locks,
    find: "        nats.tell(names.free, lock.group);\n",
    replace: "",
    tests: ofLocks,
  },
  {
    name: "nats-acknowledged-without-lock",
    promise: "a worker whose lock is over acknowledges nothing",
    file: claims,
    find: "    if (!isOurs) return;\n",
    replace: "    if (!isOurs && items.length === 0) return;\n",
    tests: ofClaims,
  },
  {
    name: "nats-old-receipt-counts",
    promise: "a receipt of an earlier delivery does nothing",
    file: claims,
    find: " || receipt !== receiptOf(out, item)) continue;",
    replace: " || receipt.length === 0) continue;",
    tests: ofClaims,
  },
  {
    name: "nats-dead-dropped",
    promise: "a message that was delivered too often moves to the dead messages",
    file: claims,
    find: "    await nats.ask(names.burial(group), body, {",
    replace: "    if (body === reply) await nats.ask(names.burial(group), body, {",
    tests: ofClaims,
  },
  {
    name: "nats-deliveries-uncounted",
    promise: "each delivery of a message counts",
    file: waiting,
    find: "return { received: Number(received),",
    replace: "return { received: Math.min(1, Number(received)),",
    tests: ofWaiting,
  },
  {
    name: "nats-visibility-not-extended",
    promise: "a step that takes longer than the visibility timeout keeps its key",
    file: claims,
    find: "if (!isOut() || now() + visibilityMs > out.since + longestMs) return;",
    replace: "if (!isOut() || longestMs > 0) return;",
    tests: ofClaims,
  },
  {
    name: "nats-visibility-without-end",
    promise: "a step that hangs loses its key",
    file: claims,
    find: "if (!isOut() || now() + visibilityMs > out.since + longestMs) return;",
    replace: "if (!isOut() || longestMs < 0) return;",
    tests: ofClaims,
  },
  {
    name: "nats-extended-while-released",
    promise: "the changes of a lock follow each other",
    file: claims,
    find: "  const next = out.last.then(change);\n",
    replace: "  const next = change();\n",
    tests: ofClaims,
  },
  {
    name: "nats-delay-not-kept",
    promise: "a returned message is delivered after its delay",
    file: claims,
    find: "    if (isLast && out.delayMs > 0 && !(await closed())) return;\n",
    replace: "",
    tests: ofClaims,
  },
  {
    name: "nats-timer-at-once",
    promise: "a timer is stored until it is due",
    file: queue,
    find: "await publish(names.timer(group, id), message, {",
    replace: "await publish(names.key(group), message, {",
    tests: ofQueue,
  },
  {
    name: "nats-id-forgotten",
    promise: "a repeated event is removed by its id",
    file: queue,
    find: 'await publish(names.key(groupOf(message)), message, { "Nats-Msg-Id": id });',
    replace: 'await publish(names.key(groupOf(message)), message, { "Nats-Msg-Id": id + String(Math.random()) });',
    tests: ofQueue,
  },
  {
    name: "nats-depth-without-held",
    promise: "the depth of the queue counts messages that workers have",
    file: "shared/adapters/nats/streams.ts",
    find: "progress.num_pending + progress.num_ack_pending",
    replace: "progress.num_pending + 0 * progress.num_ack_pending",
    tests: ofQueue,
  },
];
