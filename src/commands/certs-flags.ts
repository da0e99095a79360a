import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import {
  bundleIn,
  type CertificateStore,
  type Clock,
  type Cluster,
  clusterStore,
  clusterTargets,
  connect,
  folderStore,
  loadKubeConfig,
  noTargets,
  type Part,
  type Run,
  systemEntropy,
  type TargetAccess,
  type TargetKind,
} from '../certs/index.ts';
import { dns1035LabelProblems, dns1123LabelProblems, dns1123SubdomainProblems } from '../kubernetes/index.ts';
import { parseDuration } from './duration.ts';
import { FailureError, type Io, UsageError } from './program.ts';

/** Flags of the certs commands as commander hands them over. */
export interface CertsFlags {
  namespace?: string;
  service: string;
  secret: string;
  caSecret: string;
  dnsName: string[];
  ip: string[];
  mutatingWebhook: string[];
  validatingWebhook: string[];
  crd: string[];
  apiService: string[];
  extensionConfig: string[];
  targetSelector?: string;
  kubeconfig?: string;
  context?: string;
  certDir?: string;
  externalCa?: boolean;
  output: string;
  validity: string;
  caValidity: string;
  caRenewBefore: string;
  propagationDelay: string;
  overlap: string;
  force?: boolean;
  forceCa?: boolean;
  wait?: boolean;
  extensionConfigs?: boolean;
}

const collect = (value: string, before: string[]) => [...before, value];

/** Flags that say where things are: all commands have them. */
export function addPlaceFlags(command: Command): Command {
  return command
    .option(
      '--namespace <NAME>',
      "namespace of the Secrets and the service (default: the pod's own, or extensionconfig-webhook-system)",
    )
    .option('--service <NAME>', 'service that the webhooks call', 'extensionconfig-webhook')
    .option(
      '--secret <NAME>',
      'Secret with the serving certificate and the trust bundle',
      'extensionconfig-webhook-tls',
    )
    .option('--ca-secret <NAME>', "Secret with the authority's key", 'extensionconfig-webhook-ca')
    .option(
      '--external-ca',
      'somebody else makes the certificates: only inject ca.crt of --secret (of --ca-secret, when that is given)',
    )
    .option('--mutating-webhook <NAME>', 'MutatingWebhookConfiguration to inject into (repeatable)', collect, [])
    .option('--validating-webhook <NAME>', 'ValidatingWebhookConfiguration to inject into (repeatable)', collect, [])
    .option(
      '--crd <NAME>',
      'CustomResourceDefinition whose conversion webhook to inject into (repeatable)',
      collect,
      [],
    )
    .option('--api-service <NAME>', 'APIService to inject into (repeatable)', collect, [])
    .option('--extension-config <NAME>', 'ExtensionConfig to inject into (repeatable)', collect, [])
    .option('--target-selector <SELECTOR>', 'label selector of further targets, of all these kinds')
    .option('--kubeconfig <FILE>', 'kubeconfig (default: $KUBECONFIG, ~/.kube/config, or in-cluster)')
    .option('--context <NAME>', 'context of the kubeconfig')
    .option('--cert-dir <DIR>', 'folder of files instead of Secrets, for development; no targets then')
    .option('--output <FORMAT>', 'text or json', 'text');
}

/** Flags that say what certificates should be like and when they are renewed. */
export function addPolicyFlags(command: Command): Command {
  return command
    .option('--dns-name <NAME>', 'further DNS name of the serving certificate (repeatable)', collect, [])
    .option('--ip <ADDRESS>', 'IP address of the serving certificate (repeatable)', collect, [])
    .option('--validity <DURATION>', 'life of a serving certificate; renewed in its last third', '90d')
    .option('--ca-validity <DURATION>', 'life of an authority', '1825d')
    .option('--ca-renew-before <DURATION>', 'how long before its end an authority is rotated', '180d')
    .option('--propagation-delay <DURATION>', 'how long a new authority is trusted everywhere before it signs', '30s')
    .option('--overlap <DURATION>', 'how long the previous authority stays trusted', '24h');
}

/** What the flags mean. */
export interface Place {
  namespace: string;
  store: CertificateStore;
  targets: TargetAccess;
  cluster: Cluster | undefined;
  clock: Clock;
  names: string[];
  json: boolean;
  /** Why certificates are not ours to make, and where the bundle comes from instead; undefined when they are ours. */
  external(): Promise<string | undefined>;
  /** The bundle that `inject` writes. */
  bundle(): Promise<Part<string>>;
}

