import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { parse, parseAllDocuments } from 'yaml';
import { orAborted, packageRoot } from '../../../base/index.ts';
import { crd, group, runtimeSdkFeatureGate } from '../../../extensionconfig/index.ts';
import { connect, type KubernetesClient, loadKubeConfig } from '../../../kubernetes/client/index.ts';
import { type JsonObject, textAt } from '../../../kubernetes/index.ts';
import { createRuleSet, parseRulesConfig } from '../../../policy/index.ts';
import type { Resolve } from '../../../runtimehooks/client/index.ts';
import { startSandbox } from '../../../sandbox/index.ts';
import type { CertificateSource } from '../../../server/index.ts';
import { secretCertificates } from '../../../webhook/certs/index.ts';
import { webhookPaths } from '../../../webhook/index.ts';
import { defaultsOf } from '../../framework/flags.ts';
import { portProblem } from '../../framework/port-problem.ts';
import { FailureError } from '../../framework/program.ts';
import { bootstrap } from '../certs/certs.ts';
import { ruleSetOptionsOf } from '../policy-flags.ts';
import { publishFile } from '../publish-file.ts';
import { serveFlags, startFromFlags } from '../serve.ts';

const webhookService = { namespace: 'extensionconfig-webhook-system', name: 'extensionconfig-webhook' };

/** Name of the sample extension's namespace, and of everything in it. */
export const extensionName = 'sample-extension';
const extensionSecret = `${extensionName}-tls`;
export const extensionServices = `/api/v1/namespaces/${extensionName}/services`;

/** Milliseconds for requests in flight when the sandbox stops: its API server, the only client, sends no new ones. */
export const stopping = { graceMs: 0, timeoutMs: 1_000 };

const levels = { denied: 'info', audit: 'info', 'failed-open': 'warn', bug: 'error' } as const;

const manifest = (file: string) => readFileSync(new URL(`manifests/${file}`, packageRoot), 'utf8');

interface Configuration {
  kind: string;
  webhooks: { name: string; rules: { operations: string[] }[] }[];
}

function impactWebhook(): Configuration['webhooks'][number] {
  const { patches } = parse(manifest('components/impact/kustomization.yaml')) as {
    patches: { target: { kind: string }; patch: string }[];
  };
  const { patch = '' } = patches.find(({ target }) => target.kind === 'ValidatingWebhookConfiguration') ?? {};
  return (parse(patch) as [{ value: Configuration['webhooks'][number] }])[0].value;
}

/** The webhook configurations of an installation: manifests can be applied to the sandbox. */
function configurationsWith({ clusterFacts, impact }: SandboxSettings): Configuration[] {
  return parseAllDocuments(manifest('base/webhooks.yaml')).map((document) => {
    const configuration = document.toJS() as Configuration;
    const { kind, webhooks } = configuration;
    if (impact && kind === 'ValidatingWebhookConfiguration') {
      webhooks.push(impactWebhook());
    }
    if (clusterFacts) {
      // As in manifests/components/cluster-facts.
      webhooks.find(({ name }) => name.startsWith('validate.'))?.rules[0]?.operations.push('DELETE');
    }
    return configuration;
  });
}

/** The definitions of Cluster API's kinds that rules know, whose schemas allow any fields. */
const factDefinitions = (): JsonObject[] =>
  parseAllDocuments(manifest('samples/plan/crds.yaml'))
    .map((document) => document.toJS() as JsonObject)
    .filter((definition) => ['Cluster', 'ClusterClass'].includes(textAt(definition, 'spec', 'names', 'kind')));

/** Registers ExtensionConfig and the webhook in front of it; with `clusterFacts` also the kinds that rules know. */
async function register(cluster: KubernetesClient, settings: SandboxSettings): Promise<void> {
  const conversion = {
    strategy: 'Webhook',
    webhook: {
      conversionReviewVersions: ['v1'],
      clientConfig: { service: { ...webhookService, path: webhookPaths.convert } },
    },
  };
  const definition = { ...crd, spec: { ...crd.spec, conversion } } as unknown as JsonObject;
  for (const body of [definition, ...(settings.clusterFacts ? factDefinitions() : [])]) {
    await cluster.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body);
  }
  for (const body of configurationsWith(settings)) {
    const path = `/apis/admissionregistration.k8s.io/v1/${body.kind.toLowerCase()}s`;
    await cluster.request('POST', path, body as unknown as JsonObject);
  }
}

