import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { crd, runtimeSdkFeatureGate } from '../../../extensionconfig/index.ts';
import { watchServingSecret } from '../../../kubernetes/client/index.ts';
import { createRuleSet, parseRulesConfig } from '../../../policy/index.ts';
import { type CertificateSource, secretCertificates } from '../../../server/index.ts';
import { defaultsOf } from '../../framework/flags.ts';
import { bootstrap } from '../certs/certs.ts';
import { ruleSetOptionsOf } from '../policy-flags.ts';
import { serveFlags } from '../serve/flags.ts';
import { startFromFlags } from '../serve/webhook.ts';

/** Namespace and Service of the webhook in the manifests, which the sandbox also uses. */
export const webhookService = { namespace: 'extensionconfig-webhook-system', name: 'extensionconfig-webhook' };
const servingSecret = 'extensionconfig-webhook-tls';

/** Milliseconds for requests in flight when the sandbox stops: its API server, the only client, sends no new ones. */
const stopping = { graceMs: 0, timeoutMs: 1_000 };

interface LocalWebhook {
  port: number;
  /** Resolves when it can say what writes replace; undefined if it does not. */
  impactReady: Promise<void> | undefined;
  stop(): Promise<void>;
}

interface LocalWebhookOptions {
  /** The cluster that it has facts about; default: none. */
  facts?: KubeConfig | undefined;
  /** The kubeconfig with which it says what writes replace; by default it does not. */
  impactKubeconfig?: string | undefined;
}

/** Starts the webhook on loopback, as `serve --feature-gates=RuntimeSDK=true` does. */
export async function startLocalWebhook(
  certificates: CertificateSource,
  log: Logger,
  { facts, impactKubeconfig }: LocalWebhookOptions,
): Promise<LocalWebhook> {
  const host = '127.0.0.1';
  const flags = {
    ...defaultsOf(serveFlags),
    ...{ host, port: 0, 'health-port': 0 },
    // With the gate disabled, every ExtensionConfig would be rejected, and there would be nothing to try.
    'feature-gates': { [runtimeSdkFeatureGate]: true },
    impact: impactKubeconfig !== undefined,
    kubeconfig: impactKubeconfig,
  };
  const { webhookPort, impactReady, stop } = await startFromFlags(flags, {
    certificates,
    rules: createRuleSet(ruleSetOptionsOf(flags)),
    facts,
    // Definitions are added while a sandbox is running, and should be noticed soon.
    pace: { maxRetryMs: 500 },
    impact: { ...parseRulesConfig('').impact, denies: true },
    log: log.child({}, { level: 'warn' }),
    processMetrics: false,
  });
  return { port: webhookPort, impactReady, stop: () => stop(stopping) };
}

/** The source of the certificate in the webhook's Secret. */
export const servingCertificates = (config: KubeConfig): CertificateSource =>
  secretCertificates(
    `${webhookService.namespace}/${servingSecret}`,
    watchServingSecret(config, webhookService.namespace, servingSecret),
  );

/** Creates the certificate of the webhook and injects its CA, as the certificate Jobs of a cluster do. */
export function bootstrapWebhook(kubeconfig: string, signal: AbortSignal): Promise<void> {
  // The configurations have the name of the Service.
  const { namespace, name } = webhookService;
  const target = [
    `MutatingWebhookConfiguration/${name}`,
    `ValidatingWebhookConfiguration/${name}`,
    `CustomResourceDefinition/${crd.metadata.name}`,
  ];
  return bootstrap({ kubeconfig, namespace, target }, signal);
}
