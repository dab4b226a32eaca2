/** A SparkCluster before its objects exist. */
import type { Obj } from "../../core/object.ts";
import { forecastBy, type Rendered, type RenderedCase } from "../../kube/forecast.ts";
import { unservedIn } from "../apache/spec/read.ts";
import type { Options } from "../auxiliary-objects/options.ts";
import { clusterObjects } from "./objects.ts";
import { readCluster } from "./read.ts";

const rendered = (object: Obj, { uid, options }: RenderedCase<Options>): Rendered => {
  const read = readCluster(object);
  if (!read.ok) return { refused: read.message };
  const unserved = unservedIn(object, "cluster");
  if (unserved.length > 0) return { refused: unserved.join("; ") };
  const { name, namespace = "default" } = object.metadata;
  return {
    objects: clusterObjects({ name, namespace, uid, spec: read.spec, operatorName: options.apacheOperatorName }),
    notes: read.warnings,
  };
};

export const sparkClusterForecast = forecastBy(rendered);
