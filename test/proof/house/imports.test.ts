/**
 * Imports go down: one table holds the allowed graph of rooms, and each import is checked against it. Neither files nor
 * folders import each other in a circle.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { circlesOf } from "./circles.ts";
import { type Import, importsOf, sourcesUnder } from "./sources.ts";

type Room = {
  /** Rooms, or single files of rooms, that this room may import beside itself. */
  readonly rooms: readonly string[];
  readonly packages: readonly string[];
  /** Packages of which this room may import types, and nothing that runs. */
  readonly types?: readonly string[];
  /** Node's own modules that this room may import; undefined means any. */
  readonly node?: readonly string[];
};

const pure = { node: ["node:crypto"] } as const;
const ports = "shared/engine/ports.ts";
const belowDeployments = [
  "core",
  "kube",
  "spark",
  "volcano",
  "registry",
  "engine",
  "forward",
  "updates",
  "api",
  "adapters",
  "simulator",
];

/** The allowed imports of each room. `spark` and `volcano` meet in the registry alone; `engine` knows no operator. */
const rooms: Readonly<Record<string, Room>> = {
  core: { rooms: [], packages: [], ...pure },
  kube: { rooms: ["core"], packages: ["zod"], types: ["@kubernetes/client-node"], ...pure },
  spark: { rooms: ["core", "kube"], packages: ["zod"], ...pure },
  volcano: { rooms: ["core", "kube"], packages: ["zod"], ...pure },
  registry: { rooms: ["core", "kube", "spark", "volcano"], packages: [] },
  engine: { rooms: ["core"], packages: ["zod"], ...pure },
  forward: { rooms: ["core", "kube", ports], packages: ["zod"], ...pure },
  updates: { rooms: ["core", "kube", ports], packages: ["zod"], ...pure },
  api: { rooms: ["core", "kube"], packages: ["zod"], ...pure },
  adapters: {
    rooms: ["core", "kube", ports],
    packages: [
      "yaml",
      "zod",
      "pino",
      "prom-client",
      "@opentelemetry/api",
      "@kubernetes/client-node",
      "@nats-io/transport-node",
      "@aws-sdk/client-dynamodb",
      "@aws-sdk/client-s3",
      "@aws-sdk/client-secrets-manager",
      "@aws-sdk/client-sqs",
      "@aws-sdk/client-ssm",
      "@aws-sdk/credential-provider-node",
      "@smithy/core",
      "@smithy/signature-v4",
      "@google-cloud/storage",
      "@peculiar/x509",
      "jose",
      "js-yaml",
      "reflect-metadata",
      "socks-proxy-agent",
    ],
  },
  simulator: { rooms: ["core", "kube"], packages: ["hono", "@hono/node-server", "zod", "yaml"] },
  inspection: {
    rooms: ["core", "kube", "registry", "adapters", "shared/volcano/schema/resource.ts"],
    packages: ["yaml", "zod"],
  },
  installation: { rooms: ["core", "kube", "registry", "adapters", "inspection"], packages: ["zod"] },
  cli: {
    rooms: [
      ...["core", "kube", "registry", "adapters", "inspection", "installation"],
      // The commands of a family name these of it.
      ...["shared/spark/schema/resource.ts", "shared/volcano/schema/resource.ts"],
      ...["shared/volcano/job/kind.ts", "shared/volcano/job/view.ts"],
    ],
    packages: ["commander", "yaml", "zod"],
  },
  // The page names kinds as their declarations do.
  page: {
    rooms: ["shared/registry/kinds.ts", "shared/core/object.ts", "shared/kube/declared-kind.ts"],
    packages: ["preact", "@preact/signals"],
    node: [],
  },
  deployments: {
    // Of the command line, deployments know only the ports that they open for it.
    rooms: [...belowDeployments, "inspection", "installation", "page", "shared/cli/io/tools.ts"],
    packages: ["hono", "@hono/node-server", "pino", "zod"],
  },
  functions: { rooms: ["deployments", "engine", "cli"], packages: ["hono"] },
};

