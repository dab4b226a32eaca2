/** All scenarios. */

import { admissions } from "./admissions.ts";
import { basics } from "./basics.ts";
import { disruptions } from "./budgets.ts";
import { changes } from "./changes.ts";
import { customs } from "./customs.ts";
import { deletions } from "./deletions.ts";
import { further } from "./further.ts";
import { quotas } from "./quotas.ts";
import { reads } from "./reads.ts";
import { rights } from "./rights.ts";
import { rings } from "./rings.ts";
import type { Scenario } from "./scenario.ts";
import { schemas } from "./schemas.ts";
import { sizes } from "./sizes.ts";

export const scenarios: readonly Scenario[] = [
  ...basics,
  ...changes,
  ...deletions,
  ...reads,
  ...customs,
  ...further,
  ...rights,
  ...quotas,
  ...sizes,
  ...admissions,
  ...rings,
  ...schemas,
  ...disruptions,
];
