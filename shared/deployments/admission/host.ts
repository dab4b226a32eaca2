/** Admission in a host, from the host's settings. */
import { openTimeLimit } from "../../adapters/time-limit.ts";
import type { Reach } from "../../cli/installation/webhooks.ts";
import type { Transport } from "../../core/http.ts";
import type { Report } from "../../engine/ports.ts";
import { selectorOf } from "../../kube/selector.ts";
import { openNamespaceScope } from "../common/namespaces.ts";
import type { Configuration } from "../settings/table.ts";
import { givenCertificates, sharedCertificates } from "./certificates.ts";
import { surroundingsOf } from "./queues-and-namespaces.ts";
import { quotasOf } from "./quotas.ts";
import { register } from "./register.ts";
import { type OpenAdmission, serveAdmission } from "./server.ts";

const everyMs = 60_000;

/** Returns the names that the certificate must cover. */
const namesOf = (reach: Reach): readonly string[] => {
  if ("url" in reach) return [new URL(reach.url).hostname.replace(/^\[|\]$/g, "")];
  const { namespace, name } = reach.service;
  return [`${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`];
};

/** Serves admission and registers it with the API server. */
export const openAdmission = (
  configuration: Configuration,
  transport: Transport,
  report: Report,
): Promise<OpenAdmission> => {
  const { admissionReach: reach, admissionSecret, admissionCertificates, admissionListen } = configuration;
  const { namespaces, namespaceSelector, families } = configuration;
  const shared = { transport, ...admissionSecret, names: namesOf(reach), now: Date.now };
  const pods = { queueGate: configuration.admissionQueueGate, groups: configuration.admissionResourceGroups };
  const at = admissionListen.lastIndexOf(":");
  return serveAdmission({
    listen: {
      hostname: admissionListen.slice(0, at).replace(/^\[|\]$/g, ""),
      port: Number(admissionListen.slice(at + 1)),
    },
    certificates:
      admissionCertificates === undefined ? sharedCertificates(shared) : givenCertificates(admissionCertificates),
    register: (ca) => register(transport, { reach, ca, namespaces, namespaceSelector, families, pods }),
    admits: {
      limit: openTimeLimit(),
      around: surroundingsOf(transport, Date.now),
      quotas: configuration.admissionQuota ? quotasOf(transport, Date.now) : undefined,
      selects: selectorOf(configuration.selector),
      pods,
      within: openNamespaceScope({ ...configuration, transport, report, now: Date.now }).within,
    },
    report,
    everyMs,
  });
};
