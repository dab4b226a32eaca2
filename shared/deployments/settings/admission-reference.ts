/** The documentation of the settings of admission. */
import { absentInHost, admissionByObjects, byFlag, byUrl, type Reference } from "./absence.ts";

export const admissionReference = {
  admission: {
    form: "switch",
    text: "serve admission webhooks over HTTPS and register them with the API server",
    value: "webhook.enable",
    valueOnly: true,
    absent: { sam: byUrl, hostOverlay: byFlag },
  },
  admissionListen: {
    form: "text",
    text: "listen address of admission",
    ...admissionByObjects,
  },
  admissionReach: {
    form: "text",
    text: "address at which the API server calls admission: a Service as NAMESPACE/NAME[:PORT], or an https:// URL",
    ...admissionByObjects,
  },
  admissionSecret: {
    form: "text",
    text: "Secret with the certificate that the replicas share and renew",
    ...admissionByObjects,
  },
  admissionCertificates: {
    form: "text",
    text: "folder with tls.crt, tls.key and ca.crt that another tool renews, e.g. cert-manager; replaces the Secret",
    absent: { sam: byUrl, hostOverlay: byFlag },
  },
  admissionPath: {
    form: "secret",
    text: "path prefix of admission and of the bell, or two with a comma between them while it is changed; without it admission answers at /mutate and /validate; a dispatcher with it serves the bell, and opens no watch",
    parameter: "AdmissionPath",
    ...absentInHost("only the API server reaches its admission, with a certificate of its own"),
  },
  admissionQuota: {
    form: "switch",
    text: "admission refuses applications of Spark whose first pods exceed a ResourceQuota: the driver and the initial executors, as planned from spec and confs",
    value: "webhook.resourceQuotaEnforcement.enable",
    valueOnly: true,
  },
  admissionQuotaEstimate: {
    form: "switch",
    text: "admissionQuota counts upstream's estimate in place of the planned pods: cores, memory and instances of the spec's fields alone",
  },
  admissionQueueGate: {
    form: "switch",
    text: "admission adds a scheduling gate to pods with the annotation scheduling.volcano.sh/queue-allocation-gate until their queue has room; for a Volcano scheduler with SchedulingGatesQueueAdmission",
    value: "webhook.queueGate",
  },
  admissionResourceGroups: {
    form: "JSON",
    text: "JSON: the resourceGroups of Volcano's volcano-admission.conf, which admission writes into their pods",
    value: "webhook.resourceGroups",
  },
} as const satisfies Readonly<Record<string, Reference>>;
