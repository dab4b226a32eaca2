/**
 * Mutants of the promises about what strangers can send to a port: connections, unfinished bodies, large reviews. The
 * tests named must fail on each.
 */
import type { Mutant } from "./mutants.ts";

const port = ["test/unit/deployments/http/port.test.ts"];

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
];
