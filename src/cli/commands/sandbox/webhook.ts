import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { createImpactReviews, type ImpactReviews } from '../../../checks/impact/index.ts';
import { reviewConversion } from '../../../extensionconfig/conversion/index.ts';
import { crd, runtimeSdkFeatureGate } from '../../../extensionconfig/index.ts';
import { watchServingSecret } from '../../../kubernetes/client/index.ts';
import { addWatchingMetrics, type Watching } from '../../../policy/cluster-facts/index.ts';
import { createAdmission, createRuleSet } from '../../../policy/index.ts';
import { type CertificateSource, secretCertificates } from '../../../server/index.ts';
import { type RunningWebhook, startWebhook } from '../../../webhook/index.ts';
import { defaultsOf } from '../../framework/flags.ts';
import { version } from '../../framework/version.ts';
import { bootstrap } from '../certs/certs.ts';
import { followCluster } from '../follow-cluster.ts';
import { policyFlags, ruleSetOptionsOf } from '../policy-flags.ts';

/** Namespace and Service of the webhook in the manifests, which the sandbox also uses. */
export const webhookService = { namespace: 'extensionconfig-webhook-system', name: 'extensionconfig-webhook' };
export const configurationName = 'extensionconfig-webhook';
const servingSecret = 'extensionconfig-webhook-tls';

/** The clientConfig of the webhook for a path. */
export type ClientConfigOf = (path: string) => object;

/** By its Service; `certs bootstrap` injects the caBundle. */
export const byService: ClientConfigOf = (path) => ({ service: { ...webhookService, path } });

/** Milliseconds for requests in flight when the sandbox stops: its API server, the only client, sends no new ones. */
const stopping = { graceMs: 0, timeoutMs: 1_000 };

/** Starts the real webhook server on loopback, as `serve --feature-gates=RuntimeSDK=true` does. */
export async function startLocalWebhook(
  certificates: CertificateSource,
  log: Logger,
  port = 0,
  watching?: Watching,
  impact?: ImpactReviews,
): Promise<RunningWebhook> {
  const now = () => new Date();
  // With the gate disabled, every ExtensionConfig would be rejected, and there would be nothing to try.
  const featureGates = { [runtimeSdkFeatureGate]: true };
  return startWebhook({
    admission: createAdmission({
      rules: createRuleSet(ruleSetOptionsOf(defaultsOf(policyFlags))),
      isRuntimeSdkEnabled: true,
      now,
      facts: watching?.read,
    }),
    refresh: watching?.refresh,
    impact: impact?.review,
    addMetrics: watching && ((registry, prefix) => addWatchingMetrics(registry, prefix, watching)),
    convert: reviewConversion,
    certificates,
    webhook: { host: '127.0.0.1', port },
    health: { host: '127.0.0.1', port: 0 },
    log: log.child({}, { level: 'warn' }),
    version,
    featureGates,
    processMetrics: false,
    now,
  });
}

export interface LocalWebhook {
  port: number;
  stop(): Promise<void>;
}

interface LocalWebhookOptions {
  port?: number;
  /** Whether it has facts about the cluster. */
  clusterFacts?: boolean | undefined;
  /** The kubeconfig with which it says what writes replace; by default it does not. */
  impactKubeconfig?: string | undefined;
}

/** Starts the webhook with the certificate in its Secret. */
export async function startWebhookOfSecret(
  config: KubeConfig,
  log: Logger,
  { port = 0, clusterFacts = false, impactKubeconfig }: LocalWebhookOptions = {},
): Promise<LocalWebhook> {
  // Definitions are added while a sandbox is running, and should be noticed soon.
  const watching = clusterFacts ? followCluster(config, log, { pace: { maxRetryMs: 500 } }) : undefined;
  const impact =
    impactKubeconfig === undefined
      ? undefined
      : createImpactReviews({
          kubeconfig: { kubeconfig: impactKubeconfig },
          clusterApiVersion: undefined,
          denies: true,
          updatesInPlace: false,
          callsExtensions: false,
          log: log.child({}, { level: 'error' }),
        });
  const server = await startLocalWebhook(
    secretCertificates(
      `${webhookService.namespace}/${servingSecret}`,
      watchServingSecret(config, webhookService.namespace, servingSecret),
    ),
    log,
    port,
    watching,
    impact,
  );
  return {
    port: server.webhookPort,
    async stop() {
      watching?.stop();
      await server.stop(stopping);
      await impact?.stop();
    },
  };
}

/** Creates the certificate of the webhook and injects its CA, as the certificate Jobs of a cluster do. */
export function bootstrapWebhook(kubeconfig: string, signal: AbortSignal): Promise<void> {
  const configuration = [configurationName];
  const targets = { 'mutating-webhook': configuration, 'validating-webhook': configuration, crd: [crd.metadata.name] };
  return bootstrap({ kubeconfig, namespace: webhookService.namespace, ...targets }, signal);
}
