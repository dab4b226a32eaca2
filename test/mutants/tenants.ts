/** Promises that one tenant, stranger or listener costs another nothing, each removed by one edit: the tests named must see it. */
import type { Mutant } from "./mutants.ts";

export const tenantMutants: readonly Mutant[] = [
  {
    name: "texts-unbounded",
    promise: "every text that a user writes has a longest length",
    file: "shared/kube/limits.ts",
    find: "  text.length <= characters\n",
    replace: "  text.length <= characters || text.length > 0\n",
    tests: ["test/kube/limits.test.ts"],
  },
  {
    name: "counts-unbounded",
    promise: "every list and map that a user writes has a greatest number of entries",
    file: "shared/kube/limits.ts",
    find: "  count <= entries ? [] :",
    replace: "  count <= entries || count > 0 ? [] :",
    tests: ["test/kube/limits.test.ts"],
  },
  {
    name: "products-unbounded",
    promise: "tasks × replicas × variables of a job are bounded together",
    file: "shared/volcano/schema/bounds.ts",
    find: "|| count <= mostVariables",
    replace: "|| count <= Number.POSITIVE_INFINITY",
    tests: ["test/kube/limits.test.ts"],
  },
  {
    name: "queue-without-turns",
    promise: "namespaces take turns on the host's queue",
    file: "shared/adapters/embedded/groups.ts",
    find: "    ready.delete(namespace);\n    const [name] = names;",
    replace: "    if (names.size < 2) ready.delete(namespace);\n    const [name] = names;",
    tests: ["test/adapters/embedded/queue.test.ts"],
  },
  {
    name: "resolver-forgets-failures",
    promise: "a listener's name that does not resolve is not asked for again at once",
    file: "shared/adapters/sinks/resolver.ts",
    find: "() => (entry.until = options.now() + keepFailureMs),",
    replace: "() => (entry.until = options.now()),",
    tests: ["test/adapters/sinks/resolver.test.ts"],
  },
  {
    name: "resolver-unbounded",
    promise: "the names that a process remembers are bounded",
    file: "shared/adapters/sinks/resolver.ts",
    find: "if (kept.size >= mostNames && oldest !== undefined) kept.delete(oldest);",
    replace: "if (kept.size < 0 && oldest !== undefined) kept.delete(oldest);",
    tests: ["test/adapters/sinks/resolver.test.ts"],
  },
  {
    name: "watch-line-unbounded",
    promise: "a line of a watch is no longer than the bound",
    file: "shared/adapters/kubernetes/lines.ts",
    find: "    held += chunk.length - from;\n",
    replace: "    held += 0;\n",
    tests: ["test/adapters/kubernetes/lines.test.ts"],
  },
  {
    name: "event-headers-unsigned",
    promise: "a signature covers the headers that say what an event asks for",
    file: "shared/deployments/api/access-check.ts",
    find: "      headers: eventHeaders((name) => c.req.header(name)),\n",
    replace: "",
    tests: ["test/functions/triggers.test.ts"],
  },
];