function podNamespace(): string | undefined {
  try {
    return readFileSync('/var/run/secrets/kubernetes.io/serviceaccount/namespace', 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

function check(flag: string, value: string, problems: (value: string) => string[]): void {
  const [problem] = problems(value);
  if (problem !== undefined) {
    throw new UsageError(`${flag}: ${JSON.stringify(value)} ${problem}`);
  }
}

/** Reads the flags; connects to nothing yet. */
export function readPlace(flags: CertsFlags, command: Command, io: Io): Place {
  if (flags.output !== 'text' && flags.output !== 'json') {
    throw new UsageError(`--output: ${JSON.stringify(flags.output)} is not one of text, json`);
  }
  const namespace = flags.namespace ?? podNamespace() ?? 'extensionconfig-webhook-system';
  check('--namespace', namespace, dns1123LabelProblems);
  check('--service', flags.service, dns1035LabelProblems);
  check('--secret', flags.secret, dns1123SubdomainProblems);
  check('--ca-secret', flags.caSecret, dns1123SubdomainProblems);
  if (flags.secret === flags.caSecret) {
    throw new UsageError('--secret and --ca-secret name the same Secret: pods would mount the key of the authority');
  }
  for (const name of flags.dnsName ?? []) {
    check('--dns-name', name.replace(/^\*\./, ''), dns1123SubdomainProblems);
  }
  for (const address of flags.ip ?? []) {
    if (isIP(address) === 0) {
      throw new UsageError(`--ip: ${JSON.stringify(address)} is no IP address`);
    }
  }
  const named: { kind: TargetKind; name: string }[] = (
    [
      ['MutatingWebhookConfiguration', flags.mutatingWebhook],
      ['ValidatingWebhookConfiguration', flags.validatingWebhook],
      ['CustomResourceDefinition', flags.crd],
      ['APIService', flags.apiService],
      ['ExtensionConfig', flags.extensionConfig],
    ] as const
  ).flatMap(([kind, names]) => names.map((name) => ({ kind, name })));
  const hasTargets = named.length > 0 || flags.targetSelector !== undefined;
  const clock: Clock = {
    now: () => new Date(),
    sleep: (ms) => sleep(Math.max(0, ms), undefined, { signal: io.signal }).catch(() => {}),
  };
  const { service } = flags;
  const names = [
    service,
    `${service}.${namespace}`,
    `${service}.${namespace}.svc`,
    `${service}.${namespace}.svc.cluster.local`,
  ];
  if (flags.certDir !== undefined) {
    if (hasTargets || flags.externalCa || flags.kubeconfig !== undefined || flags.extensionConfigs) {
      throw new UsageError(
        '--cert-dir keeps certificates in a folder, without a cluster: leave out the flags for targets, --external-ca and --kubeconfig',
      );
    }
    names.push('localhost', '127.0.0.1', '::1');
  }
  names.push(...(flags.dnsName ?? []), ...(flags.ip ?? []));

  let cluster: Cluster | undefined;
  if (flags.certDir === undefined) {
    try {
      cluster = connect(loadKubeConfig({ kubeconfig: flags.kubeconfig, context: flags.context }), io.signal);
    } catch (error) {
      throw new UsageError(`no cluster: ${(error as Error).message}`);
    }
  }
  const store =
    cluster === undefined
      ? folderStore(flags.certDir as string)
      : clusterStore(cluster, namespace, { authority: flags.caSecret, serving: flags.secret });
  const source =
    flags.externalCa && command.getOptionValueSource('caSecret') === 'cli'
      ? ('authority' as const)
      : ('serving' as const);
  return {
    namespace,
    store,
    cluster,
    clock,
    names: [...new Set(names)],
    json: flags.output === 'json',
    targets:
      cluster === undefined
        ? noTargets
        : clusterTargets(cluster, { named, selector: flags.targetSelector, service: { namespace, name: service } }),
    async external() {
      if (flags.externalCa) {
        return `certificates are not made here (--external-ca): only ca.crt of ${store.describe(source)} is injected`;
      }
      const annotations = (await store.read('serving'))?.annotations ?? {};
      return annotations['cert-manager.io/certificate-name'] === undefined
        ? undefined
        : `${store.describe('serving')} belongs to cert-manager: only its ca.crt is injected`;
    },
    bundle: async () => bundleIn((await store.read(source))?.data, store.describe(source)),
  };
}

/** A run of the state machine as the flags ask for it. */
export function readRun(flags: CertsFlags, place: Place, io: Io, mode: 'repair' | 'rotate'): Omit<Run, 'report'> {
  const leafValidityMs = parseDuration(flags.validity, '--validity');
  const caValidityMs = parseDuration(flags.caValidity, '--ca-validity');
  const caRenewBeforeMs = parseDuration(flags.caRenewBefore, '--ca-renew-before');
  if (leafValidityMs < 60_000) {
    throw new UsageError('--validity: less than 1m leaves no time to renew');
  }
  if (caRenewBeforeMs >= caValidityMs) {
    throw new UsageError('--ca-renew-before must be less than --ca-validity: every authority would be rotated at once');
  }
  return {
    store: place.store,
    targets: place.targets,
    clock: place.clock,
    entropy: systemEntropy,
    names: place.names,
    leafValidityMs,
    caValidityMs,
    sitOut: new Set(flags.wait ? ['propagation', 'overlap'] : mode === 'repair' ? ['propagation'] : []),
    settings: {
      mode,
      force: flags.force ?? flags.forceCa ?? false,
      forceCa: flags.forceCa ?? false,
      propagationDelayMs: parseDuration(flags.propagationDelay, '--propagation-delay'),
      overlapMs: parseDuration(flags.overlap, '--overlap'),
      caRenewBeforeMs,
    },
    signal: io.signal,
  };
}

/** Runs something and turns the errors of a cluster into a line for the operator. */
export async function orFail<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UsageError || error instanceof FailureError || !(error instanceof Error)) {
      throw error;
    }
    // TypeErrors and the like are bugs: their stack is wanted.
    if (error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError) {
      throw error;
    }
    throw new FailureError(error.message);
  }
}
