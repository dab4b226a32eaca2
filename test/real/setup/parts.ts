/** All parts. A new part is a file, and an entry in this list. */
import { aws } from "./aws.ts";
import { browser } from "./browser.ts";
import { connect } from "./connect.ts";
import { controllers } from "./controllers.ts";
import { examples } from "./examples.ts";
import { gateway } from "./gateway.ts";
import { go, goWithGangs } from "./go.ts";
import { helm } from "./helm.ts";
import { keda } from "./keda.ts";
import { knative } from "./knative.ts";
import { kueue } from "./kueue.ts";
import { lambda } from "./lambda.ts";
import { nats } from "./nats.ts";
import type { Part } from "./part.ts";
import { queue } from "./queue.ts";
import { moreSpark, spark } from "./spark.ts";
import { store } from "./store.ts";
import { system } from "./system.ts";

export const parts: readonly Part[] = [
  ...[system, go, spark, examples, connect, lambda, queue, store, aws, helm, knative],
  keda,
  gateway,
  kueue,
  ...controllers,
  goWithGangs,
  moreSpark,
  nats,
  browser,
];

/** The parts that `npm run setup` installs without arguments: those for real Spark on a real API server. */
export const usual: readonly string[] = ["system", "go", "spark", "examples"];
