/**
 * The map of the product: a core, and rooms beside it. Other rooms import a room beside the core by its doors alone, so whoever
 * reads the core need not know what is behind them.
 */
import { importsOf, read, sourcesUnder } from "./sources.ts";

type SideRoom = {
  readonly name: string;
  /** Beginnings of the paths of its files. */
  readonly paths: readonly string[];
  /** Files that every other room may import. */
  readonly doors: readonly string[];
  /** Rooms that may import every file of it; absent: none. */
  readonly openTo?: readonly string[];
};

/** The files of a kind's folder that the lists of the registry import. */
const partsOf = (folder: string): readonly string[] =>
  ["kind", "definition", "forecast", "inspection", "installation", "operator", "states", "watches"].map(
    (part) => `shared/spark/${folder}/${part}.ts`,
  );

const people = ["command line", "page", "migration", "simulator and demo"];

export const sideRooms: readonly SideRoom[] = [
  {
    name: "page",
    paths: ["shared/page/", "shared/deployments/page/"],
    doors: ["access", "callers", "files", "host", "local", "routes"].map(
      (file) => `shared/deployments/page/${file}.ts`,
    ),
  },
  {
    name: "simulator and demo",
    paths: ["shared/simulator/", "shared/deployments/demo/", "shared/deployments/library/"],
    doors: ["shared/deployments/demo/start.ts"],
  },
  {
    name: "gang",
    paths: ["shared/volcano/gang/"],
    doors: [
      // Its settings, its part of a queue's record, the round, the status of one group, and the evictions, which load late.
      ...["settings", "state/memory", "admission-round", "plan", "eviction/round"],
    ].map((file) => `shared/volcano/gang/${file}.ts`),
  },
  {
    name: "Apache's family",
    paths: ["shared/spark/apache/", "shared/spark/cluster/"],
    doors: [
      ...[...partsOf("apache"), ...partsOf("cluster")],
      // Admission reads specs, and rehearses a submission; the page groups the states.
      ...["apache/spec/read", "apache/spec/schema", "apache/submission", "cluster/read", "cluster/schema"].map(
        (file) => `shared/spark/${file}.ts`,
      ),
      // Its gangs load where groups start by plans.
      ...["apache/gang", "apache/metrics", "apache/status/summary", "cluster/metrics"].map(
        (file) => `shared/spark/${file}.ts`,
      ),
      // A running application moves between the two APIs of Spark's operators.
      "shared/spark/apache/translation/directions.ts",
    ],
  },
  { name: "NATS", paths: ["shared/adapters/nats/"], doors: ["shared/adapters/nats/receiver.ts"] },
  {
    name: "migration",
    paths: ["shared/cli/migration/", "shared/cli/vcctl/", "shared/cli/commands/migrate.ts"],
    doors: ["shared/cli/commands/migrate.ts", "shared/cli/vcctl/rows.ts"],
  },
  {
    name: "command line",
    paths: ["shared/cli/", "shared/deployments/cli/", "functions/cli.ts"],
    doors: [
      "shared/cli/examples.ts",
      "shared/cli/io/tools.ts",
      "shared/cli/program.ts",
      "shared/deployments/cli/tools.ts",
    ],
    openTo: ["migration"],
  },
  {
    name: "inspection",
    paths: ["shared/inspection/"],
    doors: [
      "io/documents",
      "io/refusal",
      "io/session",
      "io/text",
      "kinds/all",
      "kinds/kind",
      "rates",
      "record",
      "status",
    ].map((file) => `shared/inspection/${file}.ts`),
    openTo: people,
  },
  {
    name: "installation",
    paths: ["shared/installation/", "infra/"],
    doors: ["manifests", "roles", "rule", "webhooks"].map((file) => `shared/installation/${file}.ts`),
  },
  {
    name: "HTTP API",
    paths: ["shared/api/", "shared/deployments/api/", "shared/deployments/read-api/", "shared/deployments/submitter/"],
    doors: [
      ...["callers", "events", "groups", "openapi"].map((file) => `shared/api/${file}.ts`),
      ...["api/app", "api/function", "read-api/reader", "submitter/function"].map(
        (file) => `shared/deployments/${file}.ts`,
      ),
    ],
  },
  {
    name: "admission",
    paths: ["shared/deployments/admission/", "shared/spark/admission/", "shared/volcano/admission/"],
    doors: [
      "shared/deployments/admission/function.ts",
      "shared/deployments/admission/process.ts",
      "shared/spark/admission/policies.ts",
      "shared/volcano/admission/policies.ts",
    ],
  },
  {
    name: "status updates",
    paths: ["shared/updates/", "shared/adapters/sinks/", "shared/deployments/deliver/"],
    doors: [
      ...["acknowledgement", "listeners", "proof"].map((file) => `shared/updates/${file}.ts`),
      ...["function", "process"].map((file) => `shared/deployments/deliver/${file}.ts`),
    ],
  },
];

const core = "core";

/** Returns the room of a file: the first whose paths it is under, else the core. */
const roomOf = (file: string): string =>
  sideRooms.find(({ paths }) => paths.some((path) => file.startsWith(path)))?.name ?? core;

const sources = sourcesUnder("functions", "shared", "infra");

type Crossing = { readonly from: string; readonly to: string; readonly line: number };

/** Lists the imports from one room into another that is not the core. */
export const crossings: readonly Crossing[] = sources.flatMap(importsOf).filter(({ from, to }) => {
  const room = roomOf(to);
  return sources.includes(to) && room !== core && room !== roomOf(from);
});

/** Lists the imports that reach into a room elsewhere than by a door. */
export const reaching = (): readonly Crossing[] =>
  crossings.filter(({ from, to }) => {
    const { doors = [], openTo = [] } = sideRooms.find(({ name }) => name === roomOf(to)) ?? {};
    return !doors.includes(to) && !openTo.includes(roomOf(from));
  });

export type RoomSize = {
  readonly room: string;
  readonly files: number;
  readonly lines: number;
  readonly doors: number;
};

/** Returns the core, then each room beside it. */
export const roomSizes = (): readonly RoomSize[] =>
  [core, ...sideRooms.map(({ name }) => name)].map((room) => {
    const files = sources.filter((file) => roomOf(file) === room);
    const lines = files.reduce((sum, file) => sum + read(file).split("\n").length - 1, 0);
    return { room, files: files.length, lines, doors: sideRooms.find(({ name }) => name === room)?.doors.length ?? 0 };
  });
