import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { printable } from '../../base/index.ts';
import { reviewConversion, runtimeSdkFeatureGate } from '../../extensionconfig/index.ts';
import { connect, type KubernetesClient, loadKubeConfig, shortRetries } from '../../kubernetes/client/index.ts';
import { dns1035LabelProblems, namespacedNameIn } from '../../kubernetes/index.ts';
import { addWatchingMetrics, type WatchingOptions, watchCluster } from '../../policy/cluster-facts/index.ts';
import { createAdmission, createRuleSet, type ImpactConfig, type RuleSet } from '../../policy/index.ts';
import {
  type CertificateSource,
  fileCertificates,
  fixedCertificate,
  type RunningServer,
  selfSignedPair,
  stopInTime,
} from '../../server/index.ts';
import { bundleIn, repairEmptied, secretCertificates } from '../../webhook/certs/index.ts';
import { inPlaceFeatureGate, startWebhook } from '../../webhook/index.ts';
import { defineCommand } from '../framework/command.ts';
import { type Flags, type FlagValues, integerFlag, listFlag, switchFlag, textFlag } from '../framework/flags.ts';
import { openLog } from '../framework/log.ts';
import { started } from '../framework/port-problem.ts';
import { UsageError, untilStopped } from '../framework/program.ts';
import { version } from '../framework/version.ts';
import { clusterFlags, orNoCluster, ownNamespace } from './cluster-flags.ts';
import { featureGatesFlag } from './feature-gates-flag.ts';
import { policyFlags, ruleSetOptionsOf } from './policy-flags.ts';
import { serverFlags } from './server-flags.ts';

/** Seconds that even a slow cluster needs to remove a terminating pod from all endpoints. */
const shutdownDelayInPod = 10;

/** Seconds for answers after that: with the delay, less than the pods' terminationGracePeriodSeconds. */
const answersSeconds = 15;

/** Seconds for which connections are accepted after SIGTERM, which may arrive in a pod before endpoints are updated. */
const shutdownDelayOf = (flags: ServeFlags, env: NodeJS.ProcessEnv): number =>
  flags['shutdown-delay'] ?? (env.KUBERNETES_SERVICE_HOST === undefined ? 0 : shutdownDelayInPod);

export const serveFlags = {
  ...serverFlags,
  'cert-secret': textFlag(
    'NAMESPACE/NAME',
    'Secret with tls.crt and tls.key, watched through the API server, instead of a folder',
    { problemsOf: (text) => (namespacedNameIn(text) === undefined ? ['must be the NAMESPACE/NAME of a Secret'] : []) },
  ),
  ...clusterFlags,
  'client-allowed-name': listFlag(
    'NAME',
    'accept only client certificates with this common name or DNS name; may be repeated',
  ),
  'feature-gates': featureGatesFlag,
  ...policyFlags,
  'cluster-facts': switchFlag('watch the cluster for the rules that need facts about it'),
  'repair-ca-bundle': textFlag(
    'NAME',
    'fill in an empty caBundle of the webhook configurations NAME, for the Service NAME, with ca.crt of --cert-dir or --cert-secret',
    { problemsOf: dns1035LabelProblems },
  ),
  impact: switchFlag('warn of Machines that a change of a Cluster or a class will replace; needs --cluster-facts'),
  'impact-call-extensions': switchFlag('call external patch extensions when estimating impact'),
  'shutdown-delay': integerFlag(
    'SECONDS',
    0,
    3600,
    'how long connections are still accepted after SIGTERM, while endpoints catch up',
    { defaultText: `${shutdownDelayInPod} in a pod, otherwise 0` },
  ),
} satisfies Flags;

type ServeFlags = FlagValues<typeof serveFlags>;

