/** The command line beside a host on the same simulated cluster, and its output. */

import type { Tools } from "../../../shared/cli/io/tools.ts";
import { run } from "../../../shared/cli/program.ts";
import { moveRecords } from "../../../shared/deployments/cli/copy-records.ts";
import { preview, recoverKey, replayLines } from "../../../shared/deployments/cli/recover.ts";
import { check, flagView, forecast, runs } from "../../../shared/deployments/cli/render.ts";
import { plain } from "../../../shared/inspection/io/text.ts";
import { docPages } from "../../support/doc-pages.ts";
import { waitIn } from "../../support/plans.ts";
import type { Stand } from "./stand.ts";

/** A stand, and the standard input of a command; absent: it is empty. */
type Beside = Pick<Stand, "simulator" | "turn"> & { readonly stdin?: string };

const never = async (): Promise<never> => {
  throw new Error("not asked for");
};

/** Runs a command and returns its output, of both streams. */
export const rekindle = async (stand: Beside, ...args: readonly string[]): Promise<string> => {
  const { simulator } = stand;
  const said: string[] = [];
  const { transport } = simulator;
  const session = {
    transport,
    server: "https://cluster.example:6443",
    context: "example",
    close: () => {},
    passage: never,
  };
  const tools: Tools = {
    version: "1.2.3",
    connect: async () => ({ ...session, namespace: undefined }),
    page: never,
    runs: async () => runs,
    forecast: async (object) => forecast(object, {}),
    policies: async () => [],
    flag: async (text, family) => flagView(text, family),
    replay: async (text) => replayLines(text),
    preview: async (_, key) => {
      const found = await preview({ transport }, key);
      if (found.would !== "plan") return found;
      const { stages, status, memory, next } = found.plan;
      const { waitsFor, wakeAt } = waitIn(found.plan);
      return { would: "plan", stages, status, memory, waitsFor, wakeAt, again: next.do === "again" };
    },
    recover: (_, key, how) => recoverKey({ transport }, key, how, (ms) => tools.sleep(ms)),
    move: (_, move) => moveRecords(transport, move),
    ...{ directions: never, carryRecord: never },
    render: never,
    check: async (object) => check(object),
    crds: async () => [],
    pages: async () => docPages,
    host: async () => 0,
    demo: async () => 0,
    paint: plain,
    print: (text) => void said.push(text),
    warn: (text) => void said.push(text),
    confirm: async () => false,
    now: () => simulator.clock.now(),
    sleep: (ms) => stand.turn(ms),
    stopped: never,
    stdin: async () => stand.stdin ?? "",
  };
  await run(tools, args);
  return said.join("\n");
};
