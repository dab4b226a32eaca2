/** Bad pod templates of tasks, and amounts that cannot be parsed. */
import { container, type Fields, job, ofPod, ofTask, type Row } from "./row.ts";

const holding = (resources: Fields): Fields => ({ containers: [{ ...container, resources }] });

const limits = "spec\\.tasks\\[0\\]\\.template\\.spec\\.containers\\[0\\]\\.resources\\.limits";

const claim = (storage: unknown): Fields => ({
  volumes: [{ mountPath: "/x", volumeClaim: { resources: { requests: { storage } } } }],
});

const amounts: readonly Row[] = [
  ofPod(
    "an amount beyond all",
    holding({ limits: { cpu: "99999999999999999999E" } }),
    new RegExp(`^${limits}\\.cpu is more than`),
  ),
  ofPod(
    "an exponent beyond all",
    holding({ limits: { memory: "1e999999" } }),
    new RegExp(`^${limits}\\.memory must be an amount`),
  ),
  ofPod(
    "just more than 63 bits",
    holding({ limits: { memory: "9223372036854775808" } }),
    new RegExp(`^${limits}\\.memory is more than`),
  ),
  ofPod("a word for an amount", holding({ limits: { cpu: "lots" } }), new RegExp(`^${limits}\\.cpu must be an amount`)),
  ofPod("a comma in an amount", holding({ limits: { cpu: "1,5" } }), new RegExp(`^${limits}\\.cpu must be an amount`)),
  ofPod(
    "a negative amount",
    holding({ limits: { cpu: "-1" } }),
    new RegExp(`^${limits}\\.cpu must be at least 0, not -1`),
  ),
  ofPod(
    "an amount of what comes first",
    { initContainers: [{ name: "first", image: "x", resources: { requests: { cpu: "x" } } }] },
    /^spec\.tasks\[0\]\.template\.spec\.initContainers\[0\]\.resources\.requests\.cpu must be an amount/,
  ),
  ofPod(
    "an overhead beyond all",
    { overhead: { memory: "9Yi" } },
    /^spec\.tasks\[0\]\.template\.spec\.overhead\.memory must be an amount/,
  ),
  job(
    "a claim of a word",
    claim("big"),
    /^spec\.volumes\[0\]\.volumeClaim\.resources\.requests\.storage must be an amount/,
  ),
  job(
    "a claim beyond all",
    claim("9000000E"),
    /^spec\.volumes\[0\]\.volumeClaim\.resources\.requests\.storage is more than/,
  ),
];

const of = "^spec\\.task\\[0\\]\\.template\\.spec";

export const pods: readonly Row[] = [
  ...amounts,
  ofTask("no template", { template: undefined }, new RegExp(`${of}\\.containers: Required value`)),
  ofTask("a template by name", { template: "mine" }, /^spec\.tasks\[0\]\.template must be an object, not a string/),
  ofPod("no containers", { containers: [] }, new RegExp(`${of}\\.containers: Required value`)),
  ofPod(
    "no image",
    { containers: [{ name: "main" }] },
    new RegExp(`${of}\\.containers\\[0\\]\\.image: Required value`),
  ),
  ofPod("no name", { containers: [{ image: "x" }] }, new RegExp(`${of}\\.containers\\[0\\]\\.name: Required value`)),
  ofPod(
    "a name in capitals",
    { containers: [{ ...container, name: "Main" }] },
    new RegExp(`${of}\\.containers\\[0\\]\\.name: Invalid value`),
  ),
  ofPod(
    "two of one name",
    { containers: [container, container] },
    new RegExp(`${of}\\.containers\\[1\\]\\.name: Duplicate value: "main"`),
  ),
  ofPod(
    "a mount without its volume",
    { containers: [{ ...container, volumeMounts: [{ name: "x", mountPath: "/x" }] }] },
    new RegExp(`${of}\\.containers\\[0\\]\\.volumeMounts\\[0\\]\\.name: Not found: "x"`),
  ),
  ofPod("a restart policy of its own", { restartPolicy: "Sometimes" }, /restartPolicy: Unsupported value: "Sometimes"/),
];