async function certificatesOf(flags: ServeFlags, env: NodeJS.ProcessEnv) {
  const folder = flags['cert-dir'];
  const secret = flags['cert-secret'];
  if ([folder, secret, flags['self-signed'] || undefined].filter((source) => source !== undefined).length > 1) {
    throw new UsageError('--cert-dir, --cert-secret and --self-signed exclude each other: keep only one');
  }
  if (flags['self-signed']) {
    return fixedCertificate(selfSignedPair(new Date()));
  }
  if (secret !== undefined) {
    const [namespace = '', name = ''] = secret.split('/');
    const config = await orNoCluster(loadKubeConfig(flags, env), '--cert-secret: ');
    return secretCertificates(config, namespace, name);
  }
  if (folder === undefined) {
    throw new UsageError(
      'no serving certificate: pass --cert-dir with a folder that has tls.crt and tls.key, --cert-secret with a Secret, or --self-signed for development',
    );
  }
  return fileCertificates(folder);
}

function clientsOf(flags: ServeFlags) {
  const caFile = flags['client-ca-file'];
  const allowedNames = flags['client-allowed-name'];
  if (caFile === undefined && allowedNames.length > 0) {
    throw new UsageError(
      '--client-allowed-name needs --client-ca-file: without it clients are not asked for a certificate',
    );
  }
  return caFile === undefined ? undefined : { caFile, allowedNames };
}

