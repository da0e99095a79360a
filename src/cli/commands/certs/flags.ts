import { setTimeout as sleep } from 'node:timers/promises';
import { isAddress, type Parsed } from '../../../base/x509/index.ts';
import { connect, loadKubeConfig, type shortRetries } from '../../../kubernetes/client/index.ts';
import { dns1035LabelProblems, dns1123LabelProblems, dns1123SubdomainProblems } from '../../../kubernetes/index.ts';
import {
  bundleIn,
  clusterStore,
  clusterTargets,
  folderStore,
  issuerAnnotation,
  noTargets,
  type Run,
  type StoredSecret,
  type TargetKind,
  targetKinds,
} from '../../../webhook/certs/index.ts';
import {
  choiceFlag,
  durationFlag,
  type Flags,
  type FlagValues,
  listFlag,
  outputFlag,
  switchFlag,
  textFlag,
} from '../../framework/flags.ts';
import { type Io, UsageError } from '../../framework/program.ts';
import { clusterFlags, orNoCluster, ownNamespace } from '../cluster-flags.ts';

const defaultService = 'extensionconfig-webhook';
export const defaultCaSecret = 'extensionconfig-webhook-ca';

function targetIn(text: string): { kind: TargetKind; name: string } {
  const at = text.indexOf('/');
  return { kind: text.slice(0, at) as TargetKind, name: text.slice(at + 1) };
}

function targetProblems(text: string): readonly string[] {
  const { kind, name } = targetIn(text);
  return targetKinds.includes(kind)
    ? dns1123SubdomainProblems(name)
    : [`must be KIND/NAME; the kinds are ${targetKinds.join(', ')}`];
}

const targetSummary =
  'webhook configuration, CustomResourceDefinition or ExtensionConfig to inject into; may be repeated';

/** A value of --target that stands for all ExtensionConfigs that name their Secret in an annotation. */
const annotatedTarget = 'ExtensionConfig';

function hostProblems(host: string): readonly string[] {
  if (isAddress(host)) {
    return [];
  }
  return isAddress(host.split('%', 1).join())
    ? ['must be an IP address without a zone']
    : dns1123SubdomainProblems(host.replace(/^\*\./, ''));
}

export const commonFlags = {
  namespace: textFlag('NAME', 'namespace of the Secrets and the service', {
    defaultText: "the pod's own, or extensionconfig-webhook-system",
    problemsOf: dns1123LabelProblems,
    short: 'n',
  }),
  service: textFlag('NAME', 'service that the webhooks call', {
    default: defaultService,
    problemsOf: dns1035LabelProblems,
  }),
  secret: textFlag('NAME', 'Secret with the serving certificate and the trust bundle', {
    default: 'extensionconfig-webhook-tls',
    problemsOf: dns1123SubdomainProblems,
  }),
  'ca-secret': textFlag('NAME', 'Secret with the CA and its key', {
    defaultText: defaultCaSecret,
    problemsOf: dns1123SubdomainProblems,
  }),
  'external-ca': switchFlag(
    'certificates are issued elsewhere: only inject ca.crt of --secret (or of --ca-secret, if set)',
  ),
  target: listFlag('KIND/NAME', targetSummary, { problemsOf: targetProblems }),
  selector: textFlag('SELECTOR', 'label selector for additional targets of all these kinds'),
  ...clusterFlags,
  'cert-dir': textFlag('DIR', 'folder for the files instead of Secrets, for development; excludes targets'),
  output: outputFlag(['text', 'json']),
} satisfies Flags;

export const issuingFlags = {
  'dns-name': listFlag('NAME', 'additional DNS name or IP address of the serving certificate; may be repeated', {
    problemsOf: hostProblems,
  }),
  'propagation-delay': durationFlag('0', '24h', '30s', 'how long a new CA is trusted everywhere before it signs'),
  overlap: durationFlag('0', '365d', '24h', 'how long the previous CA stays trusted'),
} satisfies Flags;

export const rotateFlags = {
  force: choiceFlag('WHAT', ['none', 'serving', 'ca'], 'renew the serving certificate now, or rotate the CA too'),
  wait: switchFlag('complete all stages in this run, including the waits'),
} satisfies Flags;

export const injectFlags = {
  target: listFlag(
    'KIND/NAME',
    `${targetSummary}. ${annotatedTarget} alone means all with the annotation runtime.cluster.x-k8s.io/inject-ca-from-secret`,
    { problemsOf: (text) => (text === annotatedTarget ? [] : targetProblems(text)) },
  ),
} satisfies Flags;

type RunIo = Pick<Io, 'env' | 'signal'>;
type Retries = typeof shortRetries;
type CommonFlags = FlagValues<typeof commonFlags>;
/** The values of the flags of commands that issue certificates; `bootstrap` and `status` lack those of `rotate`. */
export type RunFlags = CommonFlags & FlagValues<typeof issuingFlags> & Partial<FlagValues<typeof rotateFlags>>;

