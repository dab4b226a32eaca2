/** The operator of the kind Queue, which the registry loads for a process that decides its objects. */
import type { Operator } from "../../core/operator.ts";
import { type QueueOptions, volcanoQueue } from "./decide.ts";

export const queueOperator = ({ queues }: { readonly queues: QueueOptions }): Operator<unknown> => volcanoQueue(queues);
