/** Amounts, names and their bounds that nobody can mean, or that Spark or Kubernetes would refuse. */
import { inDriver, type Row, refuses, runs, warns } from "./row.ts";

const size = /^spec\.driver\.memory: ".*" is not a size that Spark reads; write it like "512m" or "2g"$/;

const badSizes = ["1Gi", "-1g", "1.5g", "999999999Ti", "１ｇ", "", " ", "1 g", "g", "1e3m", "0x10m", "1gg", "∞"];
const goodSizes = ["1G", "512M ", "1024", "1gb", "1048576k"];

const sizes: readonly Row[] = [
  ...badSizes.map((memory) => refuses(`memory ${JSON.stringify(memory)}`, { driver: { memory } }, size)),
  ...goodSizes.map((memory) =>
    runs(`memory ${JSON.stringify(memory)} is one`, { driver: { memory } }, (made) =>
      /"memory":"\d+Mi"/.test(inDriver(made, "spec", "containers", "0", "resources")),
    ),
  ),
  warns(
    "memory of nothing",
    { driver: { memory: "0" } },
    /spark\.driver\.memory: "0" is not a size in bytes that Spark reads/,
  ),
  refuses("executor's memory", { executor: { memory: "2Gi" } }, /^spec\.executor\.memory: "2Gi" is not a size/),
  refuses(
    "overhead in percent",
    { driver: { memoryOverhead: "10%" } },
    /^spec\.driver\.memoryOverhead: "10%" is not a size/,
  ),
  refuses(
    "a limit in words",
    { executor: { memoryLimit: "lots" } },
    /^spec\.executor\.memoryLimit: "lots" is not a size; write it like "2g" or "2Gi"$/,
  ),
  refuses(
    "a factor in words",
    { memoryOverheadFactor: "ten percent" },
    /^spec\.memoryOverheadFactor: "ten percent" is not a ratio; write it like "0\.1"$/,
  ),
  refuses("a negative factor", { memoryOverheadFactor: "-0.1" }, /^spec\.memoryOverheadFactor: "-0\.1" is not a ratio/),
  refuses(
    "a factor that is a number",
    { memoryOverheadFactor: 0.1 },
    /^spec\.memoryOverheadFactor must be a string, not a number: put it in quotes$/,
  ),
  refuses(
    "a request of half a core in words",
    { driver: { coreRequest: "half" } },
    /^spec\.driver\.coreRequest: "half" is not a quantity; write it like "500m" or "2"$/,
  ),
  refuses(
    "a limit with two points",
    { executor: { coreLimit: "1.2.3" } },
    /^spec\.executor\.coreLimit: "1\.2\.3" is not a quantity/,
  ),
  runs(
    "a request of more cores than a whole number holds",
    { driver: { coreRequest: "99999999999999999999" }, executor: { coreRequest: "99999999999999999999" } },
    (made) => inDriver(made, "spec", "containers", "0", "resources").includes("99999999999999999999"),
  ),
  refuses(
    "no GPU",
    { driver: { gpu: { name: "nvidia.com/gpu", quantity: 0 } } },
    /^spec\.driver\.gpu\.quantity must be at least 1$/,
  ),
  refuses(
    "half a GPU",
    { executor: { gpu: { name: "nvidia.com/gpu", quantity: 0.5 } } },
    /^spec\.executor\.gpu\.quantity must be a whole number/,
  ),
  refuses(
    "half a GPU as text",
    { executor: { gpu: { name: "nvidia.com/gpu", quantity: "0.5" } } },
    /^spec\.executor\.gpu\.quantity must be a number, not a string$/,
  ),
  refuses(
    "a GPU without a name",
    { driver: { gpu: { name: "", quantity: 1 } } },
    /^spec\.driver\.gpu\.name is empty; write the resource's name/,
  ),
];

const scale = (more: object) => ({ dynamicAllocation: { enabled: true, ...more } });
const at = "^spec\\.dynamicAllocation\\.";

