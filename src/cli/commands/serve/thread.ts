// The module of the thread in which `serve` decides on large bodies.
import { parentPort, workerData } from 'node:worker_threads';
import { reviewConversion } from '../../../extensionconfig/conversion/index.ts';
import { createDecide, type SideThreadTask } from '../../../webhook/index.ts';
import { admissionOf, type ServePolicy } from './policy.ts';

const policy = workerData as ServePolicy;
// The copy of the cluster is in the main thread.
const admission = admissionOf(policy, policy.hasFacts ? 'elsewhere' : undefined);
const decide = createDecide({ admission, convert: reviewConversion });

parentPort?.on('message', async ({ webhook, body }: SideThreadTask) => {
  parentPort?.postMessage(await decide(webhook, body, () => AbortSignal.any([])));
});
