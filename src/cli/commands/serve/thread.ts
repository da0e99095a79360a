// The module of the thread in which `serve` decides on large bodies.
import { workerData } from 'piscina';
import { reviewConversion } from '../../../extensionconfig/conversion/index.ts';
import { createDecide, type Reply, type SideThreadTask } from '../../../webhook/index.ts';
import { admissionOf, type ServePolicy } from './policy.ts';

const policy = workerData as ServePolicy;
// The copy of the cluster is in the main thread.
const admission = admissionOf(policy, policy.hasFacts ? 'elsewhere' : undefined);
const decide = createDecide({ admission, convert: reviewConversion });

/** Decides on one body. */
export default function decideBody({ webhook, body }: SideThreadTask): Promise<Reply> {
  return decide(webhook, body, () => AbortSignal.any([]));
}
