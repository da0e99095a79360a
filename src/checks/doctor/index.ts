export { examineObject, type NamedObject } from './one-object.ts';
export { rolloutTicks } from './rollouts.ts';
export type { Installation, Tick } from './tick.ts';
export { upgradeTicks } from './upgrade.ts';

import { audit } from './audit.ts';
import { certificates, registered, rotation } from './certificates.ts';
import { type Installation, looking, skipped, type Tick } from './tick.ts';
import { featureGate, reachable, replicas } from './webhooks.ts';

const looks = {
  webhooks: registered,
  reachable,
  certificate: certificates,
  rotation,
  replicas,
  'feature gate': featureGate,
  audit,
};

/** Only reads, but for one dry run. */
export async function* examineInstallation(installation: Installation): AsyncGenerator<Tick> {
  if (installation.isSandbox) {
    yield skipped('sandbox', 'this is the embedded API server: admission works as in a cluster, and nothing else runs');
  }
  for (const [check, look] of Object.entries(looks)) {
    yield* await looking(check, () => look(installation));
  }
}
