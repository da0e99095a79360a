import type { JsonObject } from '../../../kubernetes/index.ts';
import type { Blueprint } from './blueprint.ts';

/** A kind of a provider's objects. */
interface ProviderKind {
  apiGroup: string;
  kind: string;
}

/** A Cluster to rehearse, and what is known about it. */
export interface RehearsedCluster {
  /** In v1beta2, with a topology. */
  cluster: JsonObject;
  /** Its class. If undefined, upgrades take one minor per step, and nothing is patched. */
  blueprint: Blueprint | undefined;
  /** Kinds of the objects that Cluster API creates for it. */
  kinds: { infrastructure: ProviderKind; controlPlane: ProviderKind };
  /** Fields of the Cluster in the file that v1beta2 does not have, and that were dropped. */
  dropped: readonly string[];
}
