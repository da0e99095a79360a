import { defaultLimits, type Limits } from '../../server/index.ts';

/** The limits of an extension that differ from those of the webhook server. */
export const extensionLimits: Limits = {
  ...defaultLimits,
  // As in Cluster API's own server. The largest requests hold all templates of a Cluster.
  maxBodyBytes: 20 * 1024 * 1024,
  // A handler has at most 30 s; this is measured from the end of the request.
  responseTimeoutMs: 40_000,
};
