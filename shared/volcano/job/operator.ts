/** Job as the engine knows it: what to watch, how to read its memory, how to decide. */
import { fieldsOf } from "../../core/json.ts";
import type { Stored } from "../../core/object.ts";
import type { Operator } from "../../core/operator.ts";
import { isRecord, type Json } from "../../kube/responses.ts";
import { measuresOfJob } from "../metrics.ts";
import { component } from "../schema/resource.ts";
import { decide } from "./decide.ts";
import { troubleWord } from "./error-texts.ts";
import { type Memory, parseMemory } from "./memory.ts";
import { recovery } from "./recovery.ts";
import { tells } from "./update.ts";
import { jobWatcher } from "./watches.ts";

/** Returns the whole status with the given message in `state.message`, upstream's own field. */
const heldUp = (job: Stored, message: string): Json => {
  const status = fieldsOf(job["status"]);
  const state = isRecord(status["state"]) ? status["state"] : { phase: "Pending" };
  return { ...status, state: { ...state, message } };
};

export const volcanoJob: Operator<Memory> = {
  ...jobWatcher,
  component,
  parse: parseMemory,
  decide,
  tells,
  recovery,
  heldUp,
  troubleWord,
  measuresOf: measuresOfJob,
};
