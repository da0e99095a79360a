import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { connect, loadKubeConfig, shortRetries } from '../../../kubernetes/client/index.ts';
import { createRuleSet } from '../../../policy/index.ts';
import { fileCertificates, fixedCertificate, selfSignedPair, stopInTime } from '../../../server/index.ts';
import { secretCertificates } from '../../../webhook/certs/index.ts';
import { defineCommand } from '../../framework/command.ts';
import { openLog } from '../../framework/log.ts';
import { started } from '../../framework/port-problem.ts';
import { UsageError, untilStopped } from '../../framework/program.ts';
import { orNoCluster, ownNamespace } from '../cluster-flags.ts';
import { ruleSetOptionsOf } from '../policy-flags.ts';
import { answersSeconds, type ServeFlags, serveFlags, shutdownDelayOf } from './flags.ts';
import { keepCaBundles, withBundle } from './repair.ts';
import { startFromFlags } from './webhook.ts';

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
    const { certificates, bundle } = withBundle(await certificatesOf(flags, io.env));
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
    const { impact } = options;
    const surroundings = { certificates, clients, rules, facts, impact, log, lostLogLines: lostLines };
    const server = await started(startFromFlags(flags, { ...surroundings, processMetrics: true }));
    const repairing = repair?.(bundle, log);
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
