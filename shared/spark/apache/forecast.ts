/** An application of Apache's operator before its submission: attempt 1 is the one with the id 0. */
import type { Obj } from "../../core/object.ts";
import { forecastBy, type Rendered, type RenderedCase } from "../../kube/forecast.ts";
import { localQueueOf } from "../../kube/kueue.ts";
import { policiesOf } from "../application/spec/policies.ts";
import type { Options } from "../auxiliary-objects/options.ts";
import { isOwn } from "../executors/owner.ts";
import { withConfDefaults } from "../schema/rules.ts";
import { readApache, unservedIn } from "./spec/read.ts";
import { submitApache } from "./submission.ts";

const rendered = (object: Obj, { attempt, uid, options }: RenderedCase<Options>): Rendered => {
  const read = readApache(object);
  if (!read.ok) return { refused: read.message };
  const unserved = unservedIn(object, "application");
  if (unserved.length > 0) return { refused: unserved.join("; ") };
  const { name, namespace = "default" } = object.metadata;
  const { sparkDefaults, apacheOperatorName: operatorName } = options;
  const spec = withConfDefaults(read.spec, sparkDefaults);
  const made = submitApache({
    ...{ app: { name, namespace, uid }, spec, attempt: attempt - 1, operatorName },
    own: isOwn(object.metadata.annotations ?? {}),
    queued: localQueueOf(object) !== undefined,
  });
  return "refused" in made
    ? made
    : { objects: [...made.before, made.driver], notes: [...read.warnings, ...policiesOf(object).problems] };
};

export const apacheSparkApplicationForecast = forecastBy(rendered);
