/** All attacks. Crowds come last: the API server takes a while to delete the objects that they leave behind. */
import type { Attack } from "./attack.ts";
import { bells } from "./bells.ts";
import { bombs } from "./bombs.ts";
import { canaries } from "./canaries.ts";
import { crowds } from "./crowds.ts";
import { doorCrowds } from "./door-crowds.ts";
import { doors } from "./doors.ts";
import { escapes } from "./escapes.ts";
import { floods } from "./floods.ts";
import { memories } from "./memory.ts";
import { names } from "./names.ts";
import { pageDoors } from "./page-doors.ts";
import { records } from "./records.ts";
import { serversAndClocks } from "./servers.ts";
import { shares } from "./shares.ts";
import { signs } from "./signs.ts";
import { texts } from "./texts.ts";

export const all: readonly Attack[] = [
  ...bombs,
  ...texts,
  ...escapes,
  ...canaries,
  ...names,
  ...doors,
  ...doorCrowds,
  ...floods,
  ...records,
  ...bells,
  ...signs,
  ...pageDoors,
  ...memories,
  ...shares,
  ...crowds,
  ...serversAndClocks,
];