/** Fills in an emptied caBundle of the webhook configurations every few seconds, until `signal`. Never rejects. */
async function keepCaBundles(
  cluster: KubernetesClient,
  service: { namespace: string; name: string },
  bundle: () => string | undefined,
  { log, signal }: { log: Logger; signal: AbortSignal },
): Promise<void> {
  let lastProblem: string | undefined;
  while (!signal.aborted) {
    let problem: string | undefined;
    try {
      const read = bundleIn({ 'ca.crt': bundle() ?? '' }, 'the folder of certificates');
      if (read.state === 'usable') {
        const targets = await repairEmptied(cluster, service, read.value);
        if (targets.length > 0) {
          log.warn({ targets }, 'an empty caBundle was filled in');
        }
      } else {
        problem = 'there is no trust bundle (ca.crt) beside the serving certificate';
      }
    } catch (error) {
      problem = printable((error as Error).message);
    }
    if (problem !== undefined && problem !== lastProblem && !signal.aborted) {
      log.error({ reason: problem }, 'an empty caBundle would not be filled in');
    }
    lastProblem = problem;
    await sleep(5000, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/** Returns a function that keeps caBundles filled in, if --repair-ca-bundle is given. */
async function repairOf(flags: ServeFlags, env: NodeJS.ProcessEnv, signal: AbortSignal) {
  const name = flags['repair-ca-bundle'];
  if (name === undefined) {
    return undefined;
  }
  if (flags['self-signed']) {
    throw new UsageError('--repair-ca-bundle needs the trust bundle of --cert-dir or --cert-secret, not --self-signed');
  }
  const config = await orNoCluster(loadKubeConfig(flags, env), '--repair-ca-bundle: ');
  const cluster = connect(config, signal, shortRetries);
  return (bundle: () => string | undefined, log: Logger) =>
    keepCaBundles(cluster, { namespace: ownNamespace(), name }, bundle, { log, signal });
}

interface Surroundings
  extends Pick<Parameters<typeof startWebhook>[0], 'certificates' | 'clients' | 'lostLogLines' | 'processMetrics'> {
  rules: RuleSet;
  /** The cluster to watch for rules that use facts about it; default: none. */
  facts?: KubeConfig | undefined;
  pace?: WatchingOptions['pace'];
  /** What is done with writes that replace or delete Machines. */
  impact: ImpactConfig;
  log: Logger;
}

/** Starts the webhook and what it watches; `stop` ends both. `impactReady` resolves when it can say what writes replace. */
export async function startFromFlags(
  flags: ServeFlags,
  { rules, facts, pace, impact: config, log, ...server }: Surroundings,
): Promise<Pick<RunningServer, 'port' | 'stop'> & { impactReady: Promise<void> }> {
  const featureGates = flags['feature-gates'];
  const now = () => new Date();
  const watching =
    facts &&
    watchCluster({
      config: facts,
      ...(pace && { pace }),
      onProblem(kind, problem) {
        if (problem === undefined) {
          log.info({ kind }, 'facts about the cluster are up to date again');
        } else {
          log.warn(
            { kind, problem },
            'facts about the cluster may be stale or missing, so rules that need them may report nothing',
          );
        }
      },
    });
  const impact = flags.impact
    ? // Most of the program, which serves only this.
      (await import('../../checks/impact/index.ts')).createImpactReviews({
        kubeconfig: { kubeconfig: flags.kubeconfig, context: flags.context },
        clusterApiVersion: flags['cluster-api-version'],
        config,
        facts: watching && (() => watching.read().facts),
        updatesInPlace: featureGates[inPlaceFeatureGate] === true,
        callsExtensions: flags['impact-call-extensions'],
        log,
      })
    : undefined;
  const isRuntimeSdkEnabled = featureGates[runtimeSdkFeatureGate] === true;
  try {
    const { port, stop } = await startWebhook({
      ...server,
      admission: createAdmission({ rules, isRuntimeSdkEnabled, now, facts: watching?.read }),
      refresh: watching?.refresh,
      impact: impact?.review,
      addMetrics(registry, prefix) {
        impact?.addMetrics(registry, prefix);
        if (watching !== undefined) {
          addWatchingMetrics(registry, prefix, watching);
        }
      },
      convert: reviewConversion,
      main: { host: flags.host, port: flags.port },
      health: { host: flags.host, port: flags['health-port'] },
      log,
      version,
      featureGates,
      now,
    });
    return {
      port,
      impactReady: impact?.ready ?? Promise.resolve(),
      async stop(options) {
        watching?.stop();
        await stop(options);
        await impact?.stop();
      },
    };
  } catch (error) {
    watching?.stop();
    await impact?.stop();
    throw error;
  }
}

export const command = defineCommand({
  description: 'Runs the admission webhooks over HTTPS.',
  flags: serveFlags,
  async run({ flags, io }) {
    const delayMs = shutdownDelayOf(flags, io.env) * 1000;
    const clients = clientsOf(flags);
    if (flags.impact && !flags['cluster-facts']) {
      throw new UsageError('--impact needs --cluster-facts, which is missing');
    }
    if (flags['impact-call-extensions'] && !flags.impact) {
      throw new UsageError('--impact-call-extensions needs --impact, which is missing');
    }
    const options = ruleSetOptionsOf(flags);
    const rules = createRuleSet(options);
    const source = await certificatesOf(flags, io.env);
    let bundle: string | undefined;
    const certificates: CertificateSource = (onEvent) =>
      source((event) => {
        bundle = event.kind === 'pair' ? event.bundle : bundle;
        onEvent(event);
      });
    const stopping = new AbortController();
    const repair = await repairOf(flags, io.env, stopping.signal);
    const facts = flags['cluster-facts']
      ? await orNoCluster(loadKubeConfig(flags, io.env), '--cluster-facts: ')
      : undefined;
    using output = await openLog(io.stdout, flags);
    const { log, lostLines } = output;
    if (options.impact.denies && !flags.impact) {
      log.warn('impact: deny in --rules-config has no effect without --impact');
    }
    const surroundings = { certificates, clients, rules, facts, impact: options.impact, log, lostLogLines: lostLines };
    const server = await started(startFromFlags(flags, { ...surroundings, processMetrics: true }));
    const repairing = repair?.(() => bundle, log);
    await untilStopped(io);
    stopping.abort();
    await repairing;
    await stopInTime(log, delayMs + answersSeconds * 1000, (timeoutMs) =>
      server.stop({
        // After Ctrl-C a user is waiting.
        ...(delayMs > 0 && io.signal.reason !== 'SIGINT' && { closeAfter: sleep(delayMs) }),
        timeoutMs,
      }),
    );
  },
});
