/** A SparkConnect before its submission: its ConfigMap, its Service and its server's pod. */
import type { Obj } from "../../core/object.ts";
import { forecastBy, type Rendered, type RenderedCase } from "../../kube/forecast.ts";
import { inCluster } from "../auxiliary-objects/attempt.ts";
import type { Options } from "../auxiliary-objects/options.ts";
import { withConfDefaults } from "../schema/rules.ts";
import { notesOfServer } from "./ignored.ts";
import { configMap, serverPod, service } from "./objects.ts";
import { readConnectSpec } from "./read.ts";

const rendered = (object: Obj, { uid, options }: RenderedCase<Options>): Rendered => {
  const read = readConnectSpec(object);
  if (!read.ok) return { refused: read.message };
  const { name, namespace = "default", labels = {} } = object.metadata;
  const spec = withConfDefaults(read.spec, options.sparkDefaults);
  const server = { name, namespace, labels, spec, apiServer: inCluster };
  const owner = { ...object, metadata: { ...object.metadata, namespace, uid, resourceVersion: "0" } };
  return {
    objects: [configMap(owner, server), service(owner, server), serverPod(owner, server, read.images)],
    notes: notesOfServer(owner, server, read.images),
  };
};

export const sparkConnectForecast = forecastBy(rendered);