/** Registers the sample extension. Its CA is injected from the Secret with its certificate. */
async function registerExtension(cluster: KubernetesClient): Promise<void> {
  await cluster.request('POST', '/api/v1/namespaces', { metadata: { name: extensionName } });
  await cluster.request('POST', extensionServices, {
    metadata: { name: extensionName },
    spec: { ports: [{ name: 'hooks', port: 443 }] },
  });
  await cluster.request('POST', `/apis/${group}/v1beta2/extensionconfigs`, {
    apiVersion: `${group}/v1beta2`,
    kind: 'ExtensionConfig',
    metadata: {
      name: extensionName,
      annotations: { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': `${extensionName}/${extensionSecret}` },
    },
    spec: {
      clientConfig: { service: { namespace: extensionName, name: extensionName, port: 443 } },
      namespaceSelector: {},
    },
  });
}

/** Creates a CA and the certificate of a Service, as the certificate Jobs of a cluster do, and follows its Secret. */
async function issued(
  config: KubeConfig,
  flags: Parameters<typeof bootstrap>[0] & { namespace: string; secret: string },
  signal: AbortSignal,
): Promise<CertificateSource> {
  const { namespace, secret } = flags;
  await bootstrap(flags, signal);
  return secretCertificates(config, namespace, secret);
}

/** The certificate of the sample extension, issued into a Secret of the sandbox. */
export function extensionCertificates({ config, kubeconfigFile: kubeconfig }: RunningSandbox, signal: AbortSignal) {
  const names = { namespace: extensionName, service: extensionName, secret: extensionSecret };
  return issued(config, { kubeconfig, ...names, 'ca-secret': `${extensionName}-ca` }, signal);
}

/** Starts the webhook on loopback, as `serve --feature-gates=RuntimeSDK=true` does. */
async function startWebhook(
  config: KubeConfig,
  kubeconfig: string,
  { clusterFacts, impact }: SandboxSettings,
  log: Logger,
  signal: AbortSignal,
) {
  const { namespace } = webhookService;
  const flags = {
    ...defaultsOf(serveFlags),
    ...{ host: '127.0.0.1', port: 0, 'health-port': 0, impact, kubeconfig },
    // With the gate disabled, every ExtensionConfig would be rejected, and there would be nothing to try.
    'feature-gates': { [runtimeSdkFeatureGate]: true },
  };
  return startFromFlags(flags, {
    certificates: await issued(config, { kubeconfig, namespace, secret: 'extensionconfig-webhook-tls' }, signal),
    rules: createRuleSet(ruleSetOptionsOf(flags)),
    facts: clusterFacts ? config : undefined,
    // Definitions are added while a sandbox is running, and should be noticed soon.
    pace: { maxRetryMs: 500 },
    impact: { ...parseRulesConfig('').impact, denies: true },
    log: log.child({}, { level: 'warn' }),
    processMetrics: false,
  });
}

export type RunningSandbox = Awaited<ReturnType<typeof startSandboxWithWebhook>>;

interface SandboxSettings {
  port: number;
  /** Where other Services can be reached; by default only those of type ExternalName can. */
  resolve: Resolve;
  /** Where to write the kubeconfig when everything is ready, besides the folder that is removed with the sandbox. */
  kubeconfigFile: string | undefined;
  /** Whether the webhook uses facts about the cluster, and is called for deletions. */
  clusterFacts: boolean;
  impact: boolean;
  hasExtension: boolean;
}

/** Starts an API server and the webhook in front of it, as in a cluster. @throws {FailureError} */
export async function startSandboxWithWebhook(settings: SandboxSettings, log: Logger, signal: AbortSignal) {
  let local: Awaited<ReturnType<typeof startWebhook>> | undefined;
  const sandbox = await startSandbox({
    port: settings.port,
    log: ({ event, message, ...about }) => log[levels[event]]({ ...about, message }, event),
    resolveService: ({ namespace, name, port }) => {
      const isOurs = namespace === webhookService.namespace && name === webhookService.name;
      const endpoint = local && { host: '127.0.0.1', port: local.port };
      return isOurs ? endpoint : settings.resolve(`${name}.${namespace}.svc:${port}`);
    },
  }).catch((error: NodeJS.ErrnoException) => {
    throw new FailureError(
      portProblem(error.code, settings.port, '--port') ?? `the sandbox could not start: ${error.message}`,
    );
  });
  const directory = mkdtempSync(join(tmpdir(), 'extensionconfig-sandbox-'));
  const files = [directory];
  function clear(): void {
    for (const file of files) {
      rmSync(file, { recursive: true, force: true });
    }
  }
  // No token is left behind, however the program ends.
  process.once('exit', clear);
  async function stop(): Promise<void> {
    clear();
    process.off('exit', clear);
    await local?.stop(stopping);
    await sandbox.stop();
  }
  try {
    const ownFile = join(directory, 'kubeconfig');
    writeFileSync(ownFile, sandbox.kubeconfig, { mode: 0o600, flag: 'wx' });
    const config = await loadKubeConfig({ kubeconfig: ownFile }, {});
    const cluster = connect(config, signal);
    await register(cluster, settings);
    await cluster.request('POST', '/api/v1/namespaces', { metadata: { name: webhookService.namespace } });
    local = await startWebhook(config, ownFile, settings, log, signal);
    await orAborted(local.impactReady, signal);
    if (settings.hasExtension) {
      await registerExtension(cluster);
    }
    signal.throwIfAborted();
    if (settings.kubeconfigFile !== undefined) {
      publishFile('the kubeconfig', settings.kubeconfigFile, sandbox.kubeconfig);
      files.push(settings.kubeconfigFile);
    }
    return { url: sandbox.url, config, kubeconfigFile: settings.kubeconfigFile ?? ownFile, stop };
  } catch (error) {
    await stop();
    throw signal.aborted ? signal.reason : error;
  }
}