/** Maximum number of names in a serving certificate, with which it stays within 64 KiB, the limit for reading. */
const maxNames = 100;

export type CertsContext = Awaited<ReturnType<typeof readContext>>;

/** The targets of the shipped manifests, where no others are named and the service is theirs. */
const shippedTargets = [
  'MutatingWebhookConfiguration/extensionconfig-webhook',
  'ValidatingWebhookConfiguration/extensionconfig-webhook',
  'CustomResourceDefinition/extensionconfigs.runtime.cluster.x-k8s.io',
];

export const namedTargets = ({ target }: CommonFlags) =>
  target.filter((text) => text !== annotatedTarget).map(targetIn);

export const areAnnotatedMeant = ({ target }: CommonFlags): boolean => target.includes(annotatedTarget);

function servingNames(flags: CommonFlags & Partial<RunFlags>, namespace: string): string[] {
  const { service } = flags;
  const names = new Set([
    service,
    `${service}.${namespace}`,
    `${service}.${namespace}.svc`,
    `${service}.${namespace}.svc.cluster.local`,
    ...(flags['cert-dir'] === undefined ? [] : ['localhost', '127.0.0.1', '::1']),
    ...(flags['dns-name'] ?? []),
  ]);
  if (names.size > maxNames) {
    throw new UsageError(`--dns-name: ${names.size} names are too many for a certificate, which may have ${maxNames}`);
  }
  return [...names];
}

async function openStore(flags: CommonFlags, namespace: string, caSecret: string, io: RunIo, retries?: Retries) {
  const { service, secret } = flags;
  const folder = flags['cert-dir'];
  const selector = flags.selector;
  const named = namedTargets(flags);
  if (folder === undefined) {
    const isShipped = service === defaultService && !areAnnotatedMeant(flags);
    const areNamed = named.length > 0 || selector !== undefined;
    const cluster = connect(await orNoCluster(loadKubeConfig(flags, io.env)), io.signal, retries);
    return {
      cluster,
      store: clusterStore(cluster, namespace, { ca: caSecret, serving: secret }),
      targets: clusterTargets(cluster, {
        named: areNamed || !isShipped ? named : shippedTargets.map(targetIn),
        selector,
        service: { namespace, name: service },
      }),
    };
  }
  const isOfCluster = flags['external-ca'] || flags.kubeconfig !== undefined || flags.context !== undefined;
  if (isOfCluster || flags.target.length > 0 || selector !== undefined) {
    throw new UsageError(
      '--cert-dir keeps certificates in a folder, without a cluster: leave out the flags for targets, --external-ca, --kubeconfig and --context',
    );
  }
  return { cluster: undefined, store: folderStore(folder), targets: noTargets };
}

export async function readContext(flags: CommonFlags & Partial<RunFlags>, io: RunIo, retries?: Retries) {
  const namespace = flags.namespace ?? ownNamespace();
  const caSecret = flags['ca-secret'] ?? defaultCaSecret;
  if (flags.secret === caSecret) {
    throw new UsageError('--secret and --ca-secret name the same Secret: pods would mount the key of the CA');
  }
  const names = servingNames(flags, namespace);
  const { cluster, store, targets } = await openStore(flags, namespace, caSecret, io, retries);
  const source = flags['external-ca'] && flags['ca-secret'] !== undefined ? 'ca' : 'serving';
  return {
    namespace,
    store,
    cluster,
    targets,
    clock: {
      now: () => new Date(),
      sleep: (ms: number) => sleep(Math.max(0, ms), undefined, { signal: io.signal }).catch(() => {}),
    },
    names,
    signal: io.signal,
    output: flags.output,
    /** Why this program does not issue the certificates, and where the bundle comes from; undefined if it does. */
    external(serving: StoredSecret | undefined): string | undefined {
      if (flags['external-ca']) {
        return `certificates are not issued here (--external-ca): only ca.crt of ${store.describe(source)} is injected`;
      }
      return serving?.annotations[issuerAnnotation] === undefined
        ? undefined
        : `${store.describe('serving')} belongs to cert-manager: only its ca.crt is injected`;
    },
    // Where nothing is stored, a Secret does not exist, but a folder does.
    bundle: async (): Promise<Parsed<string>> =>
      bundleIn((await store.read(source))?.data ?? (cluster ? undefined : {}), store.describe(source)),
  };
}

export function readRun(flags: RunFlags, mode: 'repair' | 'rotate') {
  return {
    blockOn: new Set(flags.wait ? ['propagation', 'overlap'] : mode === 'repair' ? ['propagation'] : []),
    settings: {
      mode,
      force: flags.force === 'serving',
      forceCa: flags.force === 'ca',
      propagationDelayMs: flags['propagation-delay'],
      overlapMs: flags.overlap,
    },
  } satisfies Partial<Run>;
}