const bounds: readonly Row[] = [
  refuses(
    "more at least than at most",
    scale({ minExecutors: 5, maxExecutors: 2 }),
    new RegExp(`${at}minExecutors \\(5\\) is greater than maxExecutors \\(2\\)$`),
  ),
  refuses("none at most", scale({ maxExecutors: 0 }), new RegExp(`${at}maxExecutors must be at least 1, not 0$`)),
  refuses("fewer than none", scale({ minExecutors: -1 }), new RegExp(`${at}minExecutors must be at least 0, not -1$`)),
  refuses(
    "a first number below none",
    scale({ initialExecutors: -5 }),
    new RegExp(`${at}initialExecutors must be at least 0, not -5$`),
  ),
  {
    ...runs(
      "a first number above the most: Spark takes the most",
      scale({ initialExecutors: 9, maxExecutors: 3 }),
      () => true,
    ),
    warns: /initialExecutors \(9\) is greater than maxExecutors \(3\)/,
  },
  runs("bounds that are off", { dynamicAllocation: { minExecutors: 5, maxExecutors: 2 } }, () => true),
];

const named = (name: string, says: RegExp): Row => ({
  ...refuses(`name ${JSON.stringify(name.slice(0, 20))} of ${name.length}`, {}, says),
  metadata: { name },
});

const mustStart = /^metadata\.name ".*" must start with a lower case letter, end with a letter or digit and hold only/;

const names: readonly Row[] = [
  ...["9app", "-app", "app-", "App", "my_app", "my.app", "ünï", "a b", "app.", "😀", "a\u202eb", "a\u200bb"].map(
    (name) => named(name, mustStart),
  ),
  named("", mustStart),
  named("a".repeat(64), /^metadata\.name is 64 characters long, .*shorten it$/),
  named("a".repeat(253), /^metadata\.name is 253 characters long, .*shorten it$/),
  {
    ...runs(
      "a name of 63 is carried",
      {},
      (made) => inDriver(made, "metadata", "name") === `"${"a".repeat(63)}-driver"`,
    ),
    metadata: { name: "a".repeat(63) },
  },
];

const images: readonly Row[] = [
  warns(
    "no image",
    { image: undefined },
    /Must specify the driver container image: set spec\.image or spec\.driver\.image/,
  ),
  warns("an image of nothing", { image: "" }, /Must specify the driver container image/),
  refuses("an image by number", { image: 5 }, /^spec\.image must be a string, not a number: put it in quotes$/),
  runs(
    "the driver's own image is enough",
    { image: undefined, driver: { image: "mine:1" } },
    (made) => inDriver(made, "spec", "containers", "0", "image") === '"mine:1"',
  ),
  warns(
    "a pull policy of its own",
    { imagePullPolicy: "Sometimes" },
    /spark\.kubernetes\.container\.image\.pullPolicy: "Sometimes" is not one of Always, Never, IfNotPresent/,
  ),
];

/** A placeholder as Spark and shells write it; joined from two parts because it is meant as a text. */
export const placeholder = ["$", "{env:SECRET}"].join("");

const texts = [
  "\u202eevil\u202c",
  "zero\u200bwidth",
  "😀",
  "e\u0301",
  "\ud800",
  "tab\tnew\nline",
  "'; rm -rf / #",
  "$(id)",
  "`id`",
  placeholder,
  "%2e%2e%2f",
];

/** No shell reads an argument: each one reaches the driver as it was written. */
const unicode: readonly Row[] = texts.map((text) =>
  runs(`B14 an argument ${JSON.stringify(text)}`, { arguments: [text] }, ({ driver }) =>
    JSON.stringify(driver).includes(JSON.stringify(text).slice(1, -1)),
  ),
);

export const amounts: readonly Row[] = [...sizes, ...bounds, ...names, ...images, ...unicode];
