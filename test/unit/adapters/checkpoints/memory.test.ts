/** The store in memory. */
import { memoryCheckpoints } from "../../../../shared/adapters/checkpoints/memory.ts";
import { checkpointSuite } from "./suite.ts";

checkpointSuite("memory", memoryCheckpoints);
