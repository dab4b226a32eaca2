/**
 * Mutants of the promises about what strangers can send to a port, and what a tenant can claim by a record. The tests
 * named must fail on each.
 */
import type { Mutant } from "./mutants.ts";

const port = ["test/unit/deployments/http/port.test.ts"];
const proof = ["test/unit/updates/proof.test.ts"];

export const portMutants: readonly Mutant[] = [
  {
    name: "bodies-without-bound",
    promise: "all unfinished bodies of a port take a bounded memory",
    file: "shared/deployments/http/bodies.ts",
    find: "if (!share.take(one.caller, 2 * one.bytes)) return false;\n    share.give(one.caller, one.bytes);",
    replace: "if (!share.take(one.caller, 0)) return false;",
    tests: port,
  },
  {
    name: "bodies-that-fill-the-room",
    promise: "large bodies leave room for small ones",
    file: "shared/deployments/http/bodies.ts",
    find: "if (!share.take(one.caller, 2 * one.bytes)) return false;\n    share.give(one.caller, one.bytes);",
    replace: "if (!share.take(one.caller, one.bytes)) return false;",
    tests: port,
  },
  {
    name: "bodies-of-one-caller",
    promise: "a caller of a port has a share of the room for bodies",
    file: "shared/deployments/http/bodies.ts",
    find: "caller: callerOf(incoming.socket.remoteAddress)",
    replace: 'caller: ""',
    tests: port,
  },
  {
    name: "slow-senders-stay",
    promise: "slow senders make room for a body that waits",
    file: "shared/deployments/http/bodies.ts",
    find: "late.dismiss();",
    replace: "break;",
    tests: port,
  },
  {
    name: "room-of-answered-requests",
    promise: "the room of an answered request is given back",
    file: "shared/deployments/http/bodies.ts",
    find: "if (hasBegun) share.give(one.caller, one.bytes);",
    replace: "if (!hasBegun) share.give(one.caller, 0);",
    tests: port,
  },
  {
    name: "connections-without-bound",
    promise: "a port has a bounded number of connections",
    file: "shared/deployments/http/connections.ts",
    find: "if (open.size >= most) {",
    replace: "if (open.size < 0) {",
    tests: port,
  },
  {
    name: "full-ports-refuse-the-newest",
    promise: "where a port has too many connections, an idle one makes room for the next",
    file: "shared/deployments/http/connections.ts",
    find: "if (leaves === undefined) return void socket.destroy();",
    replace: "if (leaves !== socket) return void socket.destroy();",
    tests: port,
  },
  {
    name: "connections-at-work-end",
    promise: "a connection that the process works for stays",
    file: "shared/deployments/http/connections.ts",
    find: "if (!isWorking(one)) return one;",
    replace: "return one;",
    tests: port,
  },
  {
    name: "reviews-of-any-parts",
    promise: "a review with more arrays and objects than the parser takes in a moment is refused",
    file: "shared/deployments/admission/app.ts",
    find: "if (opensMoreThan(text, mostParts))",
    replace: "if (opensMoreThan(text, Number.POSITIVE_INFINITY))",
    tests: ["test/unit/functions/admission.test.ts"],
  },
  {
    name: "outboxes-without-proof",
    promise: "the updates in a record that Rekindle did not write are not sent",
    file: "shared/updates/proof.ts",
    find: "return proving === undefined || isSame(proof, proofOf(proving, key, record));",
    replace: "return proving !== proof;",
    tests: proof,
  },
  {
    name: "proofs-of-any-object",
    promise: "the proof of an outbox is for its key, object and cluster only",
    file: "shared/updates/proof.ts",
    find: "{ key: textOf(key), cluster, uid, outbox: proven }",
    replace: "{ outbox: proven }",
    tests: proof,
  },
  {
    name: "streams-of-other-keys",
    promise: "no record can send updates under the ids of another object",
    file: "shared/updates/proof.ts",
    find: "if (stream !== streamName(cluster, key, origin)) return false;",
    replace: "if (stream === cluster) return false;",
    tests: proof,
  },
  {
    name: "records-name-queues",
    promise:
      "the record of a deleted object names no queue and no listener of the operator that its namespace does not have",
    file: "shared/updates/deliver.ts",
    find: "outbox === undefined || mayObjectName(outbox.to)",
    replace: "outbox === undefined || mayObjectName(key.name)",
    tests: proof,
  },
  {
    name: "distrusted-updates-are-lost",
    promise: "the state of an object whose record is distrusted is told again",
    file: "shared/updates/deliver.ts",
    find: "if (outbox === undefined && object !== undefined && to !== undefined)",
    replace: "if (outbox !== undefined && object !== undefined && to === undefined)",
    tests: proof,
  },
];
