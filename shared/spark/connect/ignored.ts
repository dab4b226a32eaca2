/** The content of a SparkConnect that its server does not get: confs, fields of its pod's and its service's templates. */
import type { Stored } from "../../core/object.ts";
import { replacedConfs } from "../ignored/confs.ts";
import { type Advice, overwrittenFields } from "../ignored/fields.ts";
import { podOddities } from "../ignored/pods.ts";
import { idleLimitOf } from "./idle.ts";
import { confsOfServer, type Images, type Server, serverPod, service } from "./objects.ts";

const advice: Advice = [
  [/\.(command|args)/, "the server's command is Rekindle's: write confs in spec.sparkConf"],
  [/\.lifecycle/, "the server's end is Rekindle's: remove it"],
  [/^\.metadata\.(labels|name)|\.selector/, "Rekindle finds the server by it: use another one"],
  [/\.ports/, "the ports are Spark's: remove it"],
];

/** Notes on a SparkConnect that doors tell before its server exists. */
export const notesOfServer = (owner: Stored, server: Server, images: Images): readonly string[] => [
  ...podOddities("server", serverPod(owner, server, images)),
  ...ignoredOfServer(owner, server, images),
];

/** One sentence for each. */
export const ignoredOfServer = (owner: Stored, server: Server, images: Images): readonly string[] => {
  const { sparkConf: confs, server: own } = server.spec;
  const { pairs, originOf } = confsOfServer(server, images.executor);
  const final = new Map(pairs.map(([key, value]) => [key, `${value}`]));
  const pod = { path: "spec.server.template", template: own.template, made: serverPod(owner, server, images) };
  const door = { path: "spec.server.service", template: own.service, made: service(owner, server) };
  return [
    ...idleLimitOf(owner.metadata.annotations).problems,
    ...replacedConfs({ confs, final, originOf }),
    ...overwrittenFields(pod, advice),
    ...overwrittenFields(door, advice),
  ];
};
