/** A command of the command line: its name, and how it is loaded once a user types it. */
import type { Command } from "commander";
import type { Tools } from "./tools.ts";

type Open = (tools: Tools) => Command;

export type Row = {
  readonly name: string;
  readonly alias?: string;
  readonly summary: string;
  /** `all` opens every other command. */
  readonly open: (all: () => Promise<readonly Command[]>) => Promise<Open>;
};
