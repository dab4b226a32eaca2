/** The process of one lot of test files, started by `tests.ts`: runs them in turn, reports each test to its parent. */
import { relative } from "node:path";
import type { EventData } from "node:test";
import { run } from "node:test";
import { inspect } from "node:util";

type Ended = EventData.TestPass | EventData.TestFail;

/** One test that ended. */
export type Told = {
  readonly file: string;
  readonly name: string;
  readonly ms: number;
  readonly outcome: "passed" | "failed" | "skipped" | "suite";
  /** False for a test within another one. */
  readonly isOuter: boolean;
  /** The reason for a skip, where the test gives one. */
  readonly reason?: string;
  /** The error; absent where a test within this one reports it. */
  readonly message?: string;
};

/** The last message of a lot: all its tests have ended. */
export type LotEnded = "ended";

/** The input of a lot. */
export type Lot = { readonly files: readonly string[]; readonly names: readonly string[] };

/** The error of the test's own body; node:test wraps it. */
const messageOf = (event: EventData.TestFail): string => {
  const { error } = event.details;
  return inspect(error.cause ?? error, { colors: process.stdout.isTTY ?? false, depth: 6 });
};

/** True for a parent that fails because its child did: the child reports the error. */
const isEcho = (event: EventData.TestFail): boolean => event.details.error.message.includes("subtest");

const skipOf = ({ skip, todo }: Ended): string | boolean | undefined => skip ?? todo;

const isSkipped = (event: Ended): boolean => skipOf(event) !== undefined && skipOf(event) !== false;

const told = (event: Ended, outcome: Told["outcome"]): Told => {
  const skip = skipOf(event);
  return {
    file: relative(process.cwd(), event.file ?? ""),
    name: event.name,
    ms: event.details.duration_ms,
    outcome,
    isOuter: event.nesting === 0,
    ...(typeof skip === "string" ? { reason: skip } : {}),
  };
};

const tell = (one: Told): void => void process.send?.(one);

const outcomeOf = (event: Ended): Told["outcome"] => {
  if (event.details.type === "suite") return "suite";
  return isSkipped(event) ? "skipped" : "passed";
};

const play = async ({ files, names }: Lot): Promise<void> => {
  const stream = run({
    files: [...files],
    isolation: "none",
    ...(names.length === 0 ? {} : { testNamePatterns: names.map((name) => new RegExp(name)) }),
  });
  stream.on("test:pass", (event) => tell(told(event, outcomeOf(event))));
  stream.on("test:fail", (event) =>
    tell({
      ...told(event, isEcho(event) ? "suite" : "failed"),
      ...(isEcho(event) ? {} : { message: messageOf(event) }),
    }),
  );
  for await (const _ of stream);
};

const lot: Lot = JSON.parse(process.argv[2] ?? "");
await play(lot);
// A process that ends before its tests, such as by process.exit, does not send this.
process.send?.("ended" satisfies LotEnded);
