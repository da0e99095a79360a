import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  KubeConfig,
  V1MutatingWebhook,
  V1MutatingWebhookConfiguration,
  V1ValidatingWebhook,
  V1ValidatingWebhookConfiguration,
} from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { parse, parseAllDocuments } from 'yaml';
import { orAborted, packageRoot } from '../../../base/index.ts';
import { crd } from '../../../extensionconfig/index.ts';
import { connect, loadKubeConfig } from '../../../kubernetes/client/index.ts';
import { type JsonObject, textAt } from '../../../kubernetes/index.ts';
import type { Resolve } from '../../../runtimehooks/client/index.ts';
import { startSandbox } from '../../../sandbox/index.ts';
import { webhookPaths } from '../../../webhook/index.ts';
import { portProblem } from '../../framework/port-problem.ts';
import { FailureError } from '../../framework/program.ts';
import { publishFile } from '../publish-file.ts';
import { bootstrapWebhook, servingCertificates, startLocalWebhook, webhookService } from './webhook.ts';

const levels = { denied: 'info', audit: 'info', 'failed-open': 'warn', bug: 'error' } as const;

/** The webhook configurations of an installation. The sandbox uses the same, so that manifests can be applied to it. */
const configurationsFile = new URL('manifests/base/webhooks.yaml', packageRoot);

/** Adds the webhook that says what writes replace. */
const impactComponent = new URL('manifests/components/impact/kustomization.yaml', packageRoot);

function impactWebhook(): V1ValidatingWebhook {
  const { patches } = parse(readFileSync(impactComponent, 'utf8')) as {
    patches: { target: { kind: string }; patch: string }[];
  };
  const { patch = '' } = patches.find(({ target }) => target.kind === 'ValidatingWebhookConfiguration') ?? {};
  const [{ value }] = parse(patch) as [{ value: V1ValidatingWebhook }];
  return value;
}

/** Optional parts of the webhook. */
interface Features {
  /** Whether it uses facts about the cluster, and is called for deletions. */
  clusterFacts?: boolean | undefined;
  /** Whether it says what writes of Clusters and ClusterClasses replace. */
  impact?: boolean | undefined;
}

function configurationsWith({ clusterFacts, impact }: Features) {
  return parseAllDocuments(readFileSync(configurationsFile, 'utf8')).map((document) => {
    const configuration = document.toJS() as V1MutatingWebhookConfiguration & V1ValidatingWebhookConfiguration;
    if (impact && configuration.kind === 'ValidatingWebhookConfiguration') {
      configuration.webhooks?.push(impactWebhook() as V1MutatingWebhook & V1ValidatingWebhook);
    }
    for (const entry of configuration.webhooks ?? []) {
      if (
        clusterFacts &&
        configuration.kind === 'ValidatingWebhookConfiguration' &&
        entry.name.startsWith('validate.')
      ) {
        // As in manifests/components/cluster-facts.
        entry.rules?.[0]?.operations?.push('DELETE');
      }
    }
    return configuration;
  });
}

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** The definitions of Cluster API's kinds that rules know, whose schemas allow any fields. */
const factDefinitions = (): JsonObject[] =>
  parseAllDocuments(readFileSync(new URL('manifests/samples/plan/crds.yaml', packageRoot), 'utf8'))
    .map((document) => document.toJS() as JsonObject)
    .filter((definition) => ['Cluster', 'ClusterClass'].includes(textAt(definition, 'spec', 'names', 'kind')));

const registrations = '/apis/admissionregistration.k8s.io/v1';

/**
 * Registers ExtensionConfig and the webhook in front of it, whose caBundles `certs bootstrap` injects; with `clusterFacts`
 * also the kinds that rules know.
 */
async function register(config: KubeConfig, signal: AbortSignal, features: Features): Promise<void> {
  const cluster = connect(config, signal);
  const conversion = {
    strategy: 'Webhook',
    webhook: {
      conversionReviewVersions: ['v1'],
      clientConfig: { service: { ...webhookService, path: webhookPaths.convert } },
    },
  };
  const definition = { ...crd, spec: { ...crd.spec, conversion } } as unknown as JsonObject;
  for (const body of [definition, ...(features.clusterFacts ? factDefinitions() : [])]) {
    await cluster.request('POST', definitions, body);
  }
  for (const body of configurationsWith(features)) {
    const kind = body.kind === 'MutatingWebhookConfiguration' ? 'mutating' : 'validating';
    // Parsed from YAML, so without the client's classes.
    await cluster.request('POST', `${registrations}/${kind}webhookconfigurations`, body as unknown as JsonObject);
  }
}

export interface RunningSandbox {
  url: string;
  config: KubeConfig;
  kubeconfigFile: string;
  stop(): Promise<void>;
}

interface SandboxSettings extends Features {
  port: number;
  /** Where other Services can be reached; by default only those of type ExternalName can. */
  resolve?: Resolve | undefined;
  /** Where to write the kubeconfig when everything is ready, besides the folder that is removed with the sandbox. */
  kubeconfigFile?: string | undefined;
  /** Called when ExtensionConfigs are served, before everything is ready. */
  prepare?(config: KubeConfig): Promise<void>;
}

/** Starts an API server and the webhook in front of it, as in a cluster. @throws {FailureError} */
export async function startSandboxWithWebhook(
  settings: SandboxSettings,
  log: Logger,
  signal: AbortSignal,
): Promise<RunningSandbox> {
  let local: Awaited<ReturnType<typeof startLocalWebhook>> | undefined;
  const sandbox = await startSandbox({
    port: settings.port,
    log: ({ event, message, ...about }) => log[levels[event]]({ ...about, message }, event),
    resolveService: ({ namespace, name, port }) => {
      const isOurs = namespace === webhookService.namespace && name === webhookService.name;
      const endpoint = local && { host: '127.0.0.1', port: local.port };
      return isOurs ? endpoint : settings.resolve?.(`${name}.${namespace}.svc:${port}`);
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
    await local?.stop();
    await sandbox.stop();
  }
  try {
    const ownFile = join(directory, 'kubeconfig');
    writeFileSync(ownFile, sandbox.kubeconfig, { mode: 0o600, flag: 'wx' });
    const config = await loadKubeConfig({ kubeconfig: ownFile }, {});
    await register(config, signal, settings);
    const namespace = { metadata: { name: webhookService.namespace } };
    await connect(config, signal).request('POST', '/api/v1/namespaces', namespace);
    await bootstrapWebhook(ownFile, signal);
    local = await startLocalWebhook(servingCertificates(config), log, {
      facts: settings.clusterFacts ? config : undefined,
      impactKubeconfig: settings.impact ? ownFile : undefined,
    });
    if (local.impactReady !== undefined) {
      await orAborted(local.impactReady, signal);
    }
    await settings.prepare?.(config);
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
