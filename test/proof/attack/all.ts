/** Every attack there is. Crowds come last: what they leave behind takes the API server a while to clear away. */
import type { Attack } from "./attack.ts";
import { bombs } from "./bombs.ts";
import { canaries } from "./canaries.ts";
import { crowds } from "./crowds.ts";
import { doorCrowds } from "./door-crowds.ts";
import { doors } from "./doors.ts";
import { escapes } from "./escapes.ts";
import { memories } from "./memory.ts";
import { names } from "./names.ts";
import { serversAndClocks } from "./servers.ts";
import { texts } from "./texts.ts";

export const all: readonly Attack[] = [
  ...bombs,
  ...texts,
  ...escapes,
  ...canaries,
  ...names,
  ...doors,
  ...doorCrowds,
  ...memories,
  ...crowds,
  ...serversAndClocks,
];
