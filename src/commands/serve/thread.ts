// The module of the thread in which `serve` decides on large bodies.
import { workerData } from 'piscina';
import { reviewConversion } from '../../conversion/index.ts';
import { createDecide, type Reply, type SideThreadTask } from '../../webhook/index.ts';
import { admissionOf, nothingKnown, type ServePolicy } from './policy.ts';

const policy = workerData as ServePolicy;
const unknown = nothingKnown();
const decide = createDecide(admissionOf(policy, policy.hasFacts ? () => unknown : undefined), reviewConversion);

/** Answers one body. */
export default function answer({ webhook, body }: SideThreadTask): Reply {
  return decide(webhook, body);
}
