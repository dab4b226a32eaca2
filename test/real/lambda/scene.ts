/** The context of a case of this lane: the toy function on its own folder, a queue, and a ledger. */
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import type { SQSClient } from "@aws-sdk/client-sqs";
import { type Fates, spared } from "./fates.ts";
import { type Ledger, openLedger } from "./ledger.ts";
import { deploy, type Lambda } from "./pool.ts";
import type { Random } from "./random.ts";

export type Scene = {
  /** Path of the real runtime interface client. */
  readonly client: string;
  readonly dir: string;
  readonly random: Random;
  readonly queue: SQSClient;
};

/** A case. `run` throws the failure, and returns lines for the report. */
export type Case = { readonly name: string; readonly run: (scene: Scene) => Promise<readonly string[]> };

export const must = (holds: boolean, message: string): void => {
  if (!holds) throw new Error(message);
};

export type Toy = { readonly lambda: Lambda; readonly ledger: Ledger; readonly dir: string };

export type ToyOptions = {
  readonly fates?: Fates;
  readonly timeoutMs?: number;
  readonly concurrency?: number;
  readonly environment?: Readonly<Record<string, string>>;
};

/** The module `toy.mjs`, as a function's folder and file. */
const bundle = new URL("./toy.mjs", import.meta.url).pathname;

/** Deploys the toy, runs `work` with it, and ends all its environments. */
export const withToy = async <T>(scene: Scene, options: ToyOptions, work: (toy: Toy) => Promise<T>): Promise<T> => {
  const dir = await mkdtemp(join(scene.dir, "toy-"));
  const ledger = openLedger();
  const lambda = deploy(
    { client: scene.client, ledger, fates: () => options.fates ?? spared },
    {
      name: "toy",
      taskRoot: join(bundle, ".."),
      module: "toy",
      memoryMb: 128,
      timeoutMs: options.timeoutMs ?? 3_000,
      concurrency: options.concurrency ?? 1,
      environment: { TOY_DIR: dir, ...options.environment },
      logDir: dir,
    },
  );
  try {
    return await work({ lambda, ledger, dir });
  } finally {
    await lambda.stop();
  }
};
