import type { JsonObject } from '../../kubernetes/index.ts';
import type { Blueprint } from './blueprint.ts';

/** A kind of objects that a provider has. */
export interface ProviderKind {
  apiGroup: string;
  kind: string;
}

/** A Cluster to rehearse, and what is known beside it. */
export interface Subject {
  /** In v1beta2, with a topology. */
  cluster: JsonObject;
  /** Its class; undefined: an upgrade takes a minor a step, and nothing is patched. */
  blueprint: Blueprint | undefined;
  /** Kinds of the objects that Cluster API makes for it. */
  kinds: { infrastructure: ProviderKind; controlPlane: ProviderKind };
}
