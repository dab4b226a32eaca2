/** `spec.driverIngressOptions`: further ports of the driver, each with a Service and, with a URL format, an Ingress. */
import type { SparkApplicationSpec } from "../schema/application.ts";
import { addressOf } from "./address.ts";
import type { AuxiliaryObject, Subject } from "./object.ts";
import { ingressOf, ingressWords, serviceOf } from "./service-and-ingress.ts";

type Entry = NonNullable<SparkApplicationSpec["driverIngressOptions"]>[number];

const companionsOfPort = (subject: Subject, entry: Entry): readonly AuxiliaryObject[] => {
  const { name, spec } = subject;
  const { servicePort: port, ingressURLFormat: format = "" } = entry;
  const service = { name: `${name}-driver-${port}`, port };
  const served = serviceOf(subject, service.name, { name: entry.servicePortName, port, targetPort: port }, entry);
  if (format === "") return [served];
  const address = addressOf(format, subject);
  const words = ingressWords(subject, entry, spec.sparkUIOptions);
  return [served, ingressOf(subject, { name: `${name}-ing-${port}`, address, service, ...words })];
};

export const driverPortObjects = (subject: Subject): readonly AuxiliaryObject[] =>
  (subject.spec.driverIngressOptions ?? []).flatMap((entry) => companionsOfPort(subject, entry));