const roomOf = (path: string): string => {
  const [top = "", second = ""] = path.split("/");
  return top === "shared" ? second : top;
};

const packageOf = (name: string): string => name.split("/", name.startsWith("@") ? 2 : 1).join("/");

const allowed = (room: string, { to, isType }: Import): boolean => {
  const rule = rooms[room];
  if (rule === undefined) return false;
  if (to.startsWith("node:")) return rule.node === undefined || rule.node.includes(to);
  if (to.startsWith("shared/") || to.startsWith("functions/")) {
    return roomOf(to) === room || rule.rooms.includes(roomOf(to)) || rule.rooms.includes(to);
  }
  return rule.packages.includes(packageOf(to)) || (isType && rule.types?.includes(packageOf(to)) === true);
};

const sources = sourcesUnder("functions", "shared");
const told = ({ from, to, line }: Import): string => `${from}:${line} imports ${to}`;

/** Returns an import cycle through a file; undefined if there is none. */
const cycleFrom = (start: string, graph: ReadonlyMap<string, readonly string[]>): readonly string[] | undefined => {
  const trail = new Map<string, string | undefined>([[start, undefined]]);
  for (const file of trail.keys()) {
    for (const next of graph.get(file) ?? []) {
      if (next === start) return pathTo(file, trail).concat(start);
      if (!trail.has(next)) trail.set(next, file);
    }
  }
  return undefined;
};

const pathTo = (file: string, trail: ReadonlyMap<string, string | undefined>): readonly string[] => {
  const before = trail.get(file);
  return before === undefined ? [file] : [...pathTo(before, trail), file];
};

describe("rooms", () => {
  test("every folder of shared/ is a room of the table", () => {
    const unknown = sources.map(roomOf).filter((room) => rooms[room] === undefined);
    assert.deepEqual([...new Set(unknown)], []);
  });

  test("imports go down the table only", () => {
    const wrong = sources.flatMap((file) => importsOf(file).filter((found) => !allowed(roomOf(file), found)));
    assert.deepEqual(wrong.map(told), []);
  });

  test("every relative import carries its ending", () => {
    const bare = sourcesUnder("functions", "shared", "infra", "test")
      .flatMap(importsOf)
      .filter(({ to }) => /^(shared|functions|infra|test)\//.test(to) && !/\.(tsx?|mjs|json)$/.test(to));
    assert.deepEqual(bare.map(told), []);
  });

  test("nothing that ships imports tests or tools", () => {
    const wrong = sources.flatMap(importsOf).filter(({ to }) => /^(test|infra)\//.test(to));
    assert.deepEqual(wrong.map(told), []);
  });

  test("the judge reaches nothing of shared/, by no path of imports", () => {
    const reached = new Set(sourcesUnder("test/judge"));
    const wrong: Import[] = [];
    for (const file of reached)
      for (const found of importsOf(file)) {
        if (/^(shared|functions)\//.test(found.to)) wrong.push(found);
        else if (/^(test|infra)\/.*\.tsx?$/.test(found.to)) reached.add(found.to);
      }
    assert.ok(reached.size > 30);
    assert.deepEqual(wrong.map(told), []);
  });

  test("no file imports itself by a circle, type imports included", () => {
    const all = sourcesUnder("functions", "shared", "infra", "test");
    const graph = new Map(all.map((file) => [file, importsOf(file).map(({ to }) => to)]));
    const circles = all.map((file) => cycleFrom(file, graph)).filter((cycle) => cycle !== undefined);
    assert.deepEqual(
      circles.map((cycle) => cycle.join(" → ")),
      [],
    );
  });

  test("folders import each other in one direction, type imports included", () => {
    assert.deepEqual(circlesOf(sources).folders, []);
  });
});
